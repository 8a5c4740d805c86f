// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/evaluate/areas/qini.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

TEST(Fit, IsTheMeanSquareAndTheLogLossOfWhatWasSeen) {
  core::RunContext context(1);
  const std::vector<double> predicted = {0.2, 0.9, 0.5};
  const std::vector<float> observed = {0.0f, 1.0f, 1.0f};
  const OutcomeFit fit = outcome_fit(predicted, observed, context);
  EXPECT_NEAR(fit.mse, (0.04 + 0.01 + 0.25) / 3.0, 1e-15);
  EXPECT_NEAR(*fit.log_loss, -(std::log(0.8) + std::log(0.9) + std::log(0.5)) / 3.0, 1e-15);
  EXPECT_FALSE(outcome_fit(predicted, std::vector<float>{0.0f, 2.0f, 1.0f}, context).log_loss.has_value());
}

TEST(Calibration, OfTheTruthHoldsInEveryTenth) {
  core::RunContext context(1);
  const SmallTrial small = small_trial(21, {.num_units = 20'000});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted truth = predict(small.x, small.y, true_response);
  const std::vector<CalibrationGroup> groups =
      calibration(factual(truth.outcomes().revenue, rows), rows.revenue, rows, 0.999, context);
  ASSERT_EQ(groups.size(), 10u);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(groups[i].num_units, 2000u);
    EXPECT_GE(groups[i].predicted, groups[i].observed.low);
    EXPECT_LE(groups[i].predicted, groups[i].observed.high);
    if (i > 0) {
      EXPECT_GT(groups[i].predicted, groups[i - 1].predicted);
    }
  }
}

TEST(Calibration, IsWiderWhereClustersShareTheirNoise) {
  core::RunContext context(1);
  const SmallTrial small = small_trial(22, {.num_units = 4'000, .units_per_cluster = 10});
  TrialRows rows = rows_of(small.trial, std::nullopt);
  const std::vector<double> flat(rows.size(), 1.0);
  const auto width = [&] {
    const CalibrationGroup group = calibration(flat, rows.revenue, rows, 0.95, context).front();
    return group.observed.high - group.observed.low;
  };
  const double by_cluster = width();
  rows.cluster.clear();
  EXPECT_GT(by_cluster, 1.3 * width());
}

TEST(Qini, OfARankingAgainstItsReverse) {
  core::RunContext context(1);
  const SmallTrial small = small_trial(23, {.num_units = 20'000});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  std::vector<double> effect, reversed;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    effect.push_back(small.x[row] * small.y[row]);
    reversed.push_back(-effect.back());
  }
  const ResampleBlock ones = ResampleBlock::ones();
  const QiniLanes good = qini_lanes(ones, qini_rows(rows, effect, 2, context));
  const QiniLanes bad = qini_lanes(ones, qini_rows(rows, reversed, 2, context));
  EXPECT_GT(good.qini[0], 0.02);
  EXPECT_LT(bad.qini[0], -0.02);
  EXPECT_GT(good.auuc[0], bad.auuc[0]);
  // Both curves end at the arm's mean effect; half of the weighted units are treated.
  const double random = good.auuc[0] - 2.0 * good.qini[0];
  EXPECT_NEAR(random, 0.5 * (2.0 * (0.3 + 0.25) - 0.4), 0.05);
}

// scikit-uplift's qini_auc_score, written again: curves over distinct scores, areas above the straight line, divided by
// that of the ranking that knows the outcomes.
double scikit_qini(const std::vector<double>& score, const std::vector<int>& treated, const std::vector<double>& y) {
  const auto area = [&](const std::vector<double>& by) {
    std::vector<std::size_t> order(by.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return by[a] > by[b]; });
    double n[2] = {0, 0}, sum[2] = {0, 0}, last_x = 0, last_y = 0, total = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      n[treated[order[i]]] += 1;
      sum[treated[order[i]]] += y[order[i]];
      if (i + 1 < order.size() && by[order[i + 1]] == by[order[i]]) continue;
      const double value = sum[1] - (n[0] > 0 ? sum[0] * n[1] / n[0] : 0.0);
      total += 0.5 * (last_y + value) * (n[0] + n[1] - last_x);
      last_x = n[0] + n[1];
      last_y = value;
    }
    return total - 0.5 * last_x * last_y;
  };
  std::vector<double> best;
  for (std::size_t i = 0; i < y.size(); ++i) best.push_back(treated[i] != 0 ? y[i] : -y[i]);
  return area(score) / area(best);
}

TEST(Qini, IsThatOfScikitUplift) {
  core::RunContext context(1);
  SmallTrial small = small_trial(24, {.num_units = 20'000, .zero_one = true});
  std::vector<double> score, y;
  std::vector<int> treated;
  for (std::size_t unit = 0; unit < small.x.size(); ++unit) {
    const bool is_control = unit % 3 == 0;  // arms of different sizes
    small.trial.arm[unit] = is_control ? 0 : 2;
    core::RandomStream stream(6, core::stream_purpose("qini test"), unit);
    const double chance = 0.1 + (is_control ? 0.0 : 0.2 * small.x[unit] * small.y[unit]);
    small.trial.revenue[unit] = stream.bernoulli(chance) ? 1.0f : 0.0f;
    score.push_back(small.x[unit] * small.y[unit]);
    treated.push_back(is_control ? 0 : 1);
    y.push_back(static_cast<double>(small.trial.revenue[unit]));
  }
  small.trial.arm[0] = small.trial.arm[3] = 1;  // every arm has units
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const std::vector<QiniRow> ranked = qini_rows(rows, score, 2, context);
  const double best = perfect_qini(ranked, context);
  std::vector<double> own = score;  // of the two arms alone
  for (const long unit : {3, 0}) {
    own.erase(own.begin() + unit);
    treated.erase(treated.begin() + unit);
    y.erase(y.begin() + unit);
  }
  const double expected = scikit_qini(own, treated, y);
  EXPECT_GT(expected, 0.01);
  EXPECT_NEAR(ranked_qini(ranked, score, context) / best, expected, 1e-9 * expected);
  // Resamples take a hundred steps instead of every row.
  EXPECT_NEAR(qini_lanes(ResampleBlock::ones(), ranked).qini[0] / best, expected, 0.02 * expected);
  const std::vector<RankedPoint> curve = qini_curve(ranked);
  ASSERT_EQ(curve.size(), kQiniSteps + 1);
  EXPECT_EQ(curve.front().value, 0.0);
  EXPECT_DOUBLE_EQ(curve.back().value, curve.back().random);
}

}  // namespace
}  // namespace dfcl::evaluate
