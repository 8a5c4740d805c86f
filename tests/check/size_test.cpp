// SPDX-License-Identifier: Apache-2.0
//
// Do the tests of the assignment reject as often as they say, and do they catch what they should?
#include <gtest/gtest.h>

#include "dfcl/check/balance.h"
#include "dfcl/check/check.h"
#include "dfcl/check/sample_ratio.h"
#include "tests/check/fair_trial.h"

namespace dfcl::check {
namespace {

const std::vector<double> kFiveArms(5, 0.2);

Balance balance_of(const data::Trial& trial, core::RunContext& context) {
  const Draws draws = draws_of(trial, groups_of(trial, context), context);
  return BalanceTest(trial, draws, {}, context).result(std::vector<bool>(trial.features.num_features()));
}

// Rejections at .05 over 1,000 trials have a standard deviation of 0.7 points.
TEST(JointBalance, RejectsAboutFivePercentOfFairTrialsWithManyFeatures) {
  core::RunContext context(1);
  const std::vector<double> shares = {0.4, 0.15, 0.15, 0.15, 0.15};
  int rejected = 0;
  int smallest_rejected = 0;
  for (std::uint64_t table = 0; table < 20; ++table) {
    data::Trial trial = fair_trial(1500, 107, shares, 100 + table);
    for (std::uint64_t draw = 0; draw < 50; ++draw) {
      draw_arms(trial, shares, 1000 * table + draw);
      const Balance balance = balance_of(trial, context);
      ASSERT_TRUE(balance.run);
      ASSERT_EQ(balance.method, BalanceMethod::joint);
      rejected += balance.p < 0.05 ? 1 : 0;
      smallest_rejected += balance.smallest_p < 0.05 ? 1 : 0;
    }
  }
  RecordProperty("rejected", rejected);
  RecordProperty("smallest_rejected", smallest_rejected);
  EXPECT_GE(rejected, 35) << "seeds 100..119 and 0..19049";
  EXPECT_LE(rejected, 67) << "seeds 100..119 and 0..19049";
  EXPECT_LE(smallest_rejected, 67) << "seeds 100..119 and 0..19049";  // Bonferroni may be below its level
}

TEST(JointBalance, CatchesASmallShiftOfOneArm) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(10'000, 107, kFiveArms, 7);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.arm[unit] == 3) trial.features.values(unit, 9) += 0.25f;  // a quarter of its standard deviation
  }
  const CheckResult result = check_trial(trial, study_with_shares(kFiveArms), context);
  EXPECT_LT(result.balance.p, 0.05) << "seed 7";  // one feature of 107: diluted in the joint test
  EXPECT_LT(result.balance.smallest_p, 0.001) << "seed 7";
  EXPECT_FALSE(result.fit);
  EXPECT_TRUE(result.suspects.empty());
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_EQ(result.problems[0].kind, "balance");
  EXPECT_NE(result.problems[0].text.find("x9 (+0.2"), std::string::npos) << result.problems[0].text;
  EXPECT_EQ(result.balance.features[9].arm, "3");
  EXPECT_NEAR(result.balance.features[9].difference, 0.25, 0.08);
}

TEST(JointBalance, CatchesAnImbalanceSpreadOverAllFeatures) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(10'000, 107, kFiveArms, 8);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.arm[unit] != 1) continue;
    for (std::size_t feature = 0; feature < 107; feature += 9) trial.features.values(unit, feature) += 0.08f;
  }
  EXPECT_LT(balance_of(trial, context).p, 0.001) << "seed 8";
}

TEST(JointBalance, HoldsWhenTheCovarianceIsSampled) {
  core::RunContext context(1);
  int rejected = 0;
  data::Trial trial = fair_trial(12'000, 30, kFiveArms, 11);
  CheckOptions options;
  options.covariance_draws = 4000;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    draw_arms(trial, kFiveArms, draw);
    const Draws draws = draws_of(trial, groups_of(trial, context), context);
    const Balance balance = BalanceTest(trial, draws, options, context).result(std::vector<bool>(30));
    rejected += balance.p < 0.05 ? 1 : 0;
  }
  EXPECT_GE(rejected, 3) << "seeds 11 and 0..199";
  EXPECT_LE(rejected, 19) << "seeds 11 and 0..199";
}

