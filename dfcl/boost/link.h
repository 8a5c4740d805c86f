// SPDX-License-Identifier: Apache-2.0
//
// What boosting needs to know of an outcome's kind: from raw sums of leaf values to predictions, and the first and
// second derivatives of the prediction loss (eq. 4, 4b) by the raw value:
//   real          prediction raw            first w (raw - y)              second w
//   non_negative  prediction exp(raw)       first w (exp(raw) - y)         second w exp(raw)
//   binary        prediction 1/(1+exp(-raw))  first w (p - y)              second w p (1 - p)
// Raw values beyond kMostRaw count as kMostRaw. Vectors where the compiler can; the same numbers on every processor.
#pragma once

#include <cstddef>
#include <span>

#include "dfcl/loss/outcome_kind.h"

namespace dfcl::boost {

inline constexpr float kMostRaw = 60.0f;
// Raw value of an outcome that is always 0, or, negated, always 1: the prediction is that number exactly.
inline constexpr float kNeverRaw = -100.0f;

// All of the same size.
struct Derivatives {
  std::span<float> gradient;
  std::span<float> hessian;
};
void derivatives(loss::OutcomeKind kind, std::span<const float> raw, std::span<const float> observed,
                 std::span<const float> weight, Derivatives to);

// Replaces raw values by predictions.
void apply_link(loss::OutcomeKind kind, std::span<float> values);

// Of a mean outcome.
float raw_of(loss::OutcomeKind kind, double mean);

// The loss of a unit, without what does not depend on the prediction.
double loss_at(loss::OutcomeKind kind, double raw, double observed);

// The step that a leaf takes: its value -G / (H + r), for money through a logarithm, which is the exact best value of a
// leaf whose sum of predictions is H, and no step is ever longer than the data say.
double leaf_step(loss::OutcomeKind kind, double value);

}  // namespace dfcl::boost
