// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/aucc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/evaluate.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

struct Rows {
  std::vector<double> score;
  std::vector<std::uint8_t> treated;
  std::vector<float> revenue;
  std::vector<float> cost;
  CurveRows view() const { return {score, treated, revenue, cost}; }
};

struct Plain {
  double published;
  double area;
  std::size_t missed;
};

// Eq. 17 row by row; times: how often each row counts, empty for once.
Plain plain_aucc(const Rows& rows, std::size_t num_levels, const std::vector<double>& times = {}) {
  const auto count_of = [&](std::size_t row) { return times.empty() ? 1.0 : times[row]; };
  std::vector<std::size_t> order(rows.score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows.score[a] > rows.score[b]; });
  double count[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < order.size(); ++i) count[rows.treated[i]] += count_of(i);
  std::vector<double> c, r;
  double sum_cost[2] = {0.0, 0.0}, sum_revenue[2] = {0.0, 0.0};
  for (const std::size_t i : order) {
    sum_cost[rows.treated[i]] += count_of(i) * static_cast<double>(rows.cost[i]);
    sum_revenue[rows.treated[i]] += count_of(i) * static_cast<double>(rows.revenue[i]);
    c.push_back(sum_cost[1] / count[1] - sum_cost[0] / count[0]);
    r.push_back(sum_revenue[1] / count[1] - sum_revenue[0] / count[0]);
  }
  std::vector<double> points = {0.0};
  std::size_t level = 1;
  double area = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    area += i == 0 ? 0.5 * r[0] * c[0] : 0.5 * (r[i] + r[i - 1]) * (c[i] - c[i - 1]);
    if (level < num_levels && c[i] >= static_cast<double>(level) * c.back() / static_cast<double>(num_levels)) {
      points.push_back(r[i]);
      ++level;
    }
  }
  points.push_back(r.back());
  const double sum = std::accumulate(points.begin(), points.end(), 0.0);
  return {sum / (r.back() * static_cast<double>(num_levels + 1)), area / (r.back() * c.back()), num_levels - level};
}

Rows random_rows(std::uint64_t seed, std::size_t size, bool zero_one, bool ties) {
  Rows rows;
  core::RandomStream stream(seed, core::stream_purpose("aucc test"), 0);
  for (std::size_t i = 0; i < size; ++i) {
    const double x = stream.uniform();
    const bool treated = stream.bernoulli(0.7);
    rows.score.push_back(ties ? std::floor(5.0 * x) : x - 0.5);
    rows.treated.push_back(treated ? 1 : 0);
    const double revenue = 0.1 + (treated ? 0.2 * x : 0.0);
    const double cost = treated ? 0.3 : 0.05;
    rows.revenue.push_back(zero_one ? (stream.bernoulli(revenue) ? 1.0f : 0.0f)
                                    : static_cast<float>(revenue + 0.1 * stream.normal()));
    rows.cost.push_back(zero_one ? (stream.bernoulli(cost) ? 1.0f : 0.0f)
                                 : static_cast<float>(cost + 0.1 * stream.normal()));
  }
  return rows;
}

TEST(Aucc, AgreesWithAPlainLoopOverTheRows) {
  core::RunContext context(2);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const bool zero_one = seed % 2 == 0;
    const bool ties = seed % 3 == 0;
    const Rows rows = random_rows(seed, seed % 4 == 0 ? 20'000 : 150, zero_one, ties);
    for (const std::size_t levels : {2u, 10u, 200u}) {
      const Plain expected = plain_aucc(rows, levels);
      const Aucc found = aucc(rows.view(), levels, context);
      EXPECT_NEAR(found.published, expected.published, 1e-12 * std::abs(expected.published)) << "seed " << seed;
      EXPECT_NEAR(found.area, expected.area, 1e-10) << "seed " << seed;
      EXPECT_EQ(found.levels_missed, expected.missed) << "seed " << seed;
    }
  }
}

