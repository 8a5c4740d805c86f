// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/check/fair_trial.h"

namespace dfcl::check {
namespace {

const std::vector<double> kTwoArms = {0.5, 0.5};
const std::vector<double> kThreeArms = {0.4, 0.3, 0.3};

bool mentions(const std::vector<Finding>& findings, const std::string& kind) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.kind == kind; });
}

// Six units of control, eight of the other arm. The expected values below are from expected.py.
data::Trial small_trial() {
  data::Trial trial;
  trial.arms.labels = {"no", "yes"};
  trial.revenue = {1, 3, 2, 5, 4, 9, 2, 2.5, 7, 11, 3, 8, 4.5, 6};
  trial.arm.assign(14, 1);
  std::fill(trial.arm.begin(), trial.arm.begin() + 6, 0);
  trial.cost.assign(14, 0.25f);
  trial.features.values = core::Matrix<float>(14, 0);
  trial.features.values.resize(14);
  trial.ids = data::RowNumbers{1, 14};
  return trial;
}

TEST(ArmMeans, AreThoseOfWelch) {
  core::RunContext context(1);
  const CheckResult result = check_trial(small_trial(), {}, context);
  ASSERT_EQ(result.arms.size(), 2u);
  EXPECT_EQ(result.arms[0].num_units, 6u);
  EXPECT_NEAR(result.arms[0].share, 6.0 / 14.0, 1e-12);
  EXPECT_NEAR(result.arms[0].revenue.value, 4.0, 1e-12);
  EXPECT_NEAR(result.arms[0].revenue.low, 1.0317477704, 1e-6);
  EXPECT_NEAR(result.arms[0].revenue.high, 6.9682522296, 1e-6);
  EXPECT_FALSE(result.arms[0].revenue_difference.has_value());
  ASSERT_TRUE(result.arms[1].revenue_difference.has_value());
  EXPECT_NEAR(result.arms[1].revenue_difference->interval.value, 1.5, 1e-12);
  EXPECT_NEAR(result.arms[1].revenue_difference->interval.low, -1.9903149945, 1e-6);
  EXPECT_NEAR(result.arms[1].revenue_difference->interval.high, 4.9903149945, 1e-6);
  EXPECT_NEAR(result.arms[1].revenue_difference->p, 0.36593288833, 1e-8);
  EXPECT_EQ(result.arms[1].cost_difference->interval.low, 0.0);
  EXPECT_EQ(result.arms[1].cost_difference->p, 1.0);
}

TEST(ArmMeans, KnownPricesAreExactAndHaveNoInterval) {
  core::RunContext context(1);
  data::Trial trial = small_trial();
  trial.cost_facts = {data::CostKind::price, {0.0, 0.15}};
  for (std::size_t unit = 0; unit < 14; ++unit) trial.cost[unit] = trial.arm[unit] == 1 ? 0.15f : 0.0f;
  ArmSummary arm = check_trial(trial, {}, context).arms[1];
  EXPECT_EQ(arm.cost.value, 0.15);
  EXPECT_FALSE(arm.cost.has_ends());
  EXPECT_EQ(arm.cost_difference->interval.value, 0.15);
  EXPECT_FALSE(arm.cost_difference->interval.has_ends());

  trial.cost_facts.kind = data::CostKind::rate;  // 15 % of revenue, whose mean is estimated
  arm = check_trial(trial, {}, context).arms[1];
  EXPECT_DOUBLE_EQ(arm.cost.value, 0.15 * arm.revenue.value);
  EXPECT_DOUBLE_EQ(arm.cost.low, 0.15 * arm.revenue.low);

  trial.cost_facts.kind = data::CostKind::price_if;
  trial.cost[6] = trial.cost[7] = 0.0f;  // two of eight did not redeem
  arm = check_trial(trial, {}, context).arms[1];
  EXPECT_DOUBLE_EQ(arm.cost.value, 0.15 * 0.75);
  EXPECT_TRUE(arm.cost.has_ends());
}

