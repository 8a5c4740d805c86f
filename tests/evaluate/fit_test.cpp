// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/fit.h"

#include <gtest/gtest.h>

#include <cmath>

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
  // Both curves end at the arm's mean effect.
  const double random = good.auuc[0] - good.qini[0];
  EXPECT_NEAR(random, 0.5 * (2.0 * (0.3 + 0.25) - 0.4), 0.05);
}

}  // namespace
}  // namespace dfcl::evaluate
