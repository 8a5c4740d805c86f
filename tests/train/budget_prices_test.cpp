// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/budget_prices.h"

#include <gtest/gtest.h>

#include "small_trial.h"

namespace dfcl::train {
namespace {

constexpr std::uint64_t kSeed = 77;

struct Predictions {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
};

Predictions random_predictions(std::size_t num_units, double control_cost) {
  Predictions made{core::Matrix<float>(num_units, 4), core::Matrix<float>(num_units, 4)};
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(kSeed, core::stream_purpose("test predictions"), unit);
    double revenue = 1.0;
    double cost = control_cost;
    for (std::size_t arm = 0; arm < 4; ++arm) {
      made.revenue(unit, arm) = static_cast<float>(revenue);
      made.cost(unit, arm) = static_cast<float>(cost);
      revenue += random.exponential();
      cost += random.uniform(0.1, 1.0);
    }
  }
  return made;
}

// Mean cost where every unit takes its best score at this price (eq. 2).
double spend_at(const Predictions& made, double multiplier) {
  double sum = 0.0;
  for (std::size_t unit = 0; unit < made.revenue.rows(); ++unit) {
    std::size_t best = 0;
    const auto score = [&](std::size_t arm) {
      return static_cast<double>(made.revenue(unit, arm)) - multiplier * static_cast<double>(made.cost(unit, arm));
    };
    for (std::size_t arm = 1; arm < made.revenue.cols(); ++arm) {
      if (score(arm) > score(best)) best = arm;
    }
    sum += static_cast<double>(made.cost(unit, best));
  }
  return sum / static_cast<double>(made.revenue.rows());
}

TEST(BudgetPrices, TheMultiplierSpendsTheBudget) {
  SCOPED_TRACE(kSeed);
  const Predictions made = random_predictions(5000, 0.0);
  core::RunContext context(2);
  const std::vector<data::Budget> budgets = {{"a", 0.05}, {"b", 0.3}, {"c", 1.0}};
  const std::vector<double> multipliers =
      budget_multipliers(made.revenue.view(), made.cost.view(), 0, budgets, context);
  ASSERT_EQ(multipliers.size(), 3u);
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    EXPECT_LE(spend_at(made, multipliers[i] * (1.0 + 1e-9)), budgets[i].per_unit);
    EXPECT_GE(spend_at(made, multipliers[i] * (1.0 - 1e-9)), budgets[i].per_unit - 1e-12);
  }
  EXPECT_GT(multipliers[0], multipliers[1]);
  EXPECT_GT(multipliers[1], multipliers[2]);
}

TEST(BudgetPrices, ABudgetThatDoesNotBindHasThePriceZero) {
  const Predictions made = random_predictions(500, 0.0);
  core::RunContext context(1);
  EXPECT_EQ(budget_multipliers(made.revenue.view(), made.cost.view(), 0, {{"all", 100.0}}, context),
            std::vector<double>{0.0});
}

TEST(BudgetPrices, ABudgetThatCannotBeMetIsPricedAtTheLowEndOfWhatCanBeSpent) {
  SCOPED_TRACE(kSeed);
  const Predictions made = random_predictions(500, 0.5);  // nobody costs less than 0.5
  core::RunContext context(1);
  const std::vector<double> multipliers =
      budget_multipliers(made.revenue.view(), made.cost.view(), 0, {{"none", -0.3}, {"all", 100.0}}, context);
  ASSERT_EQ(multipliers.size(), 2u);
  const double most = spend_at(made, 0.0);
  const double low_end = 0.5 + 0.01 * (most - 0.5);
  EXPECT_LE(spend_at(made, multipliers[0] * (1.0 + 1e-9)), low_end + 1e-9);
  EXPECT_GT(spend_at(made, multipliers[0] * (1.0 - 1e-9)), low_end - 1e-9);
  EXPECT_GT(spend_at(made, multipliers[0] * (1.0 - 1e-9)), 0.5);
}

TEST(BudgetPrices, WhatControlCostsIsNoPartOfABudgetUnlessItSaysSo) {
  SCOPED_TRACE(kSeed);
  const Predictions free = random_predictions(2000, 0.0);
  const Predictions costly = random_predictions(2000, 0.5);
  core::RunContext context(1);
  const auto price = [&](const Predictions& made, const data::Budget& budget) {
    return budget_multipliers(made.revenue.view(), made.cost.view(), 0, {budget}, context).front();
  };
  const double expected = price(free, {"a", 0.3});
  EXPECT_NEAR(price(costly, {"a", 0.3}), expected, 1e-4 * expected);
  EXPECT_NEAR(price(costly, {"a", 0.8, data::BudgetBasis::total}), expected, 1e-4 * expected);
}

}  // namespace
}  // namespace dfcl::train
