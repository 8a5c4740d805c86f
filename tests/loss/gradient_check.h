// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a loss with respect to both predictions, by tests/gradient_check.h.
#pragma once

#include <functional>
#include <span>

#include "tests/gradient_check.h"
#include "tests/loss/sample_rows.h"

namespace dfcl::loss {

// value(sample): the function whose gradient is claimed, at the sample's predictions.
inline void expect_gradient(Sample<double>& sample, const Result<double>& claimed,
                            const std::function<double(const Sample<double>&)>& value) {
  const auto check = [&](core::Matrix<double>& at, const core::Matrix<double>& gradient, const char* name) {
    dfcl::expect_gradient(std::span(at.data(), at.view().size()), std::span(gradient.data(), gradient.view().size()),
                          [&] { return value(sample); }, {.name = name});
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
