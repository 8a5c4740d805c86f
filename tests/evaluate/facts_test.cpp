// SPDX-License-Identifier: Apache-2.0
//
// What an evaluation must not depend on (the order of the rows), and what it knows without estimating it: prices,
// rates, limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

EvaluationOptions small_options() {
  EvaluationOptions options;
  options.budgets_per_unit = {0.2, 0.5};
  options.num_resamples = 64;
  options.num_levels = 20;
  return options;
}

// The trial with its rows in another order, each with the id of its unit.
struct Shuffled {
  data::Trial trial;
  std::vector<double> x, y;
};

Shuffled shuffle(const SmallTrial& small, std::uint64_t seed) {
  const std::size_t size = small.x.size();
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  core::RandomStream stream(seed, core::stream_purpose("facts test"), 0);
  for (auto i = static_cast<std::uint32_t>(size - 1); seed > 0 && i > 0; --i) {
    std::swap(order[i], order[stream.below(i + 1)]);
  }
  Shuffled made;
  made.trial.arms = small.trial.arms;
  std::vector<std::int64_t> ids;
  std::vector<std::uint32_t> dense(small.trial.num_clusters, 0xffffffffu);
  for (const std::size_t unit : order) {
    ids.push_back(static_cast<std::int64_t>(unit) * 7 + 1000);
    made.x.push_back(small.x[unit]);
    made.y.push_back(small.y[unit]);
    made.trial.arm.push_back(small.trial.arm[unit]);
    made.trial.revenue.push_back(small.trial.revenue[unit]);
    made.trial.cost.push_back(small.trial.cost[unit]);
    made.trial.split.push_back(data::Split::test);
    if (small.trial.num_clusters == 0) continue;
    std::uint32_t& cluster = dense[small.trial.cluster[unit]];
    if (cluster == 0xffffffffu) cluster = static_cast<std::uint32_t>(made.trial.num_clusters++);
    made.trial.cluster.push_back(cluster);
  }
  made.trial.ids = ids;
  return made;
}

// Predictions in the order of the rows, with ties.
Predicted predict_rows(const Shuffled& made, const TrialRows& rows, const Response& response) {
  std::vector<double> x, y;
  for (const std::size_t row : rows.trial_row) {
    x.push_back(std::round(made.x[row] * 4.0) / 4.0);
    y.push_back(std::round(made.y[row] * 4.0) / 4.0);
  }
  return predict(x, y, response);
}

class AnyOrder : public testing::TestWithParam<std::tuple<Weights, std::size_t>> {};

TEST_P(AnyOrder, OfTheRowsGivesTheSameFigures) {
  const auto [weights, units_per_cluster] = GetParam();
  const SmallTrial small = small_trial(21, {.num_units = 1500, .units_per_cluster = units_per_cluster});
  std::vector<Evaluation> results;
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    const Shuffled made = shuffle(small, seed);
    const TrialRows rows = rows_of(made.trial, std::nullopt);
    EXPECT_TRUE(std::is_sorted(rows.key.begin(), rows.key.end()));
    const Predicted a = predict_rows(made, rows, sees_x);
    const Predicted b = predict_rows(made, rows, sees_y);
    EvaluationOptions options = small_options();
    options.weights = weights;
    core::RunContext context(2, 5);
    results.push_back(
        evaluate({.rows = rows,
                  .models = {{.name = "a", .prediction = a.outcomes()}, {.name = "b", .prediction = b.outcomes()}},
                  .nuisance = a.outcomes()},
                 options, context));
  }
  const auto expect_equal = [](const Interval& one, const Interval& other) {
    EXPECT_EQ(one.value, other.value);
    EXPECT_EQ(one.low, other.low);
    EXPECT_EQ(one.high, other.high);
  };
  for (std::size_t i = 1; i < results.size(); ++i) {
    for (std::size_t model = 0; model < 2; ++model) {
      const ModelFigures& one = results[0].models[model];
      const ModelFigures& other = results[i].models[model];
      for (std::size_t budget = 0; budget < 2; ++budget) {
        expect_equal(one.deployed[budget].revenue, other.deployed[budget].revenue);
        expect_equal(one.deployed[budget].cost, other.deployed[budget].cost);
        expect_equal(one.matched[budget].revenue, other.matched[budget].revenue);
        EXPECT_EQ(one.deployed[budget].share_per_arm, other.deployed[budget].share_per_arm);
      }
      for (std::size_t arm = 0; arm < one.aucc.size(); ++arm) {
        expect_equal(one.aucc[arm].published, other.aucc[arm].published);
        expect_equal(one.aucc[arm].unnormalised_area, other.aucc[arm].unnormalised_area);
        expect_equal(one.qini[arm].qini, other.qini[arm].qini);
      }
      EXPECT_EQ(one.fit->revenue.mse, other.fit->revenue.mse);
    }
    expect_equal(results[0].differences[1].revenue, results[i].differences[1].revenue);
    expect_equal(results[0].control_revenue, results[i].control_revenue);
    EXPECT_EQ(results[0].verdict.sentence, results[i].verdict.sentence);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, AnyOrder,
                         testing::Combine(testing::Values(Weights::poisson, Weights::multinomial),
                                          testing::Values(std::size_t{1}, std::size_t{3})));

