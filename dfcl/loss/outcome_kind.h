// SPDX-License-Identifier: Apache-2.0
//
// The kind of an outcome decides the link of a network's output and the prediction loss that goes with it
// (prediction_loss.h). On skewed outcomes it matters more than the choice of the decision loss.
#pragma once

#include <cstdint>

namespace dfcl::loss {

enum class OutcomeKind : std::uint8_t {
  real,          // any number: identity output, squared error (eq. 4)
  non_negative,  // orders, money: exponential output, Poisson deviance (eq. 4b)
  binary,        // 0 or 1: logistic output, cross-entropy
};

}  // namespace dfcl::loss
