// SPDX-License-Identifier: Apache-2.0
//
// Grades of trials, features that tell the revenue, and what estimated propensities mend.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "dfcl/check/check.h"
#include "dfcl/check/propensities.h"
#include "dfcl/core/random.h"

namespace dfcl::check {
namespace {

// Two arms and three features; the first moves the odds of the second arm by exp(slope) for each standard deviation,
// and the revenue by `gain`.
data::Trial tilted_trial(std::size_t num_units, double slope, double gain, std::uint64_t seed) {
  data::Trial trial;
  trial.arms.labels = {"0", "1"};
  for (const char* name : {"a", "b", "c"})
    trial.features.columns.push_back({.name = name, .categorical = false, .levels = {}});
  trial.features.values = core::Matrix<float>(num_units, 3);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("tilted"), unit);
    for (std::size_t k = 0; k < 3; ++k) trial.features.values(unit, k) = static_cast<float>(random.normal());
    const double x = trial.features.values(unit, 0);
    const bool given = random.uniform() < 1.0 / (1.0 + std::exp(-slope * x));
    trial.arm.push_back(given ? 1 : 0);
    trial.revenue.push_back(static_cast<float>(gain * x + (given ? 0.5 : 0.0) + random.normal()));
    trial.cost.push_back(given ? 1.0f : 0.0f);
    trial.split.push_back(data::Split::train);
  }
  return trial;
}

data::Study with_shares() {
  data::Study study;
  study.arms.share = {{"0", 0.5}, {"1", 0.5}};
  return study;
}

