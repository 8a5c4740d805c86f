// SPDX-License-Identifier: Apache-2.0
//
// What is said of money keeps its promises in simulated trials: intervals of profit, ROI and of targeting over random
// hold the truth, alone and all at once; a useless model is hardly ever said to beat random, a losing plan to pay back.
// 300 trials a configuration and loose bounds; DFCL_COVERAGE_TRIALS=2000 (experiments/coverage.py) narrows both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "covered.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

std::size_t num_trials() { return num_coverage_trials(300); }

// Means of the arms are at the middle of the features: both outcomes are linear in each of them.
Expected mean_response(std::size_t arm) { return true_response(0.5, 0.5, arm); }

ArmMeans true_means() {
  ArmMeans means{{}, {}, true};
  for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
    means.revenue.push_back(mean_response(arm).revenue);
    means.cost.push_back(mean_response(arm).cost);
  }
  return means;
}

Expected true_mix(const std::vector<double>& share_per_arm) {
  Expected sum{0.0, 0.0};
  for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
    sum.revenue += share_per_arm[arm] * mean_response(arm).revenue;
    sum.cost += share_per_arm[arm] * mean_response(arm).cost;
  }
  return sum;
}

struct Counts {
  std::size_t profit = 0, roi = 0, over_random = 0, all_at_once = 0, beats = 0, pays = 0;
  void add(const Counts& other) {
    profit += other.profit;
    roi += other.roi;
    over_random += other.over_random;
    all_at_once += other.all_at_once;
    beats += other.beats;
    pays += other.pays;
  }
};

EvaluationOptions money_options(Estimator estimator, double worth) {
  EvaluationOptions options;
  options.estimator = estimator;
  options.budgets_per_unit = {0.35, 0.6};
  options.budget_basis = data::BudgetBasis::incremental;
  // The many trials get as many resamples as evaluations have; fewer make what is said at once a little too sure.
  options.num_resamples = num_trials() >= 2000 ? EvaluationOptions().num_resamples : 192;
  options.num_curve_points = 3;
  options.areas = false;
  options.value_per_revenue = worth;
  return options;
}

template <class One>
Counts over_trials(One&& one) {
  core::RunContext context(2);
  return core::sum_chunks(
      context, num_trials(), 1, Counts{}, [&](std::size_t trial, std::size_t) { return one(trial); },
      [](Counts& all, const Counts& part) { all.add(part); });
}

// Two models that each see one feature, at two budgets, against every baseline.
Counts cover_one(std::size_t number, const SmallTrialOptions& trial_options, const EvaluationOptions& options) {
  const SmallTrial small = small_trial(5000 + number, trial_options);
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted a = predict(small.x, small.y, sees_x);
  const Predicted b = predict(small.x, small.y, sees_y);
  core::RunContext context(1, number);
  EvaluationInput input{.rows = rows, .models = {}};
  input.models.push_back({.name = "a", .prediction = a.outcomes()});
  input.models.push_back({.name = "b", .prediction = b.outcomes()});
  input.nuisance = a.outcomes();
  input.arm_means = true_means();
  const Evaluation evaluation = evaluate(input, options, context);
  const Expected control = mean_response(0);
  const double worth = *options.value_per_revenue;
  Counts counts{.all_at_once = 1};
  for (std::size_t model = 0; model < 2; ++model) {
    for (std::size_t budget = 0; budget < 2; ++budget) {
      const JudgedPlan& plan = evaluation.models[model].deployed[budget];
      const Expected truth = true_value(model == 0 ? sees_x : sees_y, plan.multiplier);
      const double profit = worth * (truth.revenue - control.revenue) - (truth.cost - control.cost);
      if (!holds(*plan.simultaneous_profit, profit)) counts.all_at_once = 0;
      if (!holds(plan.simultaneous_increment, truth.revenue - control.revenue)) counts.all_at_once = 0;
      for (const BaselineDifferenceFigures& over : evaluation.baseline_differences) {
        if (over.model != evaluation.models[model].name || over.budget_per_unit != plan.budget_per_unit) continue;
        const auto is_this = [&](const BaselineFigures& one) { return one.kind == over.baseline; };
        const BaselineFigures& baseline =
            *std::find_if(evaluation.baselines.begin(), evaluation.baselines.end(), is_this);
        const Expected other = true_mix(baseline.plans[budget].share_per_arm);
        const double net = truth.revenue - other.revenue - over.price * (truth.cost - other.cost);
        if (!holds({net, over.simultaneous_low, over.simultaneous_high}, net)) counts.all_at_once = 0;
        if (model == 0 && budget == 0 && over.baseline == "random") counts.over_random = holds(over.net, net);
      }
      if (model == 0 && budget == 0) {
        counts.profit = holds(*plan.incremental_profit, profit);
        counts.roi = holds(*plan.roi, profit / (truth.cost - control.cost));
      }
    }
  }
  return counts;
}

