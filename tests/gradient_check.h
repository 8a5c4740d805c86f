// SPDX-License-Identifier: Apache-2.0
//
// Every gradient against symmetric differences in float64, through this one helper.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace dfcl {

struct DifferenceOptions {
  double step = 1e-4;
  double tolerance = 1e-6;   // of the size of an entry
  double least_size = 1e-2;  // of an entry, as a share of the largest entry
  double slack = 1e-10;      // what rounding alone may make of a difference
  std::size_t stride = 1;    // looks at every stride-th variable only
  std::string name = "variable";
};

// Steps so short that hardly any crosses the corner of a ReLU, and so rounded more.
inline DifferenceOptions through_corners(double tolerance = 1e-6, std::size_t stride = 1) {
  return {.step = 1e-7, .tolerance = tolerance, .least_size = 1.0, .slack = 1e-7, .stride = stride};
}

// Expects gradient[i] = d value / d variables[i]. Differences of fourth order, so that their error lies far below the
// tolerance.
inline void expect_gradient(std::span<double> variables, std::span<const double> gradient,
                            const std::function<double()>& value, const DifferenceOptions& options = {}) {
  ASSERT_EQ(variables.size(), gradient.size());
  double largest = 0.0;
  for (const double entry : gradient) largest = std::max(largest, std::abs(entry));
  for (std::size_t i = 0; i < variables.size(); i += options.stride) {
    const double kept = variables[i];
    const auto slope = [&](double step) {
      variables[i] = kept + step;
      const double above = value();
      variables[i] = kept - step;
      return (above - value()) / (2.0 * step);
    };
    const double difference = (4.0 * slope(options.step) - slope(2.0 * options.step)) / 3.0;
    variables[i] = kept;
    const double size = std::max(std::abs(gradient[i]), options.least_size * largest);
    EXPECT_NEAR(gradient[i], difference, options.tolerance * size + options.slack) << options.name << " " << i;
  }
}

}  // namespace dfcl
