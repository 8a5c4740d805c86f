// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/plans_by_spend.h"

#include <gtest/gtest.h>

#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

struct Made {
  SmallTrial small;
  TrialRows rows;
  Predicted predicted;
};

Made make(std::uint64_t seed, const SmallTrialOptions& options = {}) {
  Made made{small_trial(seed, options), {}, {}};
  made.rows = rows_of(made.small.trial, std::nullopt);
  made.predicted = predict(made.small.x, made.small.y, sees_x);
  return made;
}

// The figures are those of an evaluation at the same budgets, whatever the trial.
TEST(PlansBySpend, AreTheDeployedPlansOfAnEvaluation) {
  for (const SmallTrialOptions& options :
       {SmallTrialOptions{}, SmallTrialOptions{.units_per_cluster = 3}, SmallTrialOptions{.propensities = true}}) {
    const Made made = make(3, options);
    for (const bool doubly_robust : {true, false}) {
      const JudgedModel model{.name = "a", .prediction = made.predicted.outcomes()};
      const Outcomes nuisance = doubly_robust ? made.predicted.outcomes() : Outcomes{};
      core::RunContext context(2, 3);
      const auto plans = plans_by_spend(made.rows, model, nuisance, {.control_is_free = true}, 9, context);
      ASSERT_EQ(plans.size(), 9u);
      EXPECT_EQ(plans.front().spend, 0.0);
      EvaluationOptions same;
      same.estimator = doubly_robust ? Estimator::doubly_robust : Estimator::hajek;
      same.budget_basis = data::BudgetBasis::incremental;
      same.analytic = true;
      same.areas = false;
      same.cost_limits = {.control_is_free = true};
      // A little more than the plan spends, so that rounding takes nothing from it.
      for (const data::EvaluatedPlan& plan : plans) same.budgets_per_unit.push_back(plan.spend + 1e-9);
      const Evaluation evaluation =
          evaluate({.rows = made.rows, .models = {model}, .nuisance = nuisance}, same, context);
      for (std::size_t i = 0; i < plans.size(); ++i) {
        const JudgedPlan& judged = evaluation.models.front().deployed[i];
        const double z = core::normal_critical(0.95);
        EXPECT_NEAR(plans[i].revenue, judged.incremental_revenue.value, 1e-9) << i;
        EXPECT_NEAR(plans[i].revenue_error * z, judged.incremental_revenue.high - judged.incremental_revenue.value,
                    1e-9)
            << i;
        EXPECT_NEAR(plans[i].cost, judged.incremental_cost.value, 1e-9) << i;
        EXPECT_NEAR(plans[i].cost_error * z, judged.incremental_cost.high - judged.incremental_cost.value, 1e-9) << i;
      }
    }
  }
}

TEST(PlansBySpend, RiseFromNothingAndAreDenseWhereSpendIsSmall) {
  const Made made = make(4);
  core::RunContext context(1);
  const JudgedModel model{.name = "a", .prediction = made.predicted.outcomes()};
  const auto plans = plans_by_spend(made.rows, model, made.predicted.outcomes(), {}, 20, context);
  ASSERT_GT(plans.size(), 15u);
  for (std::size_t i = 1; i < plans.size(); ++i) {
    EXPECT_GT(plans[i].spend, plans[i - 1].spend);
    EXPECT_GE(plans[i].predicted, plans[i - 1].predicted) << "a path never promises less for more";
  }
  EXPECT_LT(plans[plans.size() / 2].spend, 0.4 * plans.back().spend);
  EXPECT_EQ(plans.front().revenue, 0.0);
  EXPECT_EQ(plans.front().revenue_error, 0.0);
}

}  // namespace
}  // namespace dfcl::evaluate
