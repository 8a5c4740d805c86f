// SPDX-License-Identifier: Apache-2.0
//
// Every estimator against eq. 16 written down plainly, in the trial itself and in resamples.
#include "dfcl/evaluate/curves/path_values.h"

#include <gtest/gtest.h>

#include "dfcl/allocate/allocate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

allocate::Problem problem_of(const Outcomes& outcomes) { return {.revenue = outcomes.revenue, .cost = outcomes.cost}; }

struct Plain {
  double revenue;
  double cost;
};

// Eq. 16 with each row counted `times` times; arms are scaled back to their sizes unless propensities are known.
Plain plain_value(const TrialRows& rows, const Predicted& nuisance, Estimator estimator,
                  const std::vector<std::uint8_t>& plan, const std::vector<double>& times) {
  std::vector<double> arm_times(rows.num_arms());
  double all_times = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    arm_times[rows.arm[i]] += times[i];
    all_times += times[i];
  }
  std::vector<double> count(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t arm = rows.arm[i];
    count[i] = rows.has_propensity ? times[i] * static_cast<double>(rows.size()) / all_times
                                   : times[i] * static_cast<double>(rows.arm_units[arm]) / arm_times[arm];
  }
  const auto n = static_cast<double>(rows.size());
  std::vector<double> chosen(rows.num_arms()), weight(rows.num_arms()), revenue(rows.num_arms()), cost(rows.num_arms());
  double model_revenue = 0.0, model_cost = 0.0, residual_revenue = 0.0, residual_cost = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t z = plan[i];
    chosen[z] += count[i];
    const double mr = static_cast<double>(nuisance.revenue(i, z));
    const double mc = static_cast<double>(nuisance.cost(i, z));
    model_revenue += count[i] * mr;
    model_cost += count[i] * mc;
    if (rows.arm[i] != z) continue;
    const double w = count[i] * rows.weight[i];
    const auto r = static_cast<double>(rows.revenue[i]);
    const auto c = static_cast<double>(rows.cost[i]);
    weight[z] += w;
    revenue[z] += w * r;
    cost[z] += w * c;
    residual_revenue += w * (r - mr);
    residual_cost += w * (c - mc);
  }
  double sum_weight = 0.0, sum_revenue = 0.0, sum_cost = 0.0;
  Plain stratified{0.0, 0.0};
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    sum_weight += weight[arm];
    sum_revenue += revenue[arm];
    sum_cost += cost[arm];
    if (chosen[arm] == 0.0) continue;
    stratified.revenue += chosen[arm] / n * revenue[arm] / weight[arm];
    stratified.cost += chosen[arm] / n * cost[arm] / weight[arm];
  }
  switch (estimator) {
    case Estimator::horvitz_thompson: return {sum_revenue / n, sum_cost / n};
    case Estimator::hajek: return {sum_revenue / sum_weight, sum_cost / sum_weight};
    case Estimator::stratified: return stratified;
    case Estimator::doubly_robust: return {(model_revenue + residual_revenue) / n, (model_cost + residual_cost) / n};
  }
  return {};
}

class EveryEstimator : public testing::TestWithParam<std::tuple<Estimator, bool>> {};

TEST_P(EveryEstimator, AgreesWithTheFormulaInTheTrialAndInResamples) {
  const auto [estimator, propensities] = GetParam();
  core::RunContext context(1);
  const SmallTrial small = small_trial(11, {.num_units = 300, .propensities = propensities});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  const Predicted nuisance = predict(small.x, small.y, sees_y);
  const Rewards rewards(rows, estimator, nuisance.outcomes());
  PredictedPath path = path_of(problem_of(model.outcomes()), context);
  const std::vector<Cut> cuts = cuts_at(path, std::vector<double>{30.0, 120.0, 1e9}, context);
  const PathSteps made = steps_of(path, rewards, context);
  const std::span<const PathStep> steps = made;
  std::vector<PathPoint> points;
  for (const Cut& cut : cuts) {
    PathPoint& point = points.emplace_back(PathPoint{cut.num_steps, {}});
    for (const FilledRow& row : cut.filled) point.filled.push_back(step_of(rewards, row.row, row.from, row.to));
  }

  std::vector<std::vector<std::uint8_t>> plans;
  for_each_plan(path, rows.size(), 0, cuts,
                [&](std::size_t, std::span<const std::uint8_t> arm) { plans.emplace_back(arm.begin(), arm.end()); });
  const ResampleBlock blocks[] = {ResampleBlock::ones(), ResampleBlock(rows, Weights::poisson, 9, 4),
                                  ResampleBlock(rows, Weights::multinomial, 9, 4)};
  for (const ResampleBlock& block : blocks) {
    const BlockTotals totals = totals_of(block, rewards);
    const PathFigures figures = path_values(block, totals, rewards, steps, {points, {}, path.head.size()});
    const PlanValue control = control_value(totals, rewards);
    for (const std::size_t lane : {std::size_t{0}, std::size_t{13}}) {
      std::vector<double> times;
      for (std::uint32_t row = 0; row < rows.size(); ++row) {
        ResampleBlock::Tile tile;
        block.fill({&row, 1}, tile);
        times.push_back(tile[0][lane]);
      }
      for (std::size_t i = 0; i < plans.size(); ++i) {
        const Plain expected = plain_value(rows, nuisance, estimator, plans[i], times);
        EXPECT_NEAR(figures.at_cuts[i].revenue[lane], expected.revenue, 1e-11);
        EXPECT_NEAR(figures.at_cuts[i].cost[lane], expected.cost, 1e-11);
      }
      const Plain expected = plain_value(rows, nuisance, estimator, std::vector<std::uint8_t>(rows.size(), 0), times);
      EXPECT_NEAR(control.revenue[lane], expected.revenue, 1e-11);
      EXPECT_NEAR(control.cost[lane], expected.cost, 1e-11);
    }
  }
}

