// SPDX-License-Identifier: Apache-2.0
//
// What is known about outcomes over the arms, put upon the predictions of a unit: order by isotonic correction (the
// nearest rising sequence by weighted squares, pooling neighbours), bounds, and a control that costs nothing.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "dfcl/learn/outcome_facts.h"

namespace dfcl::forest {

struct ArmRules {
  bool rises = false;  // with the arm, in the order of the arms
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool control_is_free = false;  // exactly 0
};

// What is known about an outcome, as rules.
ArmRules arm_rules(const learn::OutcomeFacts& facts);

// weights: what each arm's value rests on, above 0.
void apply_rules(const ArmRules& rules, std::size_t control, std::span<const double> weights, std::span<double> values);

}  // namespace dfcl::forest