TEST(ArmMeans, GoByClusterWhereOneIsDeclared) {
  core::RunContext context(1);
  data::Trial trial = small_trial();
  trial.cluster = {0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  trial.num_clusters = 11;
  const CheckResult result = check_trial(trial, {}, context);
  EXPECT_EQ(result.drawn, Drawn::cluster);
  EXPECT_EQ(result.arms[0].num_clusters, 3u);
  EXPECT_NEAR(result.arms[0].revenue.low, -1.6918745504, 1e-6);
  EXPECT_NEAR(result.arms[0].revenue.high, 9.6918745504, 1e-6);
}

TEST(ArmMeans, AreWeightedByInversePropensity) {
  core::RunContext context(1);
  data::Trial trial = small_trial();
  trial.propensity.assign(14, 0.5f);
  const std::vector<float> control = {.5f, .25f, .5f, .25f, .5f, .2f};
  std::copy(control.begin(), control.end(), trial.propensity.begin());
  const CheckResult result = check_trial(trial, {}, context);
  EXPECT_TRUE(result.weighted);
  EXPECT_NEAR(result.arms[0].revenue.value, 4.7894736842, 1e-6);
  EXPECT_NEAR(result.arms[0].revenue.low, 1.2011028762, 1e-5);
  EXPECT_NEAR(result.arms[0].revenue.high, 8.3778444923, 1e-5);
}

TEST(Check, PassesAFairTrial) {
  core::RunContext context(1);
  const CheckResult result = check_trial(fair_trial(20'000, 27, kThreeArms, 1), study_with_shares(kThreeArms), context);
  EXPECT_TRUE(result.fit) << "seed 1: " << (result.problems.empty() ? "" : result.problems[0].text);
  EXPECT_TRUE(result.suspects.empty());
  EXPECT_EQ(result.drawn, Drawn::unit);
  EXPECT_NEAR(result.columns[4].missing_share, 0.1, 0.01);
  EXPECT_EQ(result.columns[0].missing_share, 0.0);
}

// Copies of a row in one cluster carry no information: every test and interval must stay what it was.
TEST(Clusters, OfCopiesChangeNothing) {
  core::RunContext context(1);
  const data::Study study = study_with_shares(kThreeArms);
  const data::Trial single = fair_trial(3000, 18, kThreeArms, 2);
  data::Trial copies = repeat_rows(single, 4);
  for (std::size_t unit = 0; unit < copies.num_units(); ++unit) {
    copies.cluster.push_back(static_cast<std::uint32_t>(unit / 4));
  }
  copies.num_clusters = single.num_units();
  const CheckResult once = check_trial(single, study, context);
  const CheckResult four = check_trial(copies, study, context);
  EXPECT_EQ(four.drawn, Drawn::cluster);
  EXPECT_EQ(four.num_draws, 3000u);
  EXPECT_NEAR(four.sample_ratio.chi_square, once.sample_ratio.chi_square, 1e-9);
  for (std::size_t arm = 0; arm < 3; ++arm) {
    EXPECT_NEAR(four.arms[arm].revenue.low, once.arms[arm].revenue.low, 1e-9);
    EXPECT_NEAR(four.arms[arm].cost.high, once.arms[arm].cost.high, 1e-9);
  }
  EXPECT_NEAR(four.arms[2].revenue_difference->p, once.arms[2].revenue_difference->p, 1e-9);
  // Limits of columns come from a sample of rows, so that four copies of a rare value may pass where one does not.
  EXPECT_NEAR(four.balance.features[0].p, once.balance.features[0].p, 1e-3);
  EXPECT_NEAR(four.balance.features[0].difference, once.balance.features[0].difference, 1e-3);
}

TEST(Clusters, WithMixedArmsAreSaidNotToBeTheDraw) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(6000, 9, kTwoArms, 3);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    trial.cluster.push_back(static_cast<std::uint32_t>(unit / 3));
  trial.num_clusters = 2000;
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.drawn, Drawn::unit);
  EXPECT_EQ(result.num_draws, 6000u);
  EXPECT_GT(result.num_mixed_groups, 1400u);
  EXPECT_TRUE(mentions(result.warnings, "cluster"));
}

// Households of two over three days, a new arm for the household each day.
TEST(Clusters, DrawnAnewEachTimeAreTheDrawAtThatTime) {
  core::RunContext context(1);
  data::Trial trial = repeat_rows(fair_trial(3000, 9, kTwoArms, 13), 2);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    trial.cluster.push_back(static_cast<std::uint32_t>(unit / 6));
    trial.time.push_back(static_cast<std::uint32_t>(unit / 2 % 3));
  }
  trial.num_clusters = 1000;
  trial.times = {"a", "b", "c"};
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.drawn, Drawn::cluster_and_time);
  EXPECT_EQ(result.num_draws, 3000u);
  EXPECT_EQ(result.sample_ratio.times[2].num_draws, 1000u);
  EXPECT_TRUE(result.sample_ratio.pooled_run);
  EXPECT_TRUE(result.fit) << "seed 13";
}

