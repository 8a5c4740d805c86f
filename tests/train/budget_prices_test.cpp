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
  const std::vector<UnitBudget> budgets = {{"a", 0.05}, {"b", 0.3}, {"c", 1.0}};
  const std::vector<double> multipliers = budget_multipliers(made.revenue.view(), made.cost.view(), budgets, context);
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
  EXPECT_EQ(budget_multipliers(made.revenue.view(), made.cost.view(), {{"all", 100.0}}, context),
            std::vector<double>{0.0});
}

TEST(BudgetPrices, ABudgetThatCannotBeMetIsPricedAtTheLowEndOfWhatCanBeSpent) {
  SCOPED_TRACE(kSeed);
  const Predictions made = random_predictions(500, 0.5);  // nobody costs less than 0.5
  core::RunContext context(1);
  const std::vector<double> multipliers =
      budget_multipliers(made.revenue.view(), made.cost.view(), {{"none", 0.2}, {"all", 100.0}}, context);
  ASSERT_EQ(multipliers.size(), 2u);
  const double most = spend_at(made, 0.0);
  const double low_end = 0.5 + 0.01 * (most - 0.5);
  EXPECT_LE(spend_at(made, multipliers[0] * (1.0 + 1e-9)), low_end + 1e-9);
  EXPECT_GT(spend_at(made, multipliers[0] * (1.0 - 1e-9)), low_end - 1e-9);
  EXPECT_GT(spend_at(made, multipliers[0] * (1.0 - 1e-9)), 0.5);
}

// Two units in control, the first two, and two in the other arm.
data::Trial trial_of_costs(std::initializer_list<float> costs) {
  data::Trial trial;
  trial.arms.labels = {"0", "1"};
  trial.arm = {0, 0, 1, 1};
  trial.cost = costs;
  return trial;
}

TEST(BudgetPrices, BudgetsOfTheStudyAreMadeComparable) {
  const data::Trial trial = trial_of_costs({1.0f, 0.0f, 2.0f, 4.0f});  // means 0.5 and 3
  data::Study study;
  study.budgets.per_unit = {0.25};
  study.budgets.total = {10.0};
  study.budgets.share_of_max = {0.5};
  const std::vector<UnitBudget> budgets = unit_budgets(study, trial);
  ASSERT_EQ(budgets.size(), 3u);
  EXPECT_EQ(budgets[0].label, "per_unit 0.25");
  EXPECT_DOUBLE_EQ(budgets[0].per_unit, 0.25);
  EXPECT_EQ(budgets[1].label, "total 10");
  EXPECT_DOUBLE_EQ(budgets[1].per_unit, 2.5);
  EXPECT_EQ(budgets[2].label, "share_of_max 0.5");
  EXPECT_DOUBLE_EQ(budgets[2].per_unit, 1.5);
}

TEST(BudgetPrices, AStudyWithoutBudgetsGetsSharesBeyondControlsCost) {
  const std::vector<UnitBudget> budgets = unit_budgets({}, trial_of_costs({1.0f, 0.0f, 2.0f, 4.0f}));
  ASSERT_EQ(budgets.size(), 6u);
  EXPECT_DOUBLE_EQ(budgets.front().per_unit, 0.5 + 0.05 * 2.5);
  EXPECT_DOUBLE_EQ(budgets.back().per_unit, 0.5 + 0.6 * 2.5);
}

TEST(BudgetPrices, WhereControlIsTheCostliestBudgetsStartAtTheCheapestArm) {
  const std::vector<UnitBudget> budgets = unit_budgets({}, trial_of_costs({5.0f, 3.0f, 2.0f, 0.0f}));
  EXPECT_DOUBLE_EQ(budgets.front().per_unit, 1.0 + 0.05 * 3.0);
  EXPECT_DOUBLE_EQ(budgets.back().per_unit, 1.0 + 0.6 * 3.0);
}

}  // namespace
}  // namespace dfcl::train
