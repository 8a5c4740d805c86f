// SPDX-License-Identifier: Apache-2.0
//
// Intervals of uplift by decile, of its calibration, of effects by segment (all at once) and of a policy tree's
// difference from the plan hold the truth as often as they say in simulated trials. 300 trials a configuration and
// loose bounds; DFCL_COVERAGE_TRIALS=2000 (experiments/coverage.py) narrows both.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "covered.h"
#include "dfcl/check/propensities.h"
#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/evaluate/heterogeneity/deciles.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

std::size_t num_trials() { return num_coverage_trials(300); }

constexpr double kDecilesOfATrial = static_cast<double>(kDeciles * (kSmallArms - 1));

struct Counts {
  double uplift = 0.0, means = 0.0, cost = 0.0;  // shares of the deciles of a trial, summed over trials
  double slope = 0.0, segments = 0.0, tree = 0.0;
  void add(const Counts& other) {
    uplift += other.uplift;
    means += other.means;
    cost += other.cost;
    slope += other.slope;
    segments += other.segments;
    tree += other.tree;
  }
};

// Mean effect of an arm over units with x and y in ranges: linear in x, in y, and in x y.
Expected mean_effect(std::size_t arm, double x_low, double x_high, double y_low = 0.0, double y_high = 1.0) {
  const double x = 0.5 * (x_low + x_high);
  const double y = 0.5 * (y_low + y_high);
  const Expected treated = true_response(x, y, arm);
  const Expected control = true_response(x, y, 0);
  return {treated.revenue - control.revenue, treated.cost - control.cost};
}

// Segments: y in quarters, the second half of x, and the leaves of a tree.
std::size_t quarter(double y) { return static_cast<std::size_t>(4.0 * y); }
std::size_t leaf(double x, double y) { return x <= 0.4 ? 0 : y <= 0.5 ? 1 : 2; }
constexpr std::array<std::array<double, 4>, 3> kLeafRanges = {
    {{0.0, 0.4, 0.0, 1.0}, {0.4, 1.0, 0.0, 0.5}, {0.4, 1.0, 0.5, 1.0}}};

data::QuestionTree words_of_tree() {
  return {{{"x at most 0.4", 1, 2, {}}, {"", {}, {}, 0}, {"y at most 0.5", 3, 4, {}}, {"", {}, {}, 1}, {"", {}, {}, 2}},
          {"x at most 0.4", "x more than 0.4 and y at most 0.5", "x more than 0.4 and y more than 0.5"}};
}

LeafRows leaf_rows(const SmallTrial& small, const TrialRows& rows) {
  LeafRows made{words_of_tree(), {}};
  for (const std::size_t unit : rows.trial_row)
    made.leaf_of_row.push_back(static_cast<std::uint8_t>(leaf(small.x[unit], small.y[unit])));
  return made;
}

bool all_segments_hold(const Evaluation& evaluation) {
  for (const SegmentEffects& effects : evaluation.effects) {
    for (std::size_t v = 0; v < effects.values.size(); ++v) {
      for (std::size_t arm = 1; arm < kSmallArms; ++arm) {
        Expected truth = mean_effect(arm, 0.0, 1.0);
        const double part = static_cast<double>(v);
        if (effects.column == "y") truth = mean_effect(arm, 0.0, 1.0, 0.25 * part, 0.25 * (part + 1.0));
        if (effects.column == "x") truth = mean_effect(arm, 0.5 * part, 0.5 * (part + 1.0));
        if (effects.found == "tree") {
          const std::array<double, 4>& range = kLeafRanges[v];
          truth = mean_effect(arm, range[0], range[1], range[2], range[3]);
        }
        const ArmEffect& effect = effects.values[v].arms[arm - 1];
        if (effect.answer == "too_few") continue;
        if (!(effect.simultaneous_low <= truth.revenue && truth.revenue <= effect.simultaneous_high)) return false;
      }
    }
  }
  return true;
}

// Units of the test as its columns have them.
EvaluationInput input_of(const SmallTrial& small, const TrialRows& rows, const Predicted& model,
                         const Predicted& nuisance) {
  EvaluationInput input{.rows = rows, .models = {}};
  input.models.push_back({.name = "a", .prediction = model.outcomes()});
  input.models[0].trees = {{leaf_rows(small, rows), {0, 1, 2}, 0.5}};
  input.segment_tree = leaf_rows(small, rows);
  input.nuisance = nuisance.outcomes();
  SegmentColumn by_y{"y", {}, {"1", "2", "3", "4"}};
  SegmentColumn by_x{"x", {}, {"low", "high"}};
  for (const std::size_t unit : rows.trial_row) {
    by_y.value_of_row.push_back(static_cast<std::uint32_t>(quarter(small.y[unit])));
    by_x.value_of_row.push_back(small.x[unit] < 0.5 ? 0 : 1);
  }
  input.segments = {by_y, by_x};
  return input;
}

// What the tree's arms (control, 1 and 2) earn and cost over control.
Expected tree_value() {
  Expected sum{0.0, 0.0};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::array<double, 4>& range = kLeafRanges[i];
    const double share = (range[1] - range[0]) * (range[3] - range[2]);
    const Expected effect = mean_effect(i, range[0], range[1], range[2], range[3]);
    sum.revenue += share * effect.revenue;
    sum.cost += share * effect.cost;
  }
  return sum;
}