TEST(Clusters, WithAFewMixedArmsStayTheDraw) {
  core::RunContext context(1);
  data::Trial trial = repeat_rows(fair_trial(3000, 9, kTwoArms, 4), 2);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    trial.cluster.push_back(static_cast<std::uint32_t>(unit / 2));
  trial.num_clusters = 3000;
  for (std::size_t unit = 0; unit < 40; unit += 2) trial.arm[unit] = static_cast<std::uint8_t>(1 - trial.arm[unit]);
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.drawn, Drawn::cluster);
  EXPECT_EQ(result.num_mixed_groups, 20u);
  EXPECT_TRUE(mentions(result.warnings, "cluster"));
}

// Shops come back every day with a new arm: rows are the draws, and the mean's interval is by shop.
TEST(Times, WithArmsDrawnAnewGoByRowAndTheIntervalsByCluster) {
  core::RunContext context(1);
  data::Trial trial = repeat_rows(fair_trial(2000, 9, kTwoArms, 5), 5);
  draw_arms(trial, kTwoArms, 55);
  std::vector<std::int64_t> ids;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    ids.push_back(static_cast<std::int64_t>(unit / 5));
    trial.time.push_back(static_cast<std::uint32_t>(unit % 5));
  }
  trial.times = {"1", "2", "3", "4", "5"};
  data::Study no_id = study_with_shares(kTwoArms);
  no_id.columns.id.reset();
  const CheckResult rows_alone = check_trial(trial, no_id, context);
  trial.ids = data::Ids(ids);
  for (const std::int64_t id : ids) trial.cluster.push_back(static_cast<std::uint32_t>(id));
  trial.num_clusters = 2000;
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.drawn, Drawn::cluster_and_time);
  EXPECT_EQ(result.num_draws, 10'000u);
  EXPECT_EQ(result.sample_ratio.times.size(), 5u);
  EXPECT_TRUE(result.sample_ratio.pooled_run);
  EXPECT_EQ(result.sample_ratio.pooled_degrees, 5.0);
  EXPECT_EQ(result.duplicates.num_rows, 0u);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  EXPECT_GT(width(result.arms[0].revenue), 1.3 * width(rows_alone.arms[0].revenue));
  // A day's arm says nothing of the next day's, so the difference is as precise as if all rows stood alone.
  EXPECT_NEAR(
      width(result.arms[1].revenue_difference->interval) / width(rows_alone.arms[1].revenue_difference->interval), 1.0,
      0.1);
  EXPECT_TRUE(mentions(rows_alone.warnings, "time"));
}

TEST(Times, WithKeptArmsGoByCluster) {
  core::RunContext context(1);
  data::Trial trial = repeat_rows(fair_trial(3000, 9, kTwoArms, 6), 3);
  std::vector<std::int64_t> ids;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    ids.push_back(static_cast<std::int64_t>(unit / 3));
    trial.cluster.push_back(static_cast<std::uint32_t>(unit / 3));
    trial.time.push_back(static_cast<std::uint32_t>(unit % 3));
  }
  trial.num_clusters = 3000;
  trial.times = {"1", "2", "3"};
  trial.ids = data::Ids(ids);
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.drawn, Drawn::cluster);
  EXPECT_EQ(result.num_draws, 3000u);
  EXPECT_FALSE(result.sample_ratio.pooled_run);
  EXPECT_EQ(result.sample_ratio.times.size(), 3u);
  EXPECT_EQ(result.sample_ratio.times[1].num_draws, 3000u);
}

// Arms drawn with a probability that depends on a feature, and declared.
TEST(Propensity, ThatVariesMakesAStratifiedTrialFit) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(20'000, 9, kTwoArms, 7);
  core::RandomStream random(7, core::stream_purpose("test stratified"), 0);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    const float chance = trial.features.values(unit, 0) > 0.0f ? 0.8f : 0.3f;
    trial.arm[unit] = random.bernoulli(chance) ? 1 : 0;
    trial.propensity.push_back(trial.arm[unit] == 1 ? chance : 1.0f - chance);
  }
  const CheckResult declared = check_trial(trial, {}, context);
  EXPECT_TRUE(declared.fit) << "seed 7: " << (declared.problems.empty() ? "" : declared.problems[0].text);
  EXPECT_EQ(declared.balance.method, BalanceMethod::smallest_p);
  EXPECT_LT(std::abs(declared.balance.features[0].difference), 0.1);
  trial.propensity.clear();
  EXPECT_FALSE(check_trial(trial, {}, context).fit);
}