TEST_P(EveryEstimator, MatchesTheFirstPlanBeforeTheCostCrossesTheBudget) {
  const auto [estimator, propensities] = GetParam();
  core::RunContext context(1);
  const SmallTrial small = small_trial(12, {.num_units = 200, .propensities = propensities});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  const Rewards rewards(rows, estimator, model.outcomes());
  PredictedPath path = path_of(problem_of(model.outcomes()), context);
  const PathSteps made = steps_of(path, rewards, context);
  const std::span<const PathStep> steps = made;
  // Every plan of the path, one after the other.
  std::vector<PathPoint> all;
  for (std::size_t i = 0; i <= steps.size(); ++i) all.push_back({i, {}});
  const ResampleBlock block(rows, Weights::poisson, 2, 0);
  const BlockTotals totals = totals_of(block, rewards);
  const std::vector<double> budgets = {-1.0, 0.05, 0.1, 0.3, 0.31, 50.0};
  const PathFigures everywhere = path_values(block, totals, rewards, steps, {all, {}, path.head.size()});
  const PathFigures matched = path_values(block, totals, rewards, steps, {{}, budgets, path.head.size()});
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      std::size_t plan = 0;
      while (plan < steps.size() && !(everywhere.at_cuts[plan + 1].cost[lane] > budgets[b])) ++plan;
      if (everywhere.at_cuts[0].cost[lane] > budgets[b]) plan = 0;
      EXPECT_NEAR(matched.matched[b].revenue[lane], everywhere.at_cuts[plan].revenue[lane], 1e-11) << lane << " " << b;
      EXPECT_NEAR(matched.matched[b].cost[lane], everywhere.at_cuts[plan].cost[lane], 1e-11);
      if (lane == 0) {
        EXPECT_EQ(matched.matched_steps[b], plan);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Values, EveryEstimator,
                         testing::Combine(testing::Values(Estimator::horvitz_thompson, Estimator::hajek,
                                                          Estimator::stratified, Estimator::doubly_robust),
                                          testing::Bool()));

TEST(PolicyPath, CutsWhereTheSolverDoes) {
  core::RunContext context(1);
  const SmallTrial small = small_trial(5, {.num_units = 2000});
  Predicted model = predict(small.x, small.y, true_response);
  for (std::size_t unit = 0; unit < 2000; unit += 3) model.cost(unit, 0) = 0.9f;  // control is not the cheapest arm
  PredictedPath path = path_of(problem_of(model.outcomes()), context);
  const std::vector<double> totals = {500.0, 900.0, 1200.0, 5000.0};
  const std::vector<Cut> cuts = cuts_at(path, totals, context);
  std::vector<std::vector<std::uint8_t>> plans;
  for_each_plan(path, 2000, 0, cuts,
                [&](std::size_t, std::span<const std::uint8_t> arm) { plans.emplace_back(arm.begin(), arm.end()); });
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const allocate::Solution solution =
        allocate::allocate({.revenue = model.revenue.view(), .cost = model.cost.view()}, totals[i], context);
    EXPECT_EQ(cuts[i].multiplier, solution.multiplier);
    EXPECT_EQ(cuts[i].cost, solution.spend);
    EXPECT_EQ(cuts[i].revenue, solution.revenue);
    EXPECT_EQ(plans[i], solution.arm);  // filling included
  }
  EXPECT_FALSE(cuts_at(path, std::vector<double>{-1.0}, context).front().feasible);
}

}  // namespace
}  // namespace dfcl::evaluate