// The model sees x only, so deciles of its predicted uplift are deciles of x, the largest first.
Counts cover_one(std::size_t number, const SmallTrialOptions& trial_options, const EvaluationOptions& options) {
  SmallTrial small = small_trial(70'000 + number, trial_options);
  if (trial_options.tilted) {
    core::RunContext context(1);
    check::PropensityEstimate estimate = check::estimate_propensities(small.trial, context);
    small.trial.propensity = std::move(estimate.propensity);
    small.trial.propensity_scores = std::move(estimate.scores);
  }
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  const Predicted nuisance = predict(small.x, small.y, sees_y);
  core::RunContext context(1, number);
  const Evaluation evaluation = evaluate(input_of(small, rows, model, nuisance), options, context);
  Counts counts;
  const ModelFigures& figures = evaluation.models[0];
  for (std::size_t arm = 1; arm < kSmallArms; ++arm) {
    const UpliftFigures& uplift = figures.uplift[arm - 1];
    for (std::size_t i = 0; i < kDeciles; ++i) {
      const double high = 1.0 - 0.1 * static_cast<double>(i);
      const Expected truth = mean_effect(arm, high - 0.1, high);
      counts.uplift += holds(uplift.deciles[i].uplift, truth.revenue) / kDecilesOfATrial;
      counts.means += holds(uplift.deciles[i].difference_in_means, truth.revenue) / kDecilesOfATrial;
      counts.cost += holds(uplift.deciles[i].cost, truth.cost) / kDecilesOfATrial;
    }
  }
  counts.slope = holds(figures.uplift[0].calibration_slope, 1.0);  // the mean over y is what the model says
  counts.segments = all_segments_hold(evaluation);
  const PolicyTreeFigures& tree = figures.policy_trees[0];
  const Expected plan = true_value(sees_x, figures.deployed[0].multiplier);
  const Expected control = true_response(0.5, 0.5, 0);
  const Expected rule = tree_value();
  const double truth =
      (rule.revenue - (plan.revenue - control.revenue)) - tree.price * (rule.cost - (plan.cost - control.cost));
  counts.tree = holds(tree.net_difference, truth);
  return counts;
}

EvaluationOptions cheap_options(Estimator estimator) {
  EvaluationOptions options;
  options.estimator = estimator;
  options.budgets_per_unit = {0.35};
  options.budget_basis = data::BudgetBasis::incremental;
  options.num_resamples = 0;
  options.num_curve_points = 3;
  options.areas = false;
  return options;
}

void expect_nominal(const SmallTrialOptions& trial_options, Estimator estimator, const std::string& name) {
  const EvaluationOptions options = cheap_options(estimator);
  core::RunContext context(2);
  const Counts counts = core::sum_chunks(
      context, num_trials(), 1, Counts{},
      [&](std::size_t trial, std::size_t) { return cover_one(trial, trial_options, options); },
      [](Counts& all, const Counts& part) { all.add(part); });
  const bool narrow = num_trials() >= 2000;
  const auto trials = static_cast<double>(num_trials());
  std::cout << name << ": deciles " << counts.uplift << ", by difference in means " << counts.means << ", cost "
            << counts.cost << ", slope " << counts.slope << ", segments at once " << counts.segments
            << ", tree less plan " << counts.tree << " of " << num_trials() << "\n";
  const auto expect = [&](double count, const char* figure) {
    EXPECT_GE(count / trials, narrow ? 0.935 : 0.91) << name << ", " << figure;
    EXPECT_LE(count / trials, narrow ? 0.965 : 0.985) << name << ", " << figure;
  };
  expect(counts.uplift, "deciles");
  expect(counts.means, "deciles by difference in means");
  expect(counts.cost, "cost of deciles");
  expect(counts.slope, "slope");
  expect(counts.segments, "segments at once");
  expect(counts.tree, "tree less plan");
}

TEST(HeterogeneityCoverage, DoublyRobust) {
  expect_nominal({.num_units = 2000}, Estimator::doubly_robust, "doubly robust");
}

TEST(HeterogeneityCoverage, WithPropensities) {
  expect_nominal({.num_units = 2000, .propensities = true}, Estimator::doubly_robust, "propensities");
}

// AdjustedFigures holds these errors to those of plans; this one takes as long as all others together.
TEST(HeterogeneityCoverage, WithEstimatedPropensities) {
  if (std::getenv("DFCL_COVERAGE_TRIALS") == nullptr) GTEST_SKIP() << "runs where DFCL_COVERAGE_TRIALS says how often";
  expect_nominal({.num_units = 2000, .tilted = true}, Estimator::doubly_robust, "estimated propensities");
}

TEST(HeterogeneityCoverage, InClusters) {
  expect_nominal({.num_units = 3000, .units_per_cluster = 3}, Estimator::doubly_robust, "clusters");
}

TEST(HeterogeneityCoverage, Hajek) { expect_nominal({.num_units = 2000}, Estimator::hajek, "hajek"); }

}  // namespace
}  // namespace dfcl::evaluate