class Suspects : public testing::Test {
 protected:
  CheckResult check() { return check_trial(trial_, study_with_shares(kThreeArms), context_); }
  core::RunContext context_{1};
  data::Trial trial_ = fair_trial(6000, 18, kThreeArms, 9);
};

TEST_F(Suspects, AreNotFoundInAFairTrial) { EXPECT_TRUE(check().suspects.empty()) << "seed 9"; }

TEST_F(Suspects, AreMissingInOneArmOnly) {
  for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
    if (trial_.arm[unit] == 2 && unit % 50 == 0) trial_.features.values(unit, 0) = std::nanf("");
  }
  const CheckResult result = check();
  ASSERT_EQ(result.suspects.size(), 1u);
  EXPECT_EQ(result.suspects[0].name, "x0");
  EXPECT_NE(result.suspects[0].why.find("missing in arm '2' only"), std::string::npos);
  EXPECT_NE(result.suspects[0].hint.find("exclude"), std::string::npos);
  EXPECT_FALSE(result.fit);
}

TEST_F(Suspects, AreConstantInOneArm) {
  // Only arms 1 and 2 can redeem: as with Criteo's exposure.
  for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
    trial_.features.values(unit, 2) = trial_.arm[unit] != 0 && unit % 30 == 0 ? 1.0f : 0.0f;
  }
  const CheckResult result = check();
  ASSERT_EQ(result.suspects.size(), 1u);
  EXPECT_EQ(result.suspects[0].name, "x2");
  EXPECT_NE(result.suspects[0].why.find("always 0 in arm '0'"), std::string::npos) << result.suspects[0].why;
  // The rest is fair, and the joint test says so.
  EXPECT_GT(result.balance.p, 0.001);
  EXPECT_EQ(result.problems.size(), 1u);
}

TEST_F(Suspects, AreNotRareFlagsThatASmallArmLacks) {
  for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
    trial_.features.values(unit, 2) = trial_.arm[unit] == 0 && unit < 10 ? 1.0f : 0.0f;
  }
  EXPECT_TRUE(check().suspects.empty());
}

TEST_F(Suspects, SeparateTheArms) {
  for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
    trial_.features.values(unit, 5) = static_cast<float>(1 + trial_.arm[unit]);  // a category that names the arm
    trial_.features.values(unit, 9) += static_cast<float>(trial_.arm[unit]);
  }
  const CheckResult result = check();
  ASSERT_EQ(result.suspects.size(), 2u);
  EXPECT_EQ(result.suspects[0].name, "x5");
  EXPECT_EQ(result.suspects[1].name, "x9");
  EXPECT_NE(result.suspects[1].why.find("separates the arms"), std::string::npos);
}

// A fifth of the units buy, for an amount that no feature explains.
class RevenueSuspects : public Suspects {
 protected:
  RevenueSuspects() {
    core::RandomStream random(4, core::stream_purpose("test buyers"), 0);
    for (float& revenue : trial_.revenue)
      revenue = random.bernoulli(0.2) ? 5.0f + 90.0f * static_cast<float>(random.uniform()) : 0.0f;
  }
  bool bought(std::size_t unit) const { return trial_.revenue[unit] > 0.0f; }
  // Noise where there is revenue, missing elsewhere; one in `wrong` units the other way round.
  void set_basket(std::size_t wrong) {
    core::RandomStream random(5, core::stream_purpose("test baskets"), 0);
    for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
      const auto amount = static_cast<float>(random.exponential());
      trial_.features.values(unit, 0) = bought(unit) != (unit % wrong == 0) ? amount : std::nanf("");
    }
  }
};

TEST_F(RevenueSuspects, AreMissingWhereNothingWasBought) {
  EXPECT_TRUE(check().suspects.empty()) << "seeds 4, 9";
  set_basket(500);
  const CheckResult result = check();
  ASSERT_EQ(result.suspects.size(), 1u);
  EXPECT_EQ(result.suspects[0].name, "x0");
  EXPECT_EQ(result.suspects[0].of, SuspectOf::revenue);
  EXPECT_EQ(result.suspects[0].why, "alone it tells of 99.8 % of the units whether there is revenue");
}

