// SPDX-License-Identifier: Apache-2.0
//
// Sample weights: whole ones are repeated rows, their scale does not matter, and intervals hold what weights do to
// them.
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

float weight_of(std::size_t unit) { return static_cast<float>(1 + unit % 3); }

// Every unit as often as its weight says.
SmallTrial repeated(const SmallTrial& made) {
  SmallTrial all;
  all.trial.arms = made.trial.arms;
  for (std::size_t unit = 0; unit < made.trial.num_units(); ++unit) {
    for (std::size_t copy = 0; copy < unit % 3 + 1; ++copy) {
      all.x.push_back(made.x[unit]);
      all.y.push_back(made.y[unit]);
      all.trial.arm.push_back(made.trial.arm[unit]);
      all.trial.revenue.push_back(made.trial.revenue[unit]);
      all.trial.cost.push_back(made.trial.cost[unit]);
      if (!made.trial.propensity.empty()) all.trial.propensity.push_back(made.trial.propensity[unit]);
      all.trial.split.push_back(made.trial.split[unit]);
    }
  }
  all.trial.ids = data::RowNumbers{1, all.trial.arm.size()};
  return all;
}

Evaluation evaluated(const SmallTrial& made, Estimator estimator, bool analytic, double budget = 100.0) {
  core::RunContext context(2);
  const TrialRows rows = rows_of(made.trial, std::nullopt);
  const Predicted model = predict(made.x, made.y, sees_x);
  const Predicted nuisance = predict(made.x, made.y, sees_y);
  EvaluationInput input{.rows = rows, .models = {{.name = "model", .prediction = model.outcomes()}}};
  input.nuisance = nuisance.outcomes();
  EvaluationOptions options;
  options.estimator = estimator;
  options.budgets_per_unit = {budget};
  options.budget_basis = data::BudgetBasis::incremental;
  options.analytic = analytic;
  options.num_resamples = 800;
  options.num_curve_points = 5;
  return evaluate(input, options, context);
}

class SampleWeights : public testing::TestWithParam<Estimator> {};

// At a budget that no cut divides a unit at: all that is estimated is the same.
TEST_P(SampleWeights, ThatAreWholeAreRepeatedRows) {
  for (const bool propensities : {false, true}) {
    SmallTrial made = small_trial(7, {.num_units = 600, .propensities = propensities});
    const SmallTrial copies = repeated(made);
    for (std::size_t unit = 0; unit < made.trial.num_units(); ++unit) made.trial.weight.push_back(weight_of(unit));
    const Evaluation weighted = evaluated(made, GetParam(), true);
    const Evaluation plain = evaluated(copies, GetParam(), true);
    EXPECT_NEAR(weighted.control_revenue.value, plain.control_revenue.value, 1e-9);
    EXPECT_NEAR(weighted.control_cost.value, plain.control_cost.value, 1e-9);
    const JudgedPlan& a = weighted.models[0].deployed[0];
    const JudgedPlan& b = plain.models[0].deployed[0];
    EXPECT_NEAR(a.revenue.value, b.revenue.value, 1e-9);
    EXPECT_NEAR(a.incremental_cost.value, b.incremental_cost.value, 1e-9);
    EXPECT_NEAR(a.predicted_revenue, b.predicted_revenue, 1e-6);
    EXPECT_NEAR(a.predicted_cost, b.predicted_cost, 1e-6);
    for (std::size_t arm = 0; arm < kSmallArms; ++arm) EXPECT_NEAR(a.share_per_arm[arm], b.share_per_arm[arm], 1e-9);
    EXPECT_NEAR(weighted.models[0].fit->revenue.mse, plain.models[0].fit->revenue.mse, 1e-9);
    for (std::size_t arm = 0; arm + 1 < kSmallArms; ++arm)
      EXPECT_NEAR(weighted.models[0].aucc[arm].area.value, plain.models[0].aucc[arm].area.value, 1e-6);
    // A row counted twice is no second row: its interval is not narrower by it.
    EXPECT_GT(a.incremental_revenue.high - a.incremental_revenue.low,
              1.2 * (b.incremental_revenue.high - b.incremental_revenue.low));
  }
}

// Where a budget binds, a row is given an arm for all units that it stands for: plans differ by one step.
TEST_P(SampleWeights, SpendABudgetByWeight) {
  SmallTrial made = small_trial(7, {.num_units = 600});
  const SmallTrial copies = repeated(made);
  for (std::size_t unit = 0; unit < made.trial.num_units(); ++unit) made.trial.weight.push_back(weight_of(unit));
  const JudgedPlan a = evaluated(made, GetParam(), true, 0.3).models[0].deployed[0];
  const JudgedPlan b = evaluated(copies, GetParam(), true, 0.3).models[0].deployed[0];
  EXPECT_NEAR(a.predicted_cost, b.predicted_cost, 0.01);
  EXPECT_NEAR(a.incremental_revenue.value, b.incremental_revenue.value, 0.03);
  EXPECT_NEAR(a.multiplier, b.multiplier, 0.05);
}