TEST(Grade, SmallImbalanceCanBeAdjustedLargeCannot) {
  core::RunContext context(2);
  const CheckResult fair = check_trial(tilted_trial(40'000, 0.0, 1.0, 1), with_shares(), context);
  EXPECT_EQ(fair.grade, Grade::balanced) << "seed 1";
  const CheckResult tilted = check_trial(tilted_trial(40'000, 0.06, 1.0, 2), with_shares(), context);
  EXPECT_EQ(tilted.grade, Grade::adjustable) << "seed 2";
  EXPECT_TRUE(tilted.fit);
  EXPECT_LT(tilted.largest_difference, 0.1);
  ASSERT_FALSE(tilted.warnings.empty());
  EXPECT_EQ(tilted.warnings.front().kind, "imbalance");
  EXPECT_NE(tilted.warnings.front().text.find("Read with care"), std::string::npos);
  EXPECT_EQ(tilted.warnings.front().text.find("sample ratio"), std::string::npos);
  const CheckResult untested = check_trial(tilted_trial(40'000, 0.06, 1.0, 2), data::Study(), context);
  EXPECT_EQ(untested.grade, Grade::adjustable) << "seed 2, without designed shares";
  EXPECT_NE(untested.warnings.front().text.find("the sample ratio was not tested"), std::string::npos);
  const CheckResult broken = check_trial(tilted_trial(40'000, 0.3, 1.0, 3), with_shares(), context);
  EXPECT_EQ(broken.grade, Grade::unfit) << "seed 3";
  EXPECT_FALSE(broken.fit);
}

TEST(Grade, ASampleRatioFailureIsNeverAdjustable) {
  core::RunContext context(2);
  data::Study study = with_shares();
  study.arms.share = {{"0", 0.45}, {"1", 0.55}};
  const CheckResult result = check_trial(tilted_trial(40'000, 0.06, 1.0, 2), study, context);
  EXPECT_LT(result.largest_difference, 0.1);
  EXPECT_EQ(result.grade, Grade::unfit);
  ASSERT_EQ(result.problems.size(), 2u);
  EXPECT_EQ(result.problems[0].kind, "sample-ratio");
  EXPECT_EQ(result.problems[1].kind, "balance");
}

TEST(OutcomeLeaks, FeaturesThatTellTheRevenueAreFound) {
  core::RunContext context(2);
  data::Trial trial = tilted_trial(5000, 0.0, 2.0, 4);  // "a" explains 80 % of the revenue, and was there before
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.revenue[unit] < 2.0f) trial.revenue[unit] = 0.0f;
    // Not in a straight line, so that no correlation shows it.
    trial.features.values(unit, 1) = trial.revenue[unit] * (unit % 2 == 0 ? 1.0f : -1.0f);
    trial.features.values(unit, 2) = trial.revenue[unit] > 0.0f && unit % 7 == 0 ? 1.0f : 0.0f;
  }
  const CheckResult result = check_trial(trial, with_shares(), context);
  ASSERT_EQ(result.suspects.size(), 2u) << "seed 4";
  EXPECT_EQ(result.suspects[0].name, "b");
  EXPECT_EQ(result.suspects[0].of, SuspectOf::revenue);
  EXPECT_NE(result.suspects[0].why.find("explains"), std::string::npos);
  EXPECT_EQ(result.suspects[1].name, "c");
  EXPECT_NE(result.suspects[1].why.find("there is revenue"), std::string::npos);
  EXPECT_EQ(result.grade, Grade::unfit);
}

TEST(Propensities, AreThoseOfALogisticDrawAndBalanceTheFeatures) {
  core::RunContext context(2);
  const data::Trial trial = tilted_trial(40'000, 0.08, 1.0, 5);
  const core::Column<float> propensity = estimate_propensities(trial, context).propensity;
  double weighted[2] = {0.0, 0.0};
  double weight[2] = {0.0, 0.0};
  double error = 0.0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    const double x = trial.features.values(unit, 0);
    const double given = 1.0 / (1.0 + std::exp(-0.08 * x));
    error += std::fabs(propensity[unit] - (trial.arm[unit] == 1 ? given : 1.0 - given));
    weighted[trial.arm[unit]] += x / propensity[unit];
    weight[trial.arm[unit]] += 1.0 / propensity[unit];
  }
  // Four coefficients, each with a standard error of 0.01 and a slope of 1/4, take 0.005 apart from higher terms.
  EXPECT_LT(error / static_cast<double>(trial.num_units()), 0.01) << "seed 5";
  EXPECT_NEAR(weighted[0] / weight[0], weighted[1] / weight[1], 0.003);
  for (const int threads : {1, 8}) {
    core::RunContext other(threads);
    const core::Column<float> again = estimate_propensities(trial, other).propensity;
    EXPECT_TRUE(std::equal(again.begin(), again.end(), propensity.begin()));
  }
}

// Three arms with unequal shares and a category: the weights of each arm add up to all units.
TEST(Propensities, OfSeveralArmsAddUp) {
  core::RunContext context(2);
  data::Trial trial = tilted_trial(9000, 0.0, 1.0, 6);
  trial.arms.labels = {"0", "1", "2"};
  trial.features.columns[1] = {.name = "b", .categorical = true, .levels = {"other", "x", "y"}};
  std::vector<double> weight(3);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    core::RandomStream random(6, core::stream_purpose("three arms"), unit);
    trial.features.values(unit, 1) = random.bernoulli(0.3) ? 2.0f : 1.0f;
    const double u = random.uniform() + (trial.features.values(unit, 1) == 2.0f ? 0.05 : 0.0);
    trial.arm[unit] = u < 0.2 ? 0 : u < 0.5 ? 1 : 2;
  }
  const core::Column<float> propensity = estimate_propensities(trial, context).propensity;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) weight[trial.arm[unit]] += 1.0 / propensity[unit];
  for (const double sum : weight) EXPECT_NEAR(sum / 9000.0, 1.0, 0.01) << "seed 6";
}

// A trial of 1,200 features, of which the last few tilt the arms: those that differ most are taken, and balanced.
TEST(Propensities, OfMoreThanAThousandColumnsTakeThoseThatDiffer) {
  core::RunContext context(2);
  constexpr std::size_t kFeatures = 1200;
  constexpr std::size_t kUnits = 2500;
  data::Trial trial;
  trial.arms.labels = {"0", "1"};
  trial.ids = data::RowNumbers{1, kUnits};
  trial.features.values = core::Matrix<float>(kUnits, kFeatures);
  for (std::size_t k = 0; k < kFeatures; ++k)
    trial.features.columns.push_back({.name = "x" + std::to_string(k), .categorical = false, .levels = {}});
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    core::RandomStream random(7, core::stream_purpose("many columns"), unit);
    double tilt = 0.0;
    for (std::size_t k = 0; k < kFeatures; ++k) {
      trial.features.values(unit, k) = static_cast<float>(random.normal());
      if (k + 3 >= kFeatures) tilt += 0.4 * static_cast<double>(trial.features.values(unit, k));
    }
    trial.arm.push_back(random.uniform() < 1.0 / (1.0 + std::exp(-tilt)) ? 1 : 0);
    trial.revenue.push_back(1.0f);
    trial.cost.push_back(0.0f);
    trial.split.push_back(data::Split::train);
  }
  CheckOptions options;
  EXPECT_EQ(options.max_columns, 1000u);
  options.max_columns = 50;  // the same way in a twentieth of the time
  const PropensityEstimate estimate = estimate_propensities(trial, context, options);
  EXPECT_EQ(estimate.scores->num_columns(), 50u);
  for (std::size_t k = kFeatures - 3; k < kFeatures; ++k) {
    double sum[2] = {0.0, 0.0}, weight[2] = {0.0, 0.0}, plain[2] = {0.0, 0.0}, count[2] = {0.0, 0.0};
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      const std::size_t arm = trial.arm[unit];
      const double x = static_cast<double>(trial.features.values(unit, k));
      sum[arm] += x / static_cast<double>(estimate.propensity[unit]);
      weight[arm] += 1.0 / static_cast<double>(estimate.propensity[unit]);
      plain[arm] += x;
      count[arm] += 1.0;
    }
    EXPECT_GT(plain[1] / count[1] - plain[0] / count[0], 0.2) << "seed 7, feature " << k;
    EXPECT_NEAR(sum[1] / weight[1], sum[0] / weight[0], 0.03) << "seed 7, feature " << k;
  }
  std::vector<float> columns(50);
  std::vector<double> probability(2);
  estimate.scores->look_at(trial, estimate.scores->draw_of(0), columns, probability);
  EXPECT_NEAR(probability[0] + probability[1], 1.0, 1e-12);
}

}  // namespace
}  // namespace dfcl::check