TEST(Aucc, IsExactOnAHandMadeCase) {
  core::RunContext context(1);
  // Two treated, two control; costs 1 for the treated. C: .5, .5, 1, 1; R: 1, 1, 1.5, 1.
  const Rows rows{{4, 3, 2, 1}, {1, 0, 1, 0}, {2, 0, 1, 1}, {1, 0, 1, 0}};
  const Aucc found = aucc(rows.view(), 2, context);
  EXPECT_DOUBLE_EQ(found.published, (0.0 + 1.0 + 1.0) / (1.0 * 3.0));
  EXPECT_DOUBLE_EQ(found.area, 0.5 * 1.0 * 0.5 + 0.5 * (1.0 + 1.5) * 0.5);
  EXPECT_EQ(found.levels_missed, 0u);
}

TEST(Aucc, LetsLaterRowsCatchUpLevelsThatOneRowJumpedOver) {
  core::RunContext context(1);
  // The first row costs everything: levels 2 and 3 fall to the rows after it, which change nothing.
  const Rows rows{{9, 8, 7, 6, 5}, {1, 1, 0, 0, 1}, {3, 0, 0, 0, 3}, {1, 0, 0, 0, 0}};
  const Aucc found = aucc(rows.view(), 4, context);
  EXPECT_DOUBLE_EQ(found.published, plain_aucc(rows, 4).published);
  EXPECT_EQ(found.levels_caught_up, 2u);
  EXPECT_EQ(found.levels_missed, 0u);
  const Rows few{{9, 8}, {1, 0}, {3, 1}, {1, 0}};
  EXPECT_EQ(aucc(few.view(), 10, context).levels_missed, 7u);  // two rows, two of the nine levels
}

TEST(Aucc, EqualScoresKeepTheOrderOfTheRows) {
  core::RunContext context(1);
  Rows rows{{1, 1, 1, 1}, {1, 0, 1, 0}, {2, 0, 0, 1}, {1, 0, 1, 0}};
  const double first = aucc(rows.view(), 4, context).published;
  EXPECT_DOUBLE_EQ(first, plain_aucc(rows, 4).published);
  std::swap(rows.revenue[0], rows.revenue[2]);
  EXPECT_NE(aucc(rows.view(), 4, context).published, first);
}

TEST(Aucc, NegativeTotalsAreSaidAndZeroTotalsHaveNoArea) {
  core::RunContext context(1);
  const Rows losing{{4, 3, 2, 1}, {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}};
  const Aucc found = aucc(losing.view(), 4, context);
  EXPECT_LT(found.revenue_total, 0.0);
  EXPECT_NEAR(found.published, plain_aucc(losing, 4).published, 1e-12);
  const Rows nothing{{4, 3}, {1, 0}, {1, 1}, {1, 0}};
  EXPECT_TRUE(std::isnan(aucc(nothing.view(), 4, context).published));
}

TEST(Aucc, RefusesRowsOfOneArmOnly) {
  core::RunContext context(1);
  const Rows rows{{4, 3}, {1, 1}, {1, 2}, {1, 1}};
  EXPECT_THROW((void)aucc(rows.view(), 4, context), core::Error);
}

TEST(Aucc, OfAResampleCountsEveryRowAsOftenAsItWasDrawn) {
  core::RunContext context(1);
  const SmallTrial small = small_trial(8, {.num_units = 3000, .zero_one = true});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Rewards rewards(rows, Estimator::hajek);
  const ResampleBlock block(rows, Weights::poisson, 4, 1);
  const BlockTotals totals = totals_of(block, rewards);
  std::vector<double> score;
  std::vector<std::uint8_t> treated;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    score.push_back(small.x[row]);
    treated.push_back(rows.arm[row] == 1 ? 1 : (rows.arm[row] == 0 ? 0 : 2));
  }
  const std::vector<CurveStep> steps =
      curve_steps({score, treated, rows.revenue, rows.cost, rows.weight}, rows, false, context);
  const AuccLanes lanes = aucc_lanes(block, totals, steps, 1, 0, 20);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    Rows both;
    std::vector<double> times;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (treated[row] > 1) continue;
      ResampleBlock::Tile tile;
      block.fill({&row, 1}, tile);
      both.score.push_back(score[row]);
      both.treated.push_back(treated[row]);
      both.revenue.push_back(rows.revenue[row]);
      both.cost.push_back(rows.cost[row]);
      times.push_back(tile[0][lane]);
    }
    const Plain expected = plain_aucc(both, 20, times);
    EXPECT_NEAR(lanes.area[lane], expected.area, 1e-10);
    EXPECT_NEAR(lanes.published[lane], expected.published, 1e-10);
  }
}