void expect_nominal(const Counts& counts, const std::string& name) {
  const auto trials = static_cast<double>(num_trials());
  const bool narrow = num_trials() >= 2000;
  std::cout << name << ": profit " << counts.profit << ", ROI " << counts.roi << ", over random " << counts.over_random
            << ", all at once " << counts.all_at_once << " of " << num_trials() << "\n";
  for (const auto& [count, figure] :
       {std::pair{counts.profit, "profit"}, {counts.roi, "ROI"}, {counts.over_random, "targeting over random"}}) {
    EXPECT_GE(static_cast<double>(count) / trials, narrow ? 0.935 : 0.91) << name << ", " << figure;
    EXPECT_LE(static_cast<double>(count) / trials, narrow ? 0.965 : 0.985) << name << ", " << figure;
  }
  EXPECT_GE(static_cast<double>(counts.all_at_once) / trials, narrow ? 0.935 : 0.91) << name << ", all at once";
}

TEST(MoneyCoverage, DoublyRobust) {
  const EvaluationOptions options = money_options(Estimator::doubly_robust, 0.9);
  expect_nominal(over_trials([&](std::size_t trial) { return cover_one(trial, {.num_units = 600}, options); }),
                 "doubly robust");
}

TEST(MoneyCoverage, HajekWithPropensitiesInClusters) {
  const EvaluationOptions options = money_options(Estimator::hajek, 0.9);
  const SmallTrialOptions trial_options{.num_units = 900, .units_per_cluster = 3, .propensities = true};
  expect_nominal(over_trials([&](std::size_t trial) { return cover_one(trial, trial_options, options); }),
                 "hajek, clusters, propensities");
}

// Predictions that know nothing: the effect of the first arm is drawn by a hash of the row, the second is never worth
// its cost.
Expected drawn_response(std::uint64_t bits, std::size_t arm) {
  const double luck = static_cast<double>(bits >> 11) * 0x1.0p-53;
  const Expected mean = mean_response(arm);
  return {arm == 0 ? mean.revenue : mean_response(1).revenue + 0.5 * (luck - 0.5), mean.cost};
}

// Its plan gives the first arm to as many units as random does, drawn in another way: in truth they differ by nothing.
// Revenue is worth what makes that arm return exactly its cost. So every "yes" is an error, as frequent as can be.
TEST(MoneyCoverage, AUselessModelIsNotSaidToBeatRandomNorALosingPlanToPayBack) {
  const Expected one = mean_response(1);
  const Expected control = mean_response(0);
  const double worth = one.cost / (one.revenue - control.revenue);
  EvaluationOptions options = money_options(Estimator::doubly_robust, worth);
  options.budgets_per_unit = {0.2, 0.4};  // of 0.5 for the first arm for everyone
  const Counts counts = over_trials([&](std::size_t trial) {
    const SmallTrial small = small_trial(9000 + trial, {.num_units = 600});
    const TrialRows rows = rows_of(small.trial, std::nullopt);
    Predicted drawn{core::Matrix<float>(rows.size(), kSmallArms), core::Matrix<float>(rows.size(), kSmallArms)};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t arm = 0; arm < kSmallArms; ++arm) {
        const Expected expected = drawn_response(core::combine_hashes(row, trial), arm);
        drawn.revenue(row, arm) = static_cast<float>(expected.revenue);
        drawn.cost(row, arm) = static_cast<float>(expected.cost);
      }
    }
    const Predicted nuisance = predict(small.x, small.y, sees_x);
    core::RunContext context(1, trial);
    EvaluationInput input{.rows = rows, .models = {}};
    input.models.push_back({.name = "useless", .prediction = drawn.outcomes()});
    input.nuisance = nuisance.outcomes();
    input.arm_means = true_means();
    const Evaluation evaluation = evaluate(input, options, context);
    Counts found;
    EXPECT_EQ(evaluation.models[0].deployed[1].share_per_arm[2], 0.0);
    EXPECT_NEAR(evaluation.models[0].deployed[1].share_per_arm[1], 0.8, 0.01);
    for (const BaselineDifferenceFigures& over : evaluation.baseline_differences) {
      if (over.baseline == "random" && over.answer == "yes") found.beats = 1;
    }
    for (const JudgedPlan& plan : evaluation.models[0].deployed) {
      if (plan.pays_back == "yes") found.pays = 1;
    }
    return found;
  });
  const auto trials = static_cast<double>(num_trials());
  std::cout << "useless model: beats random " << counts.beats << ", pays back " << counts.pays << " of " << num_trials()
            << "\n";
  const double most = num_trials() >= 2000 ? 0.065 : 0.09;
  EXPECT_LE(static_cast<double>(counts.beats) / trials, most);
  EXPECT_LE(static_cast<double>(counts.pays) / trials, most);
}

}  // namespace
}  // namespace dfcl::evaluate
