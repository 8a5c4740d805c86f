// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/random.h"

namespace dfcl::evaluate {
namespace {

TEST(Intervals, FiellerEndsAreWhereTheQuotientCanJustBeTrue) {
  const core::Quotient quotient{2.0, 1.0, 0.04, 0.01, 0.005};
  const Interval interval = core::fieller_interval(quotient, core::normal_critical(0.95));
  EXPECT_DOUBLE_EQ(interval.value, 2.0);
  for (const double end : {interval.low, interval.high}) {
    const double distance = quotient.numerator - end * quotient.denominator;
    const double variance =
        quotient.numerator_variance - 2.0 * end * quotient.covariance + end * end * quotient.denominator_variance;
    EXPECT_NEAR(std::abs(distance) / std::sqrt(variance), 1.959964, 1e-5);
  }
  EXPECT_LT(interval.low, 2.0);
  EXPECT_GT(interval.high, 2.0);
}

TEST(Intervals, FiellerClaimsNothingWhereTheCostCannotBeToldFromZero) {
  const Interval interval = core::fieller_interval({2.0, 1.0, 0.04, 0.5, 0.0}, core::normal_critical(0.95));
  EXPECT_DOUBLE_EQ(interval.value, 2.0);
  EXPECT_FALSE(interval.has_ends());
}

TEST(Intervals, UndefinedResamplesAreLeftOutUnlessThereAreMany) {
  std::vector<double> resamples(100, std::nan(""));
  for (std::size_t i = 0; i < 95; ++i) resamples[i] = static_cast<double>(i);
  EXPECT_TRUE(percentile_interval(40.0, resamples, 0.9).has_ends());
  EXPECT_TRUE(std::isfinite(standard_deviation(resamples, SeriesKind::resamples)));
  for (std::size_t i = 80; i < 95; ++i) resamples[i] = std::nan("");
  EXPECT_FALSE(percentile_interval(40.0, resamples, 0.9).has_ends());
  EXPECT_TRUE(std::isnan(standard_deviation(resamples, SeriesKind::resamples)));
}

TEST(Intervals, SimultaneousValueGrowsWithTheNumberOfIndependentFigures) {
  std::vector<std::vector<double>> figures(6, std::vector<double>(20'000));
  core::RandomStream stream(1, core::stream_purpose("intervals test"), 0);
  for (auto& figure : figures) {
    for (double& value : figure) value = stream.normal();
  }
  const std::vector<double> zeros(6, 0.0);
  const std::vector<double> ones(6, 1.0);
  const std::vector<std::span<const double>> all(figures.begin(), figures.end());
  // P(max of six |t| < c) = 0.95 at c = 2.6310 (0.95^(1/6) two-sided).
  EXPECT_NEAR(simultaneous_critical(zeros, ones, all, 0.95), 2.631, 0.05);
  const std::vector<std::span<const double>> one(1, figures[0]);
  EXPECT_NEAR(simultaneous_critical({zeros.data(), 1}, {ones.data(), 1}, one, 0.95), 1.96, 0.04);
  EXPECT_NEAR(bonferroni_critical(6, 0.95), 2.6383, 1e-3);
}

TEST(Intervals, PValuesOfNoDifferenceAreOne) {
  EXPECT_DOUBLE_EQ(two_sided_p(0.0, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(percentile_p(std::vector<double>(50, 0.0)), 1.0);
  EXPECT_NEAR(two_sided_p(1.959964, 1.0), 0.05, 1e-6);
}

}  // namespace
}  // namespace dfcl::evaluate
