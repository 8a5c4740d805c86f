// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/predict.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "dfcl/core/error.h"
#include "tests/forest/made_trial.h"

namespace dfcl::forest {
namespace {

double smooth_effect(std::span<const float> x, std::size_t arm) {
  return static_cast<double>(arm) * (1.0 + 0.5 * static_cast<double>(x[0]));
}
double no_effect(std::span<const float>, std::size_t) { return 0.0; }

TEST(ArmRules, PoolNeighboursThatFallWithTheirWeights) {
  std::array<double, 5> values = {1.0, 3.0, 2.0, 5.0, 4.0};
  const std::array<double, 5> weights = {1.0, 1.0, 3.0, 1.0, 1.0};
  apply_rules({.rises = true}, 0, weights, values);
  EXPECT_EQ(values, (std::array<double, 5>{1.0, 2.25, 2.25, 4.5, 4.5}));
}

TEST(ArmRules, KeepBoundsAndAFreeControl) {
  std::array<double, 3> values = {0.5, -1.0, 2.0};
  const std::array<double, 3> weights = {1.0, 1.0, 1.0};
  apply_rules({.rises = true, .least = 0.0, .most = 1.0, .control_is_free = true}, 0, weights, values);
  EXPECT_EQ(values, (std::array<double, 3>{0.0, 0.0, 1.0}));
}

TEST(ArmRules, NoArmFallsBelowAFreeControlWhereValuesRise) {
  std::array<double, 3> values = {0.0, -2.0, -1.0};
  const std::array<double, 3> weights = {1.0, 1.0, 1.0};
  apply_rules({.rises = true, .control_is_free = true}, 0, weights, values);
  EXPECT_EQ(values, (std::array<double, 3>{0.0, 0.0, 0.0}));
}

TEST(ForestRunner, OutOfBagPredictionsDoNotKnowTheUnitsOwnNoise) {
  // There is no effect and no difference between units: what a prediction says about a unit's own outcome is memory.
  const MadeTrial trial = made_trial(2000, 5, 2, 31, no_effect);
  core::RunContext context(2);
  const ForestOptions options{.trees = 200, .min_leaf = 10, .min_leaf_per_arm = 2, .seed = 3};
  const Forest forest = grow_forest(trial.data(), options, context);
  ForestUnits units = trial.units();
  const Predicted with_own = predicted(forest, units, context);
  std::vector<std::uint64_t> keys(2000);
  for (std::size_t unit = 0; unit < 2000; ++unit) keys[unit] = unit;
  units.seen_key = keys;
  const Predicted out_of_bag = predicted(forest, units, context);
  const auto correlation = [&](const Predicted& found) {
    double products = 0.0, squares = 0.0, outcomes = 0.0;
    for (std::size_t unit = 0; unit < 2000; ++unit) {
      const double value = static_cast<double>(found.revenue(unit, trial.arm[unit]));
      const double outcome = static_cast<double>(trial.revenue[unit]);
      products += value * outcome;
      squares += value * value;
      outcomes += outcome * outcome;
    }
    return products / std::sqrt(squares * outcomes);
  };
  EXPECT_GT(correlation(with_own), 0.2);
  EXPECT_LT(std::abs(correlation(out_of_bag)), 0.08);
}

TEST(ForestRunner, AUnitsNumbersDoNotDependOnItsNeighbours) {
  const MadeTrial trial = made_trial(1500, 4, 3, 33, smooth_effect);
  core::RunContext context(2);
  const Forest forest =
      grow_forest(trial.data(), {.trees = 20, .min_leaf = 40, .min_leaf_per_arm = 4, .seed = 3}, context);
  const Predicted all = predicted(forest, trial.units(), context);
  const std::vector<std::uint32_t> rows = {1400, 7, 600};
  ForestUnits some = trial.units();
  some.rows = rows;
  const std::vector<float> zero(3);
  some.base_revenue = some.base_cost = zero;
  const Predicted few = predicted(forest, some, context);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t arm = 0; arm < 3; ++arm) EXPECT_EQ(few.revenue(i, arm), all.revenue(rows[i], arm));
}

TEST(ForestRunner, RulesHoldForEveryUnit) {
  const MadeTrial trial = made_trial(1500, 4, 4, 35, no_effect);
  core::RunContext context(2);
  const Forest forest =
      grow_forest(trial.data(), {.trees = 20, .min_leaf = 40, .min_leaf_per_arm = 4, .seed = 3}, context);
  const Predicted free = predicted(forest, trial.units(), context);
  const Predicted ruled = predicted(forest, trial.units(), context, {.rises = true},
                                    {.rises = true, .least = 0.0, .control_is_free = true});
  std::size_t falls = 0;
  for (std::size_t unit = 0; unit < 1500; ++unit) {
    EXPECT_EQ(ruled.cost(unit, 0), 0.0f);
    for (std::size_t arm = 1; arm < 4; ++arm) {
      falls += free.revenue(unit, arm) < free.revenue(unit, arm - 1) ? 1 : 0;
      EXPECT_GE(ruled.revenue(unit, arm), ruled.revenue(unit, arm - 1));
      EXPECT_GE(ruled.cost(unit, arm), ruled.cost(unit, arm - 1));
    }
  }
  EXPECT_GT(falls, 100u) << "else the case shows nothing";
}

TEST(ForestRunner, IntervalsCoverTheTrueEffect) {
  core::RunContext context(2);
  constexpr std::size_t kTrials = 60;
  constexpr std::size_t kPoints = 20;
  MadeTrial points = made_trial(kPoints, 3, 3, 99, no_effect);
  for (std::size_t i = 0; i < kPoints * 3; ++i) points.features.data()[i] *= 0.7f;  // effects at the edge are biased
  double covered = 0.0, error_squares = 0.0, variances = 0.0;
  for (std::size_t number = 0; number < kTrials; ++number) {
    const MadeTrial trial = made_trial(1500, 3, 3, 1000 + number, smooth_effect);
    const ForestOptions options{
        .trees = 200, .min_leaf = 30, .min_leaf_per_arm = 4, .mtry = 2, .subsample = 0.3, .seed = number};
    const Forest forest = grow_forest(trial.data(), options, context);
    const Predicted found = predicted(forest, points.units(), context);
    core::Matrix<float> revenue_error(kPoints, 3), cost_error(kPoints, 3);
    ForestRunner(forest, {}, {}).standard_errors(points.units(), revenue_error.view(), cost_error.view(), context);
    for (std::size_t point = 0; point < kPoints; ++point) {
      EXPECT_EQ(revenue_error(point, 0), 0.0f);
      for (std::size_t arm = 1; arm < 3; ++arm) {
        const double error = found.effect(point, arm) - smooth_effect(points.features.row(point), arm);
        const double deviation = static_cast<double>(revenue_error(point, arm));
        covered += std::abs(error) <= 1.96 * deviation ? 1.0 : 0.0;
        error_squares += error * error;
        variances += deviation * deviation;
      }
    }
  }
  const double intervals = kTrials * kPoints * 2;
  fmt::print("coverage of 95 % intervals {:.3f}; mean square error {:.4f}, mean variance {:.4f}\n", covered / intervals,
             error_squares / intervals, variances / intervals);
  EXPECT_GT(covered / intervals, 0.90);
  EXPECT_LT(covered / intervals, 0.995);
}

TEST(ForestRunner, NeedsGroupsOfTreesToTellItsUncertainty) {
  const MadeTrial trial = made_trial(500, 3, 2, 37, no_effect);
  core::RunContext context(1);
  const Forest forest =
      grow_forest(trial.data(), {.trees = 7, .min_leaf = 40, .min_leaf_per_arm = 4, .seed = 3}, context);
  core::Matrix<float> revenue(500, 2), cost(500, 2);
  EXPECT_THROW(ForestRunner(forest, {}, {}).standard_errors(trial.units(), revenue.view(), cost.view(), context),
               core::Error);
}

}  // namespace
}  // namespace dfcl::forest