TEST_P(SampleWeights, OnlyTheirProportionsCount) {
  SmallTrial made = small_trial(8, {.num_units = 400});
  for (std::size_t unit = 0; unit < 400; ++unit) made.trial.weight.push_back(weight_of(unit));
  const JudgedPlan once = evaluated(made, GetParam(), true).models[0].deployed[0];
  for (float& weight : made.trial.weight) weight *= 1024.0f;
  const JudgedPlan scaled = evaluated(made, GetParam(), true).models[0].deployed[0];
  EXPECT_EQ(once.incremental_revenue.value, scaled.incremental_revenue.value);
  EXPECT_EQ(once.incremental_revenue.low, scaled.incremental_revenue.low);
}

// Two ways to the same width.
TEST_P(SampleWeights, ResamplesAgreeWithInfluences) {
  SmallTrial made = small_trial(9, {.num_units = 1500});
  for (std::size_t unit = 0; unit < 1500; ++unit)
    made.trial.weight.push_back(static_cast<float>(0.2 + 3.0 * made.x[unit] * made.x[unit]));
  const JudgedPlan by_influence = evaluated(made, GetParam(), true).models[0].deployed[0];
  const JudgedPlan by_resamples = evaluated(made, GetParam(), false).models[0].deployed[0];
  EXPECT_EQ(by_influence.incremental_revenue.value, by_resamples.incremental_revenue.value);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  EXPECT_NEAR(width(by_resamples.incremental_revenue) / width(by_influence.incremental_revenue), 1.0, 0.1) << "seed 9";
}

INSTANTIATE_TEST_SUITE_P(Estimators, SampleWeights,
                         testing::Values(Estimator::horvitz_thompson, Estimator::hajek, Estimator::stratified,
                                         Estimator::doubly_robust));

// Refunds rise by 0.2 in arm 2 and by nothing elsewhere; complaints fall by 0.3 in every arm but control.
TEST(Guardrails, AreFoundHarmedOrNot) {
  SmallTrial made = small_trial(10, {.num_units = 4000});
  data::Guardrail refunds{"refunds", {}}, complaints{"complaints", {}}, noise{"noise", {}};
  for (std::size_t unit = 0; unit < 4000; ++unit) {
    core::RandomStream random(10, core::stream_purpose("guardrails"), unit);
    const double base = 1.0 + 0.5 * made.x[unit];
    refunds.value.push_back(static_cast<float>(base + (made.trial.arm[unit] == 2 ? 0.2 : 0.0) + 0.3 * random.normal()));
    complaints.value.push_back(
        static_cast<float>(base - (made.trial.arm[unit] != 0 ? 0.3 : 0.0) + 0.3 * random.normal()));
    noise.value.push_back(static_cast<float>(base + 0.3 * random.normal()));
  }
  made.trial.guardrails = {refunds, complaints, noise};
  for (const Estimator estimator :
       {Estimator::horvitz_thompson, Estimator::hajek, Estimator::stratified, Estimator::doubly_robust}) {
    const Evaluation evaluation = evaluated(made, estimator, estimator == Estimator::hajek);
    const JudgedPlan& plan = evaluation.models[0].deployed[0];
    ASSERT_EQ(plan.guardrails.size(), 3u);
    const double to_two = plan.share_per_arm[2];
    EXPECT_EQ(plan.guardrails[0].name, "refunds");
    // Within five standard errors of the truth.
    for (const auto& [index, truth] :
         {std::pair{0, 0.2 * to_two}, std::pair{1, -0.3 * (1.0 - plan.share_per_arm[0])}, std::pair{2, 0.0}}) {
      const Interval& found = plan.guardrails[static_cast<std::size_t>(index)].increment;
      EXPECT_NEAR(found.value, truth, 2.6 * 0.5 * (found.high - found.low)) << "seed 10, " << index;
    }
    if (estimator == Estimator::horvitz_thompson) continue;  // too wide to show anything
    EXPECT_EQ(plan.guardrails[0].harmed, "yes");
    EXPECT_EQ(plan.guardrails[1].harmed, "no");
    EXPECT_EQ(plan.guardrails[2].harmed, "not_shown");
    EXPECT_EQ(evaluation.verdict.status, "harms");
    EXPECT_NE(evaluation.verdict.sentence.find("refunds: +"), std::string::npos) << evaluation.verdict.sentence;
    EXPECT_NE(evaluation.verdict.sentence.find(": harmed"), std::string::npos);
    EXPECT_NE(evaluation.verdict.sentence.find("noise: "), std::string::npos);
  }
}

}  // namespace
}  // namespace dfcl::evaluate
