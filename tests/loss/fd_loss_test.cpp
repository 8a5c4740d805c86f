// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/fd_loss.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 83;

TEST(FdLoss, FindsTheGradientOfALinearValueExactly) {
  Sample<double> sample = random_sample<double>(kSeed, 6, 3, 3);
  int calls = 0;
  const FdLoss<double> loss({.step = 0.25}, [&](const Rows<double>& rows) {
    ++calls;
    double sum = 0.0;
    for (std::size_t row = 0; row < rows.num_rows(); ++row) {
      for (std::size_t arm = 0; arm < 3; ++arm) {
        sum +=
            static_cast<double>(row + 1) * rows.revenue(row, arm) - static_cast<double>(arm + 1) * rows.cost(row, arm);
      }
    }
    return sum;
  });
  const Result<double> result = result_of(loss, sample.rows(), 0.5);
  EXPECT_EQ(calls, 1 + 2 * 18);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_NEAR(result.revenue(row, arm), -0.5 * static_cast<double>(row + 1), 1e-12);
      EXPECT_NEAR(result.cost(row, arm), 0.5 * static_cast<double>(arm + 1), 1e-12);
    }
  }
}

// A plan of its own: the units with the largest predicted gain of arm 1 get it, as many as the budget allows.
TEST(FdLoss, SeesAPlanChangeOnlyWhereAStepReordersIt) {
  Sample<double> sample = random_sample<double>(kSeed, 3, 2, 2);
  const double revenue[] = {0.0, 1.0, 0.0, 0.95, 0.0, 0.2};
  std::copy_n(revenue, 6, sample.revenue.data());
  const double worth[] = {3.0, 5.0, 100.0};
  const FdLoss<double> loss({.step = 0.1, .gradient_to_cost = false}, [&](const Rows<double>& rows) {
    std::size_t best = 0;
    for (std::size_t row = 1; row < 3; ++row) {
      if (rows.revenue(row, 1) - rows.revenue(row, 0) > rows.revenue(best, 1) - rows.revenue(best, 0)) best = row;
    }
    return worth[best];
  });
  const Result<double> result = result_of(loss, sample.rows());
  EXPECT_EQ(result.value, -3.0);
  EXPECT_NEAR(result.revenue(0, 0), -(5.0 - 3.0) / 0.1, 1e-9);  // a better control of unit 0 hands the place on
  EXPECT_EQ(result.revenue(0, 1), 0.0);
  EXPECT_NEAR(result.revenue(1, 1), -(5.0 - 3.0) / 0.1, 1e-9);
  EXPECT_EQ(result.revenue(2, 1), 0.0);
  for (const double entry : numbers(result.cost)) EXPECT_EQ(entry, 0.0);
}

TEST(FdLoss, RefusesMoreThanAFewThousandRowsAndAStepOfZero) {
  const Sample<float> sample = random_sample<float>(kSeed, kMostFdRows + 1, 2, 2);
  const PlanValue<float> value = [](const Rows<float>&) { return 0.0; };
  const FdLoss<float> loss({}, value);
  try {
    result_of(loss, sample.rows());
    ADD_FAILURE() << "not refused";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
  }
  EXPECT_THROW(FdLoss<float>({.step = 0.0}, value), core::Error);
}

}  // namespace
}  // namespace dfcl::loss
