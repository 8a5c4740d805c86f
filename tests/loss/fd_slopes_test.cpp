// SPDX-License-Identifier: Apache-2.0
#include "../../bench/fd_slopes.h"

#include <gtest/gtest.h>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/random.h"

namespace dfcl::bench {
namespace {

constexpr std::size_t kRows = 40;
constexpr std::size_t kArms = 3;
constexpr std::uint64_t kSeed = 77;

// Predictions and outcomes of a batch, drawn at random; the first arm is free.
struct Batch {
  Batch() : revenue(kRows, kArms), cost(kRows, kArms) {
    core::RandomStream random(kSeed, core::stream_purpose("fd slopes"), 0);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t j = 0; j < kArms; ++j) {
        revenue(row, j) = static_cast<float>(random.uniform(0.0, 2.0));
        cost(row, j) = j == 0 ? 0.0f : static_cast<float>(random.uniform(0.1, 1.0));
      }
      arm.push_back(static_cast<std::uint8_t>(random.below(kArms)));
      seen_revenue.push_back(static_cast<float>(random.uniform(0.0, 2.0)));
      seen_cost.push_back(static_cast<float>(random.uniform()));
      weight.push_back(static_cast<float>(random.uniform(2.0, 4.0)));
    }
  }
  loss::Rows<float> rows() const {
    return {.revenue = revenue.view(),
            .cost = cost.view(),
            .arm = arm,
            .observed_revenue = seen_revenue,
            .observed_cost = seen_cost,
            .weight = weight};
  }
  double estimate(std::size_t row, std::size_t j) const {
    return arm[row] == j ? static_cast<double>(weight[row]) * static_cast<double>(seen_revenue[row]) : 0.0;
  }

  core::Matrix<float> revenue, cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> seen_revenue, seen_cost, weight;
};

// With money for everything each unit takes what earns most, whatever the others do.
TEST(FdSlopes, WithoutABindingBudgetEveryUnitIsAloneWithItsBestArm) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Batch batch;
  core::RunContext context(2);
  const double step = 0.7;
  const FdSlopes slopes =
      fd_slopes(batch.rows(), {1e6}, loss::Baseline::none, {.step = step, .gradient_to_cost = true}, context);
  std::size_t flips = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    std::vector<double> score, reward;
    for (std::size_t j = 0; j < kArms; ++j) {
      score.push_back(static_cast<double>(batch.revenue(row, j)));
      reward.push_back(batch.estimate(row, j));
    }
    for (std::size_t j = 0; j < kArms; ++j) {
      const double expected = -loss::fd_score_slope(score, reward, j, step);
      EXPECT_NEAR(static_cast<double>(slopes.revenue(row, j)), expected, 1e-4) << "row " << row << ", arm " << j;
      EXPECT_EQ(slopes.cost(row, j), 0.0f);  // nothing is saved where nothing is scarce
      flips += expected != 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(flips, kRows / 4);
}

TEST(FdSlopes, UnderABudgetTheyAreDifferencesOfWholePlans) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Batch batch;
  core::RunContext context(2);
  const std::vector<double> budgets = {0.1, 0.3};
  const double step = 0.3;
  const auto worth = [&] {
    double sum = 0.0;
    for (const double budget : budgets) {
      const allocate::Problem problem{.revenue = batch.revenue.view(), .cost = batch.cost.view()};
      const auto plan = allocate::allocate(problem, budget * kRows, context).arm;
      for (std::size_t row = 0; row < kRows; ++row) sum += batch.estimate(row, plan[row]) / 2.0;
    }
    return sum;
  };
  const FdSlopes slopes =
      fd_slopes(batch.rows(), budgets, loss::Baseline::none, {.step = step, .gradient_to_cost = true}, context);
  const double base = worth();
  EXPECT_NEAR(slopes.loss, -base / kRows, 1e-12);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (auto* side : {&batch.revenue, &batch.cost}) {
      for (std::size_t j = 0; j < kArms; ++j) {
        const float kept = (*side)(row, j);
        (*side)(row, j) = kept + static_cast<float>(step);
        const double expected = -(worth() - base) / step;
        (*side)(row, j) = kept;
        const float found = side == &batch.revenue ? slopes.revenue(row, j) : slopes.cost(row, j);
        EXPECT_NEAR(static_cast<double>(found), expected, 1e-4) << "row " << row << ", arm " << j;
      }
    }
  }
}

TEST(FdSlopes, LeaveCostAloneWhereTheGradientIsForRevenueOnly) {
  Batch batch;
  core::RunContext context(1);
  const FdSlopes slopes =
      fd_slopes(batch.rows(), {0.1}, loss::Baseline::mean, {.step = 0.3, .gradient_to_cost = false}, context);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t j = 0; j < kArms; ++j) EXPECT_EQ(slopes.cost(row, j), 0.0f);
  }
}

}  // namespace
}  // namespace dfcl::bench
