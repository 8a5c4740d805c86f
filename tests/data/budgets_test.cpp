// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/budgets.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"

namespace dfcl::data {
namespace {

// Two units in control, the first two, and two in the other arm.
Trial trial_of_costs(std::initializer_list<float> costs) {
  Trial trial;
  trial.arms.labels = {"0", "1"};
  trial.arm = {0, 0, 1, 1};
  trial.cost = costs;
  return trial;
}

const Trial kCostly = trial_of_costs({1.0f, 0.0f, 2.0f, 4.0f});  // means 0.5 and 3
const Trial kFree = trial_of_costs({0.0f, 0.0f, 2.0f, 4.0f});    // means 0 and 3

Study study_of(std::vector<double> per_unit, std::vector<double> total, std::vector<double> share_of_max) {
  Study study;
  study.budgets = {std::move(per_unit), std::move(total), std::move(share_of_max), false};
  return study;
}

TEST(Budgets, AreWhatIsSpentAboveControl) {
  const std::vector<Budget> budgets = resolve_budgets(study_of({0.25}, {10.0}, {0.5}), kCostly);
  ASSERT_EQ(budgets.size(), 3u);
  EXPECT_EQ(budgets[0].label, "per_unit 0.25");
  EXPECT_DOUBLE_EQ(budgets[0].per_unit, 0.25);
  EXPECT_EQ(budgets[1].label, "total 10");
  EXPECT_DOUBLE_EQ(budgets[1].per_unit, 2.5);
  EXPECT_EQ(budgets[2].label, "share_of_max 0.5");
  EXPECT_DOUBLE_EQ(budgets[2].per_unit, 0.5 * (3.0 - 0.5));
  for (const Budget& budget : budgets) {
    EXPECT_EQ(budget.basis, BudgetBasis::incremental);
    EXPECT_DOUBLE_EQ(budget.total_per_unit(0.5), budget.per_unit + 0.5);
    EXPECT_DOUBLE_EQ(budget.above_control(0.5), budget.per_unit);
  }
}

TEST(Budgets, CanIncludeWhatControlCostsAndAShareIsTheSamePlanInEitherBasis) {
  Study study = study_of({0.75}, {}, {0.5});
  study.budgets.include_control = true;
  const std::vector<Budget> budgets = resolve_budgets(study, kCostly);
  ASSERT_EQ(budgets.size(), 2u);
  EXPECT_EQ(budgets[0].basis, BudgetBasis::total);
  EXPECT_DOUBLE_EQ(budgets[0].total_per_unit(0.5), 0.75);
  EXPECT_DOUBLE_EQ(budgets[0].above_control(0.5), 0.25);
  EXPECT_DOUBLE_EQ(budgets[1].above_control(0.5), 0.5 * (3.0 - 0.5));
}

TEST(Budgets, AStudyWithoutAnyGetsSharesOfTheWayFromControlToTheCostliestArm) {
  Study study;
  std::vector<Budget> budgets = resolve_budgets(study, kCostly);
  ASSERT_EQ(budgets.size(), 6u);
  EXPECT_DOUBLE_EQ(budgets.front().per_unit, 0.05 * 2.5);
  EXPECT_DOUBLE_EQ(budgets.back().per_unit, 0.6 * 2.5);
  study.budgets.include_control = true;
  budgets = resolve_budgets(study, kCostly);
  EXPECT_DOUBLE_EQ(budgets.front().per_unit, 0.5 + 0.05 * 2.5);
}

TEST(Budgets, WhereControlIsTheCostliestTheyStartAtTheCheapestArm) {
  const std::vector<Budget> budgets = resolve_budgets(Study(), trial_of_costs({5.0f, 3.0f, 2.0f, 0.0f}));
  EXPECT_DOUBLE_EQ(budgets.front().total_per_unit(4.0), 1.0 + 0.05 * 3.0);
  EXPECT_DOUBLE_EQ(budgets.back().total_per_unit(4.0), 1.0 + 0.6 * 3.0);
  EXPECT_LT(budgets.front().per_unit, 0.0) << "they save";
}

TEST(Budgets, AFileOfVersion01WhoseControlCostsIsRefusedWithBothWaysToMendIt) {
  Study study = study_of({0.75}, {}, {0.5});
  study.format = 1;
  try {
    (void)resolve_budgets(study, kCostly);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
    const std::string hint = error.details().hint;
    EXPECT_NE(hint.find("format = 2"), std::string::npos) << hint;
    EXPECT_NE(hint.find("include_control = true"), std::string::npos) << hint;
    EXPECT_NE(hint.find("per_unit = [0.25]"), std::string::npos) << hint;
    EXPECT_NE(hint.find("share_of_max = [0.4]"), std::string::npos) << hint;  // (0.5 x 3 - 0.5) / 2.5
  }
  study.budgets.include_control = true;
  EXPECT_DOUBLE_EQ(resolve_budgets(study, kCostly).front().total_per_unit(0.5), 0.75);
}

TEST(Budgets, AFileOfVersion01WithAFreeControlIsAsBefore) {
  Study study = study_of({0.75}, {8.0}, {0.5});
  study.format = 1;
  const std::vector<Budget> budgets = resolve_budgets(study, kFree);
  for (const Budget& budget : budgets) EXPECT_EQ(budget.basis, BudgetBasis::total);
  EXPECT_DOUBLE_EQ(budgets[0].total_per_unit(0.0), 0.75);
  EXPECT_DOUBLE_EQ(budgets[1].total_per_unit(0.0), 2.0);
  EXPECT_DOUBLE_EQ(budgets[2].total_per_unit(0.0), 1.5);
}

TEST(PlanBudgets, AreWhatTheSolverTakes) {
  const UnitSpends spends{1000, 500.0, 3000.0};
  const auto totals = [&](const BudgetAmounts& amounts) {
    std::vector<double> list;
    for (const PlanBudget& budget : plan_budgets(amounts, spends)) list.push_back(budget.total);
    return list;
  };
  EXPECT_EQ(totals({{0.1}, {0.1}, {0.5}, BudgetBasis::incremental}), (std::vector<double>{600.0, 500.1, 1750.0}));
  EXPECT_EQ(totals({{0.7}, {700.0}, {0.5}, BudgetBasis::total}), (std::vector<double>{700.0, 700.0, 1750.0}));
  EXPECT_EQ(plan_budgets({{}, {0.1}, {}, BudgetBasis::incremental}, spends).front().asked, 0.1);
}

TEST(ArmCosts, KnownPricesAreExact) {
  Trial trial = trial_of_costs({0.0f, 0.0f, 0.15f, 0.15f});
  trial.cost_facts = {CostKind::price, {0.0, 0.15}};
  EXPECT_EQ(arm_costs(trial).mean, (std::vector<double>{0.0, 0.15}));
  trial.cost = {0.0f, 0.0f, 0.0f, 0.15f};
  trial.cost_facts.kind = CostKind::price_if;
  EXPECT_EQ(arm_costs(trial).mean, (std::vector<double>{0.0, 0.075}));
  trial.revenue = {5.0f, 1.0f, 2.0f, 4.0f};
  trial.cost_facts.kind = CostKind::rate;
  EXPECT_DOUBLE_EQ(arm_costs(trial).mean[1], 0.45);
}

TEST(CostFacts, ControlIsFreeWhereItHasNoPriceAndEveryOtherArmNeedsOne) {
  const Arms arms{{"a", "none", "b"}, 1, false};
  Study study;
  EXPECT_FALSE(resolve_cost_facts(study, arms).is_known());
  study.arms.cost = {{"a", 0.15}, {"b", 2.0}};
  EXPECT_EQ(resolve_cost_facts(study, arms), (CostFacts{CostKind::price, {0.15, 0.0, 2.0}}));
  study.columns.cost_if = "redeemed";
  EXPECT_EQ(resolve_cost_facts(study, arms).kind, CostKind::price_if);
  study.arms.cost = {{"a", 0.15}};
  EXPECT_THROW((void)resolve_cost_facts(study, arms), core::Error);
  study.arms.cost = {{"a", 0.15}, {"b", 2.0}, {"c", 3.0}};
  EXPECT_THROW((void)resolve_cost_facts(study, arms), core::Error);
  study = {};
  study.arms.cost_per_revenue = {{"a", 0.1}, {"b", 0.2}, {"none", 0.01}};
  EXPECT_EQ(resolve_cost_facts(study, arms), (CostFacts{CostKind::rate, {0.1, 0.01, 0.2}}));
}

}  // namespace
}  // namespace dfcl::data
