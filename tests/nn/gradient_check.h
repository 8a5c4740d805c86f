// SPDX-License-Identifier: Apache-2.0
//
// Gradients against symmetric differences, in float64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

namespace dfcl::nn {

// Expects gradient[i] = d value / d variables[i] within `tolerance` of its size (at least 1). `stride` > 1 looks at
// every stride-th variable only.
inline void expect_gradient(std::span<double> variables, std::span<const double> gradient,
                            const std::function<double()>& value, double tolerance = 1e-6, std::size_t stride = 1) {
  constexpr double kStep = 1e-7;  // short, so that hardly any step crosses the corner of a ReLU
  ASSERT_EQ(variables.size(), gradient.size());
  for (std::size_t i = 0; i < variables.size(); i += stride) {
    const double kept = variables[i];
    variables[i] = kept + kStep;
    const double above = value();
    variables[i] = kept - kStep;
    const double below = value();
    variables[i] = kept;
    const double difference = (above - below) / (2.0 * kStep);
    EXPECT_NEAR(gradient[i], difference, tolerance * std::max(1.0, std::abs(difference))) << "variable " << i;
  }
}

}  // namespace dfcl::nn