TEST(ResampleWeights, OfAUnitDoNotDependOnTheOtherUnits) {
  const SmallTrial small = small_trial(22, {.num_units = 400});
  Shuffled all = shuffle(small, 0);
  for (std::size_t unit = 0; unit < 400; ++unit) {
    if (unit % 2 == 0) all.trial.split[unit] = data::Split::train;
  }
  const TrialRows rows = rows_of(all.trial, std::nullopt);
  const TrialRows fewer = rows_of(all.trial, data::Split::test);
  const ResampleBlock block(rows, Weights::poisson, 3, 1);
  const ResampleBlock other(fewer, Weights::poisson, 3, 1);
  for (std::uint32_t row = 0; row < fewer.size(); ++row) {
    const auto place = static_cast<std::uint32_t>(std::lower_bound(rows.key.begin(), rows.key.end(), fewer.key[row]) -
                                                  rows.key.begin());
    ResampleBlock::Tile one, two;
    other.fill({&row, 1}, one);
    block.fill({&place, 1}, two);
    EXPECT_EQ(one[0], two[0]);
  }
}

// A trial whose arms have prices, and predictions that know them.
struct Priced {
  SmallTrial small;
  TrialRows rows;
  Predicted model;
  std::vector<double> price = {0.0, 0.15, 0.4};
};

Priced make_priced() {
  Priced made{small_trial(23, {.num_units = 1200}), {}, {}};
  data::Trial& trial = made.small.trial;
  trial.cost_facts = {data::CostKind::price, made.price};
  core::Column<float> cost;
  for (std::size_t unit = 0; unit < 1200; ++unit) cost.push_back(static_cast<float>(made.price[trial.arm[unit]]));
  trial.cost = std::move(cost);
  made.rows = rows_of(trial, std::nullopt);
  made.model = predict(made.small.x, made.small.y, sees_x);
  for (std::size_t unit = 0; unit < 1200; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) made.model.cost(unit, arm) = static_cast<float>(made.price[arm]);
  }
  return made;
}

TEST(KnownPrices, MakeTheCostOfAPlanAFact) {
  const Priced made = make_priced();
  for (const Estimator estimator : {Estimator::doubly_robust, Estimator::hajek, Estimator::stratified}) {
    for (const bool analytic : {false, true}) {
      EvaluationOptions options = small_options();
      options.budgets_per_unit = {0.03, 0.15};
      options.estimator = estimator;
      options.analytic = analytic;
      core::RunContext context(2, 5);
      const EvaluationInput input{.rows = made.rows,
                                  .models = {{.name = "a", .prediction = made.model.outcomes(), .price = made.price}},
                                  .nuisance = made.model.outcomes()};
      const Evaluation evaluation = evaluate(input, options, context);
      EXPECT_TRUE(evaluation.cost_is_known);
      EXPECT_EQ(evaluation.control_cost.value, 0.0);
      EXPECT_FALSE(evaluation.control_cost.has_ends());
      for (std::size_t budget = 0; budget < 2; ++budget) {
        const JudgedPlan& plan = evaluation.models[0].deployed[budget];
        EXPECT_FALSE(plan.cost.has_ends());
        EXPECT_NEAR(plan.cost.value, 0.15 * plan.share_per_arm[1] + 0.4 * plan.share_per_arm[2], 1e-15);
        EXPECT_NEAR(plan.cost.value, plan.predicted_cost, 1e-15);
        EXPECT_LE(plan.cost.value, options.budgets_per_unit[budget]);
        EXPECT_TRUE(plan.revenue.has_ends());
        EXPECT_TRUE(plan.return_per_cost.has_ends());
        EXPECT_EQ(evaluation.models[0].matched[budget].cost.value, plan.cost.value);
        EXPECT_EQ(evaluation.models[0].matched[budget].revenue.value, plan.revenue.value);
      }
    }
  }
}

