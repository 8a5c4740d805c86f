// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/mean_over_seeds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/interval.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::compare {
namespace {

using core::Interval;

// One model at one budget: profit and what it adds over random, with one deviation over units; no ends: without.
evaluate::Evaluation of_seed(double profit, double over_random, double deviation) {
  evaluate::Evaluation evaluation;
  evaluation.budgets_per_unit = {1.0};
  evaluation.num_units = 100;
  evaluation.value_per_revenue = 1.0;
  const auto interval = [&](double value) {
    return deviation > 0.0 ? core::normal_interval(value, deviation, 0.95) : Interval(value);
  };
  const auto at_once = [&](double value) {
    return deviation > 0.0 ? Interval(value, value - 3.0 * deviation, value + 3.0 * deviation) : Interval(value);
  };
  evaluate::ModelFigures model;
  model.name = "tsm";
  evaluate::JudgedPlan plan;
  plan.incremental_revenue = plan.revenue = interval(profit + 1.0);
  plan.simultaneous_increment = at_once(profit + 1.0);
  plan.incremental_cost = plan.cost = Interval(1.0);
  plan.incremental_profit = plan.roi = interval(profit);
  plan.simultaneous_profit = at_once(profit);
  plan.pays_back = evaluate::pays_back_of(plan);
  model.deployed = {plan};
  evaluation.models = {model};
  evaluate::BaselineDifferenceFigures over;
  over.model = "tsm";
  over.baseline = "random";
  over.budget_per_unit = 1.0;
  over.net = over.revenue = interval(over_random);
  over.cost = Interval(0.0);
  over.profit = interval(over_random);
  over.simultaneous_low = at_once(over_random).low;
  over.simultaneous_high = at_once(over_random).high;
  over.answer = evaluate::answer_of(over.simultaneous_low, over.simultaneous_high);
  evaluation.baseline_differences = {over};
  evaluation.baselines.push_back({"random", {"arm 'a' for a random 10 % of the units"}, {evaluate::JudgedPlan()}, {}});
  return evaluation;
}

TEST(MeanOverSeeds, HoldsBothSourcesOfVariance) {
  const evaluate::Evaluation first = of_seed(4.0, 4.0, 0.5);
  const std::vector<evaluate::Evaluation> others = {of_seed(2.0, 1.0, 0.0), of_seed(3.0, 1.0, 0.0)};
  const evaluate::Evaluation mean = mean_over_seeds(first, others, {});
  const evaluate::JudgedPlan& plan = mean.models[0].deployed[0];
  EXPECT_DOUBLE_EQ(plan.incremental_profit->value, 3.0);
  // Over units 0.5; over three seeds a deviation of 1, 4.303 x 1 / sqrt 3 by Student's t with two degrees.
  const double reach = std::hypot(1.959964 * 0.5, 4.302653 / std::sqrt(3.0));
  EXPECT_NEAR(plan.incremental_profit->high, 3.0 + reach, 1e-5);
  EXPECT_NEAR(plan.simultaneous_profit->high, 3.0 + reach * 3.0 / 1.959964, 1e-5) << "wider by the same factor";
  EXPECT_EQ(first.models[0].deployed[0].pays_back, "yes");
  EXPECT_EQ(plan.pays_back, "not_shown") << "the luck of training counts";
}

TEST(MeanOverSeeds, TheVerdictIsNotThatOfTheFirstSeed) {
  const evaluate::Evaluation first = of_seed(9.0, 9.0, 0.1);
  EXPECT_EQ(evaluate::verdict_of(first, {}).status, "launch");
  const std::vector<evaluate::Evaluation> others = {of_seed(9.0, -9.0, 0.0), of_seed(9.0, 0.0, 0.0)};
  const evaluate::Verdict verdict = evaluate::verdict_of(mean_over_seeds(first, others, {}), {{}, "", 3});
  EXPECT_EQ(verdict.status, "pays_back") << "random's own plan is not shown to pay back here";
  EXPECT_EQ(verdict.beats_random, "not_shown");
  EXPECT_TRUE(verdict.sentence.ends_with("Means over 3 training seeds; intervals hold their spread."))
      << verdict.sentence;
}

TEST(MeanOverSeeds, AFirstSeedThatDoesNotVaryHidesNoVariance) {
  // The first seed's plan is control for everyone: its figures are exactly 0 in every resample.
  const evaluate::Evaluation first = of_seed(0.0, 0.0, 1e-300);
  const std::vector<evaluate::Evaluation> others = {of_seed(0.0, 0.0, 2.0), of_seed(0.0, 0.0, 1.0)};
  const evaluate::Evaluation mean = mean_over_seeds(first, others, {});
  const evaluate::JudgedPlan& plan = mean.models[0].deployed[0];
  EXPECT_NEAR(plan.incremental_profit->high, 1.959964 * 2.0, 1e-5);
  EXPECT_NEAR(plan.simultaneous_profit->high, 3.0 * 2.0, 1e-5) << "and it still holds at once with the others";
}

TEST(MeanOverSeeds, ASeedWithoutTheModelDoesNotCount) {
  const evaluate::Evaluation first = of_seed(4.0, 4.0, 0.5);
  const std::vector<evaluate::Evaluation> others = {evaluate::Evaluation()};
  const evaluate::Evaluation mean = mean_over_seeds(first, others, {});
  EXPECT_DOUBLE_EQ(mean.models[0].deployed[0].incremental_profit->high,
                   first.models[0].deployed[0].incremental_profit->high);
  EXPECT_NEAR(mean.baseline_differences[0].simultaneous_low, first.baseline_differences[0].simultaneous_low, 1e-12);
}

}  // namespace
}  // namespace dfcl::compare
