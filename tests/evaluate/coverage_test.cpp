// SPDX-License-Identifier: Apache-2.0
//
// The promises of the intervals, kept in 1,000 simulated trials: each holds the truth in 93 to 97 of 100, and models of
// the same quality are told apart no more often than the level allows.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "covered.h"
#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kTrials = 1000;
constexpr double kBudget = 0.35;

struct Covered {
  std::size_t revenue = 0, cost = 0, increment = 0, returned = 0, difference = 0, relative = 0;
  std::size_t told_apart = 0;
  std::size_t shown = 0;  // by the simultaneous interval over both budgets
};

// One trial, evaluated: what its intervals hold.
Covered cover_one(std::size_t trial, const SmallTrialOptions& trial_options, const EvaluationOptions& options) {
  Covered covered;
  const Expected control = true_response(0.5, 0.5, 0);  // linear in the features: the mean is at the middle
  core::RunContext context(1, trial);
  const SmallTrial small = small_trial(1000 + trial, trial_options);
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted a = predict(small.x, small.y, sees_x);
  const Predicted b = predict(small.x, small.y, sees_y);
  const Evaluation evaluation =
      evaluate({.rows = rows,
                .models = {{.name = "a", .prediction = a.outcomes()}, {.name = "b", .prediction = b.outcomes()}},
                .nuisance = a.outcomes(),
                .reference = 0},
               options, context);
  const JudgedPlan& plan = evaluation.models[0].deployed[0];
  const Expected truth = true_value(sees_x, plan.multiplier);
  const Expected other = true_value(sees_y, evaluation.models[1].deployed[0].multiplier);
  const DifferenceFigures& difference = evaluation.differences[0];
  covered.revenue = holds(plan.revenue, truth.revenue);
  covered.cost = holds(plan.cost, truth.cost);
  covered.increment = holds(plan.incremental_revenue, truth.revenue - control.revenue);
  covered.returned = holds(plan.return_per_cost, (truth.revenue - control.revenue) / truth.cost);
  covered.difference = holds(difference.revenue, other.revenue - truth.revenue);
  covered.relative = holds(difference.relative, other.revenue / truth.revenue - 1.0);
  covered.told_apart = difference.p_value < 0.05;
  for (const DifferenceFigures& one : evaluation.differences) {
    if (one.simultaneous_low > 0.0 || one.simultaneous_high < 0.0) covered.shown = 1;
  }
  return covered;
}

Covered cover(const SmallTrialOptions& trial_options, const EvaluationOptions& options) {
  core::RunContext context(2);
  return core::sum_chunks(
      context, kTrials, 1, Covered{},
      [&](std::size_t trial, std::size_t) { return cover_one(trial, trial_options, options); },
      [](Covered& all, const Covered& one) {
        all.revenue += one.revenue;
        all.cost += one.cost;
        all.increment += one.increment;
        all.returned += one.returned;
        all.difference += one.difference;
        all.relative += one.relative;
        all.told_apart += one.told_apart;
        all.shown += one.shown;
      });
}

void expect_nominal(const Covered& covered, const std::string& name) {
  const auto expect = [&](std::size_t count, const char* figure) {
    const double share = static_cast<double>(count) / kTrials;
    EXPECT_GE(share, 0.93) << name << ", " << figure;
    EXPECT_LE(share, 0.97) << name << ", " << figure;
  };
  std::cout << name << ": revenue " << covered.revenue << ", cost " << covered.cost << ", increment "
            << covered.increment << ", return " << covered.returned << ", difference " << covered.difference
            << ", relative " << covered.relative << ", told apart " << covered.told_apart << ", shown " << covered.shown
            << " of " << kTrials << "\n";
  expect(covered.revenue, "revenue");
  expect(covered.cost, "cost");
  expect(covered.increment, "increment");
  expect(covered.returned, "return");
  expect(covered.difference, "difference");
  expect(covered.relative, "relative difference");
  EXPECT_NEAR(static_cast<double>(covered.told_apart) / kTrials, 0.05, 0.02) << name;
  EXPECT_NEAR(static_cast<double>(covered.shown) / kTrials, 0.05, 0.02) << name;
}

EvaluationOptions options_with(Estimator estimator) {
  EvaluationOptions options;
  options.estimator = estimator;
  options.budgets_per_unit = {kBudget, 0.6};
  options.num_resamples = 192;
  options.num_curve_points = 2;
  options.areas = false;
  return options;
}

TEST(Coverage, DoublyRobust) { expect_nominal(cover({}, options_with(Estimator::doubly_robust)), "doubly robust"); }

TEST(Coverage, HajekWithPropensitiesInClusters) {
  expect_nominal(
      cover({.num_units = 600, .units_per_cluster = 3, .propensities = true}, options_with(Estimator::hajek)),
      "hajek, clusters, propensities");
}

TEST(Coverage, DoublyRobustByMultinomialDraws) {
  EvaluationOptions options = options_with(Estimator::doubly_robust);
  options.weights = Weights::multinomial;
  expect_nominal(cover({}, options), "doubly robust, multinomial");
}

TEST(Coverage, Stratified) {
  EvaluationOptions options = options_with(Estimator::stratified);
  options.num_resamples = 96;
  expect_nominal(cover({.num_units = 800}, options), "stratified");
}

TEST(Coverage, AnalyticIntervals) {
  for (const Estimator estimator : {Estimator::doubly_robust, Estimator::horvitz_thompson}) {
    EvaluationOptions options = options_with(estimator);
    options.analytic = true;
    expect_nominal(cover({.num_units = 800}, options), std::string("analytic ") + std::string(to_text(estimator)));
  }
}

}  // namespace
}  // namespace dfcl::evaluate