TEST_F(RevenueSuspects, AreACutOrALevel) {
  core::RandomStream random(6, core::stream_purpose("test items"), 0);
  for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
    // Never 0, and high without revenue: neither an amount nor a count of what was bought.
    trial_.features.values(unit, 0) = static_cast<float>((bought(unit) ? 1.0 : 3.0) + random.uniform());
    trial_.features.values(unit, 5) = bought(unit) ? 2.0f : (random.bernoulli(0.5) ? 1.0f : 3.0f);
  }
  const CheckResult result = check();
  ASSERT_EQ(result.suspects.size(), 2u);
  EXPECT_EQ(result.suspects[0].name, "x0");
  EXPECT_EQ(result.suspects[1].name, "x5");
  EXPECT_NE(result.suspects[1].why.find("tells of 100 % of the units"), std::string::npos);
}

TEST_F(RevenueSuspects, AreNotFeaturesThatOnlyPredict) {
  set_basket(50);  // 2 % of the units say otherwise
  EXPECT_TRUE(check().suspects.empty());
}

TEST_F(RevenueSuspects, NeedThirtyUnitsWithRevenueAndThirtyWithout) {
  const auto set_buyers = [&](std::size_t buyers) {
    for (std::size_t unit = 0; unit < trial_.num_units(); ++unit) {
      // Amounts from 1 to 1,000, so that buying or not explains little of them.
      const double amount = std::pow(10.0, 3.0 * static_cast<double>(unit) / static_cast<double>(buyers));
      trial_.revenue[unit] = unit < buyers ? static_cast<float>(amount) : 0.0f;
      trial_.features.values(unit, 0) = bought(unit) ? 3.0f : 1.0f;
    }
  };
  set_buyers(29);
  EXPECT_TRUE(check().suspects.empty());
  set_buyers(30);
  ASSERT_EQ(check().suspects.size(), 1u);
  EXPECT_EQ(check().suspects[0].why, "alone it tells of 100 % of the units whether there is revenue");
}

TEST(Duplicates, OfIdsAreCountedAndShown) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(3000, 2, kTwoArms, 10);
  data::TextColumn ids;
  for (std::size_t unit = 0; unit < 3000; ++unit) ids.push_back(fmt::format("u{}", unit < 5 ? 77 : unit));
  trial.ids = data::Ids(ids);
  CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.duplicates.key, "id");
  EXPECT_EQ(result.duplicates.num_ids, 1u);
  EXPECT_EQ(result.duplicates.num_rows, 5u);
  EXPECT_EQ(result.duplicates.num_in_two_arms, 1u);
  EXPECT_EQ(result.duplicates.examples, std::vector<std::string>{"u77"});
  EXPECT_TRUE(result.fit);
  EXPECT_TRUE(mentions(result.warnings, "duplicates"));

  std::vector<std::int64_t> halves;
  for (std::int64_t unit = 0; unit < 3000; ++unit) halves.push_back(unit / 2);
  trial.ids = data::Ids(halves);
  result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_EQ(result.duplicates.num_rows, 1500u);
  EXPECT_EQ(result.duplicates.examples, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_TRUE(mentions(result.problems, "duplicates"));
}

TEST(Constants, AreNamed) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(3000, 3, kTwoArms, 11);
  for (std::size_t unit = 0; unit < 3000; ++unit) {
    trial.features.values(unit, 0) = 4.0f;
    trial.features.values(unit, 1) = std::nanf("");
  }
  const CheckResult result = check_trial(trial, study_with_shares(kTwoArms), context);
  EXPECT_TRUE(result.columns[0].constant);
  EXPECT_TRUE(result.columns[1].constant);
  EXPECT_FALSE(result.columns[2].constant);
  EXPECT_EQ(result.columns[1].missing_share, 1.0);
  EXPECT_TRUE(result.suspects.empty());
  EXPECT_TRUE(mentions(result.warnings, "constant"));
}

TEST(Check, WarnsOfCostsThatBreakWhatIsDeclared) {
  core::RunContext context(1);
  data::Trial trial = fair_trial(3000, 2, kTwoArms, 12);
  data::Study study = study_with_shares(kTwoArms);
  study.cost = {.control_is_free = true, .non_negative = true, .rises_with_arm = false};
  EXPECT_FALSE(mentions(check_trial(trial, study, context).warnings, "cost"));
  std::fill(trial.cost.begin(), trial.cost.end(), -1.0f);
  const CheckResult result = check_trial(trial, study, context);
  EXPECT_EQ(
      std::count_if(result.warnings.begin(), result.warnings.end(), [](const Finding& f) { return f.kind == "cost"; }),
      2);
}

}  // namespace
}  // namespace dfcl::check