TEST(KnownRates, MakeCostAShareOfTheRevenueEstimate) {
  SmallTrial small = small_trial(24, {.num_units = 900});
  small.trial.cost_facts = {data::CostKind::rate, {0.0, 0.1, 0.1}};
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  for (const Estimator estimator : {Estimator::doubly_robust, Estimator::hajek, Estimator::horvitz_thompson}) {
    const Rewards rewards(rows, estimator, model.outcomes());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t arm = 0; arm < 3; ++arm) {
        const Contribution contribution = rewards.of(row, arm);
        EXPECT_EQ(contribution.cost, (arm == 0 ? 0.0 : 0.1) * contribution.revenue);
      }
    }
  }
}

TEST(Limits, HoldInTheEvaluationToo) {
  const SmallTrial small = small_trial(25, {.num_units = 600});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, true_response);
  core::Matrix<std::uint8_t> eligible(600, 3);
  for (std::size_t row = 0; row < 600; ++row) {
    for (std::size_t arm = 0; arm < 3; ++arm) eligible(row, arm) = arm == 2 ? 0 : 1;
  }
  EvaluationInput input{.rows = rows,
                        .models = {{.name = "a", .prediction = model.outcomes()}},
                        .nuisance = model.outcomes(),
                        .eligible = std::as_const(eligible).view()};
  core::RunContext context(1, 5);
  const Evaluation barred = evaluate(input, small_options(), context);
  EXPECT_EQ(barred.models[0].deployed[1].share_per_arm[2], 0.0);
  input.eligible = {};
  input.rules.min_roi = 1.2;
  const Evaluation limited = evaluate(input, small_options(), context);
  const allocate::Solution solution = allocate::allocate(
      {.revenue = model.revenue.view(), .cost = model.cost.view(), .rules = {.min_roi = 1.2}}, 0.5 * 600, context);
  EXPECT_DOUBLE_EQ(limited.models[0].deployed[1].predicted_cost, solution.spend / 600);
}

TEST(IncrementalBudgets, AreAboveWhatControlCosts) {
  SmallTrial small = small_trial(26, {.num_units = 800});
  Predicted model = predict(small.x, small.y, true_response);
  for (std::size_t unit = 0; unit < 800; ++unit) {  // everything costs 0.3 more
    small.trial.cost[unit] += 0.3f;
    for (std::size_t arm = 0; arm < 3; ++arm) model.cost(unit, arm) += 0.3f;
  }
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const EvaluationInput input{
      .rows = rows, .models = {{.name = "a", .prediction = model.outcomes()}}, .nuisance = model.outcomes()};
  core::RunContext context(1, 5);
  EvaluationOptions options = small_options();
  options.budget_basis = data::BudgetBasis::incremental;
  const Evaluation above = evaluate(input, options, context);
  options.budget_basis = data::BudgetBasis::total;
  options.budgets_per_unit = {0.5, 0.8};
  const Evaluation total = evaluate(input, options, context);
  for (std::size_t budget = 0; budget < 2; ++budget) {
    const JudgedPlan& one = above.models[0].deployed[budget];
    const JudgedPlan& other = total.models[0].deployed[budget];
    EXPECT_NEAR(one.predicted_cost, other.predicted_cost, 1e-6);
    EXPECT_NEAR(one.spend_over_budget.value,
                one.cost.value - above.control_cost.value - small_options().budgets_per_unit[budget], 1e-12);
  }
  EXPECT_EQ(above.budget_basis, "incremental");
}

}  // namespace
}  // namespace dfcl::evaluate
