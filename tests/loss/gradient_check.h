// SPDX-License-Identifier: Apache-2.0
//
// Every gradient of this room against symmetric differences in double, through this one helper.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/loss/sample_rows.h"

namespace dfcl::loss {

inline constexpr double kGradientTolerance = 1e-6;  // relative

// value(sample): the function whose gradient is claimed, at the sample's predictions. Fourth-order symmetric
// differences, so that the error of the differences lies far below the tolerance.
inline void expect_gradient(Sample<double>& sample, const Result<double>& claimed,
                            const std::function<double(const Sample<double>&)>& value) {
  const auto check = [&](core::Matrix<double>& at, const core::Matrix<double>& gradient, const char* name) {
    double largest = 0.0;
    for (const double entry : numbers(gradient)) largest = std::max(largest, std::abs(entry));
    for (std::size_t i = 0; i < at.view().size(); ++i) {
      const double kept = at.data()[i];
      const double step = 1e-4;
      const auto at_step = [&](double moved) {
        at.data()[i] = kept + moved;
        return value(sample);
      };
      const double near = (at_step(step) - at_step(-step)) / (2.0 * step);
      const double far = (at_step(2.0 * step) - at_step(-2.0 * step)) / (4.0 * step);
      at.data()[i] = kept;
      const double difference = (4.0 * near - far) / 3.0;
      const double size = std::max(std::abs(gradient.data()[i]), 1e-2 * largest);
      EXPECT_NEAR(gradient.data()[i], difference, kGradientTolerance * size + 1e-10)
          << name << " entry " << i << " of " << at.rows() << " x " << at.cols();
    }
  };
  check(sample.revenue, claimed.revenue, "revenue");
  check(sample.cost, claimed.cost, "cost");
}

// A loss whose returned value has the gradient it returns.
inline void expect_own_gradient(const Loss<double>& loss, Sample<double>& sample) {
  const Result<double> claimed = result_of(loss, sample.rows());
  expect_gradient(sample, claimed, [&](const Sample<double>& at) { return result_of(loss, at.rows()).value; });
}

}  // namespace dfcl::loss
