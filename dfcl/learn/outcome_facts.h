// SPDX-License-Identifier: Apache-2.0
//
// What is known about an outcome, revenue or cost, over the arms before anything is learned, and the scale on which it
// is learned. Networks build their heads from it, trees the rules for their predictions; one struct for all learners.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/loss/outcome_kind.h"

namespace dfcl::learn {

enum class ArmShape : std::uint8_t {
  plain,     // the arms are free of each other
  monotone,  // predictions rise with the arm
  concave,   // and rise by ever less
};

struct OutcomeFacts {
  std::size_t num_arms = 2;  // or, for losses of efficiencies, the number of scores
  loss::OutcomeKind kind = loss::OutcomeKind::real;
  ArmShape arm_shape = ArmShape::plain;
  bool non_negative = false;     // of a real outcome
  bool control_is_free = false;  // the prediction of control is exactly 0
  std::size_t control = 0;       // must be 0 where it is free and predictions rise with the arm
  bool arms_apart = false;       // of a log link and a plain shape: a logarithm for each arm, no base that they share

  bool operator==(const OutcomeFacts&) const = default;
};

// The way from scaled predictions back to the study's currency: center + scale x prediction (section 4 of
// docs/method.md).
struct OutcomeScale {
  double center = 0.0;
  double scale = 1.0;
  bool operator==(const OutcomeScale&) const = default;
};

// Of both outcomes.
struct Facts {
  OutcomeFacts revenue;
  OutcomeFacts cost;
  bool operator==(const Facts&) const = default;
};
struct Scales {
  OutcomeScale revenue;
  OutcomeScale cost;
  // A scaled multiplier is this times the unscaled one.
  double multiplier_factor() const { return cost.scale / revenue.scale; }
  bool operator==(const Scales&) const = default;
};

}  // namespace dfcl::learn