// Few rows cost much, so that one row goes over several of the levels: the rows behind it catch them up, in resamples
// as in the trial itself, and the figure stands inside its interval.
TEST(Aucc, HasAnIntervalAroundItWhereRowsJumpOverLevels) {
  SmallTrial small = small_trial(31, {.num_units = 4000});
  for (std::size_t unit = 0; unit < small.x.size(); ++unit) {
    const std::size_t arm = small.trial.arm[unit];
    core::RandomStream stream(5, core::stream_purpose("jumping rows"), unit);
    const bool buys = stream.uniform() < (arm == 0 ? 0.02 : 0.05 + 0.02 * small.x[unit]);
    small.trial.revenue[unit] = buys ? 10.0f : 0.0f;
    small.trial.cost[unit] = buys && arm > 0 ? static_cast<float>(std::exp(2.0 * stream.normal())) : 0.0f;
  }
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted prediction = predict(small.x, small.y, sees_x);
  EvaluationOptions options;
  options.budgets_per_unit = {0.2};
  options.num_resamples = 400;
  options.num_curve_points = 2;
  core::RunContext context(2, 3);
  const Evaluation evaluation = evaluate(
      {.rows = rows, .models = {{.name = "x", .prediction = prediction.outcomes()}}, .nuisance = prediction.outcomes()},
      options, context);
  const AuccFigures& found = evaluation.models[0].aucc[0];
  EXPECT_NE(found.note.find("jumped over"), std::string::npos) << found.note;
  ASSERT_TRUE(found.published.has_ends()) << found.note;
  EXPECT_LT(found.published.low, found.published.value);
  EXPECT_GT(found.published.high, found.published.value);
  // Close to the exact area, whose interval never missed it.
  EXPECT_NEAR(found.published.value - 0.5 * (found.published.low + found.published.high),
              found.area.value - 0.5 * (found.area.low + found.area.high), 0.1);
}

TEST(Ranking, AngleHasEarningWhileSavingFirstAndLosingWhileSavingLast) {
  const auto angle = [](double revenue, double cost) { return rank_score(revenue, cost, Ranking::angle); };
  EXPECT_GT(angle(1, -1), angle(2, 1));
  EXPECT_GT(angle(2, 1), angle(1, 1));
  EXPECT_GT(angle(1, 1), angle(-1, 1));
  EXPECT_GT(angle(-1, 1), angle(-1, -1));
  EXPECT_EQ(angle(0.0, 1.0), angle(-0.0, 1.0));
  // As published, two negatives are good.
  EXPECT_GT(rank_score(-2, -1, Ranking::published), rank_score(1, 1, Ranking::published));
  EXPECT_DOUBLE_EQ(rank_score(1.0, 1e-9, Ranking::published), 1e6);
  EXPECT_DOUBLE_EQ(rank_score(1.0, -1e-9, Ranking::published), -1e6);
}

TEST(Ranking, OrderFallsAndIsStableForAnySize) {
  core::RunContext context(3);
  for (const std::size_t size : {1u, 100u, 5'000u, 70'001u}) {
    std::vector<double> scores;
    core::RandomStream stream(size, core::stream_purpose("order test"), 0);
    for (std::size_t i = 0; i < size; ++i) {
      // Ties, and scores that differ in the last bits only.
      const double score = std::floor(200.0 * stream.normal()) / 8.0;
      scores.push_back(score + (i % 3 == 0 ? 1e-13 * std::floor(4.0 * stream.uniform()) : 0.0));
    }
    std::vector<std::uint32_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0u);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
    EXPECT_EQ(order_falling(scores, {}, context), expected);
    std::vector<std::size_t> places;
    for (const double share : {0.0, 0.1, 0.5, 0.5, 0.99})
      places.push_back(static_cast<std::size_t>(share * static_cast<double>(size)));
    places.push_back(size - 1);
    std::vector<std::uint32_t> at_places;
    for (const std::size_t place : places) at_places.push_back(expected[place]);
    EXPECT_EQ(rows_at_places(scores, places, context), at_places);
    EXPECT_EQ(rows_at_places(std::vector<double>(size, -0.0), places, context),
              std::vector<std::uint32_t>(places.begin(), places.end()));
  }
}

}  // namespace
}  // namespace dfcl::evaluate