TEST(SampleRatio, RejectsAboutFivePercentOfFairTrials) {
  core::RunContext context(1);
  const std::vector<double> shares = {0.5, 0.3, 0.2};
  const data::Study study = study_with_shares(shares);
  data::Trial trial = fair_trial(3000, 0, shares, 1);
  trial.times = {"1", "2", "3"};
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    trial.time.push_back(static_cast<std::uint32_t>(unit % 3));
  int rejected = 0;
  int pooled_rejected = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    draw_arms(trial, shares, seed);
    const Draws draws = draws_of(trial, groups_of(trial, context), context);
    const SampleRatio ratio = sample_ratio(count_draws(trial, draws, context), trial, study, draws.drawn);
    ASSERT_TRUE(ratio.run && ratio.pooled_run);
    rejected += ratio.p < 0.05 ? 1 : 0;
    pooled_rejected += ratio.pooled_p < 0.05 ? 1 : 0;
  }
  EXPECT_GE(rejected, 35) << "seeds 0..999";
  EXPECT_LE(rejected, 67) << "seeds 0..999";
  EXPECT_GE(pooled_rejected, 35) << "seeds 0..999";
  EXPECT_LE(pooled_rejected, 67) << "seeds 0..999";
}

TEST(SampleRatio, CatchesFiftyOneToFortyNineOfAHundredThousand) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(100'000, 1, {0.51, 0.49}, 3);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.arm[unit] = unit % 100 < 51 ? 0 : 1;
  const CheckResult result = check_trial(trial, study_with_shares({0.5, 0.5}), context);
  EXPECT_NEAR(result.sample_ratio.chi_square, 40.0, 1e-9);
  EXPECT_EQ(result.sample_ratio.degrees, 1.0);
  EXPECT_NEAR(result.sample_ratio.p / 2.5396285894e-10, 1.0, 1e-6);  // expected.py
  EXPECT_FALSE(result.fit);
  EXPECT_EQ(result.problems[0].kind, "sample-ratio");
}

TEST(SampleRatio, CatchesOneBadDayThatTheWholeHides) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(40'000, 1, {0.5, 0.5}, 4);
  for (int day = 0; day < 20; ++day) trial.times.push_back(std::to_string(day));
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    trial.time.push_back(static_cast<std::uint32_t>(unit % 20));
    if (unit % 20 == 6 && unit % 11 == 0) trial.arm[unit] = 1;  // 5 % of that day's control lost to arm 1
    if (unit % 20 == 13 && unit % 11 == 0) trial.arm[unit] = 0;
    if (unit % 20 == 6 && unit % 7 == 0) trial.arm[unit] = 1;
    if (unit % 20 == 13 && unit % 7 == 0) trial.arm[unit] = 0;
  }
  const CheckResult result = check_trial(trial, study_with_shares({0.5, 0.5}), context);
  EXPECT_GT(result.sample_ratio.p, 0.01) << "seed 4";
  EXPECT_LT(std::min(result.sample_ratio.times[6].p, result.sample_ratio.times[13].p), 5e-5) << "seed 4";
  EXPECT_FALSE(result.fit);
  EXPECT_NE(result.problems[0].text.find("At time"), std::string::npos);
}

TEST(SampleRatio, SaysWhyItIsNotRun) {
  core::RunContext context(1);
  const data::Trial trial = fair_trial(3000, 2, {0.5, 0.5}, 5);
  data::Study study;
  EXPECT_NE(check_trial(trial, study, context).sample_ratio.why_not.find("[arms] share"), std::string::npos);
  study.arms.share = {{"0", 0.5}};
  EXPECT_NE(check_trial(trial, study, context).sample_ratio.why_not.find("arm '1'"), std::string::npos);
  study.arms.share = {{"0", 0.5}, {"1", 0.2}};
  const CheckResult result = check_trial(trial, study, context);
  EXPECT_NE(result.sample_ratio.why_not.find("0.7"), std::string::npos);
  EXPECT_TRUE(result.fit);
  EXPECT_EQ(result.warnings[0].kind, "sample-ratio");
}

TEST(SampleRatio, ProposesSharesThatAddUp) {
  core::RunContext context(1);
  const data::Trial trial = fair_trial(3000, 2, {0.3, 0.3, 0.4}, 5);
  const std::string hint = check_trial(trial, data::Study(), context).warnings[0].hint;
  EXPECT_NE(hint.find(R"({ "0" = 0.3333, "1" = 0.3333, "2" = 0.3334 })"), std::string::npos) << hint;
}

}  // namespace
}  // namespace dfcl::check
