// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/power.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::launch {
namespace {

// Shops with two plans: a gives at random, b half by a rule that is good; and predictions that are off by shop.
struct Shops {
  core::Matrix<double> revenue;
  core::Matrix<float> predicted, predicted_cost;
  std::vector<std::uint8_t> plan_a, plan_b;
  double gain = 0.0;
  double revenue_a = 0.0;

  explicit Shops(std::size_t size) : predicted(size, 5), predicted_cost(size, 5) {
    simulate::ExpectedOutcomes expected =
        simulate::Simulator({.num_rows = size, .seed = 21}).expected_outcomes(0, size);
    revenue = std::move(expected.revenue);
    for (std::size_t i = 0; i < size; ++i) {
      core::RandomStream stream(7, core::stream_purpose("test shops"), i);
      const double wrong = std::exp(0.3 * stream.normal());
      for (std::size_t arm = 0; arm < 5; ++arm) {
        predicted(i, arm) = static_cast<float>(wrong * revenue(i, arm));
        predicted_cost(i, arm) = static_cast<float>(expected.cost(i, arm));
      }
      const double lift = revenue(i, 4) / revenue(i, 0) - 1.0;
      plan_a.push_back(stream.below(4) == 0 ? 4 : 0);
      const bool follows_rule = stream.bernoulli(0.45);
      const bool at_random = stream.below(4) == 0;
      plan_b.push_back((follows_rule ? lift > 0.35 : at_random) ? 4 : 0);
      gain += (revenue(i, plan_b[i]) - revenue(i, plan_a[i])) / static_cast<double>(size);
      revenue_a += revenue(i, plan_a[i]) / static_cast<double>(size);
    }
  }
};

struct DrawnTrial {
  evaluate::TrialRows rows;
  core::Matrix<float> revenue, cost;  // nuisance
  std::vector<std::uint8_t> plan_a, plan_b;
};

DrawnTrial draw_trial(const Shops& shops, std::size_t size, std::uint64_t seed) {
  DrawnTrial trial;
  trial.rows.arms = {{"0", "5", "10", "15", "20"}, 0, true};
  trial.rows.arm_units.assign(5, 0);
  trial.revenue = core::Matrix<float>(size, 5);
  trial.cost = core::Matrix<float>(size, 5);
  for (std::size_t row = 0; row < size; ++row) {
    core::RandomStream stream(seed, core::stream_purpose("test trial"), row);
    const std::size_t shop = stream.below(static_cast<std::uint32_t>(shops.plan_a.size()));
    const auto arm = static_cast<std::uint8_t>(stream.below(5));
    const double mean = shops.revenue(shop, arm);
    trial.rows.arm.push_back(arm);
    trial.rows.revenue.push_back(static_cast<float>(stream.poisson(mean * stream.gamma(20.0) / 20.0)));
    trial.rows.cost.push_back(0.0f);
    trial.rows.weight.push_back(5.0);
    ++trial.rows.arm_units[arm];
    std::copy_n(shops.predicted.row(shop).data(), 5, trial.revenue.row(row).data());
    std::copy_n(shops.predicted_cost.row(shop).data(), 5, trial.cost.row(row).data());
    trial.plan_a.push_back(shops.plan_a[shop]);
    trial.plan_b.push_back(shops.plan_b[shop]);
  }
  return trial;
}

PlanPair compare(const DrawnTrial& trial, bool with_nuisance = true) {
  evaluate::Outcomes nuisance;
  if (with_nuisance) nuisance = {trial.revenue.view(), trial.cost.view()};
  return compare_plans(trial.rows, nuisance, trial.plan_a, trial.plan_b, 0.95);
}

// A pilot trial names the size of the next; trials of that size find the gain as often as stated.
TEST(Power, TheStatedGainIsFoundAtTheStatedRate) {
  const Shops shops(60'000);
  const PlanPair pilot = compare(draw_trial(shops, 120'000, 1));
  const double power = 0.8;
  const auto size = static_cast<std::size_t>(units_needed(pilot.sd, shops.gain, {.power = power, .level = 0.95}));
  const std::size_t trials = 1200;
  std::size_t found = 0;
  for (std::size_t i = 0; i < trials; ++i) found += compare(draw_trial(shops, size, 100 + i)).difference.low > 0.0;
  const double rate = static_cast<double>(found) / static_cast<double>(trials);
  RecordProperty("rows", fmt::format("{}", size));
  RecordProperty("found", fmt::format("{:.4f}", rate));
  EXPECT_NEAR(rate, power, 0.03) << size << " rows";
}

TEST(Power, TheDifferenceIsRightOnAverageAndItsIntervalCovers) {
  const Shops shops(20'000);
  for (const bool with_nuisance : {true, false}) {
    std::size_t covered = 0;
    double mean = 0.0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const PlanPair pair = compare(draw_trial(shops, 2000, 9000 + seed), with_nuisance);
      covered += pair.difference.low <= shops.gain && shops.gain <= pair.difference.high;
      mean += pair.difference.value / 400.0;
    }
    EXPECT_GE(covered, 368u);
    EXPECT_NEAR(mean, shops.gain, 0.25 * std::abs(shops.gain) + 0.05);
  }
}

TEST(Power, PredictionsMakeATrialSeeMore) {
  const Shops shops(20'000);
  const DrawnTrial trial = draw_trial(shops, 20'000, 3);
  EXPECT_LT(compare(trial).sd, 0.6 * compare(trial, false).sd);
}

// Plans that are assumed to differ at random need what real plans of that kind need.
TEST(Power, AssumedPlansAreLikeRandomOnes) {
  const Shops shops(20'000);
  DrawnTrial trial = draw_trial(shops, 40'000, 4);
  for (std::size_t row = 0; row < trial.rows.size(); ++row) {
    core::RandomStream stream(8, core::stream_purpose("test plans"), row);
    trial.plan_a[row] = static_cast<std::uint8_t>(stream.below(5));
    trial.plan_b[row] = trial.plan_a[row];
    if (stream.bernoulli(0.4))
      trial.plan_b[row] = static_cast<std::uint8_t>((trial.plan_a[row] + 1 + stream.below(4)) % 5);
  }
  const PlanPair assumed = assume_plans(trial.rows, {trial.revenue.view(), trial.cost.view()}, 0.4);
  EXPECT_NEAR(assumed.sd / compare(trial).sd, 1.0, 0.1);
}

TEST(Power, SizesAndGainsAreEachOthersInverse) {
  const PowerLevels levels{.power = 0.9, .level = 0.95};
  const double units = units_needed(12.0, 0.2, levels);
  EXPECT_NEAR(smallest_gain(12.0, units, levels), 0.2, 1e-4);
  EXPECT_NEAR(power_of(12.0, units, 0.2, 0.95), 0.9, 1e-4);
  EXPECT_NEAR(units, std::pow((1.959964 + 1.281552) * 60.0, 2), 2.0);
  EXPECT_NEAR(power_of(12.0, 100.0, 0.0, 0.95), 0.05, 1e-9);
}

TEST(Power, UnitsOfAClusterCountTogether) {
  const Shops shops(5000);
  DrawnTrial trial = draw_trial(shops, 5000, 5);
  const double alone = compare(trial).sd;
  // Every row twice, the copies in one cluster: twice the rows, no more knowledge.
  DrawnTrial doubled = draw_trial(shops, 10'000, 5);
  for (std::size_t row = 0; row < 10'000; ++row) {
    const std::size_t of = row / 2;
    doubled.rows.arm[row] = trial.rows.arm[of];
    doubled.rows.revenue[row] = trial.rows.revenue[of];
    doubled.plan_a[row] = trial.plan_a[of];
    doubled.plan_b[row] = trial.plan_b[of];
    std::copy_n(trial.revenue.row(of).data(), 5, doubled.revenue.row(row).data());
    doubled.rows.cluster.push_back(static_cast<std::uint32_t>(of));
  }
  doubled.rows.num_clusters = 5000;
  EXPECT_NEAR(compare(doubled).sd, alone * std::sqrt(2.0), 1e-6 * alone);
  const double assumed = assume_plans(trial.rows, {}, 0.5).sd;
  EXPECT_NEAR(assume_plans(doubled.rows, {}, 0.5).sd, assumed * std::sqrt(2.0), 1e-3 * assumed) << "plans not known";
}

TEST(Power, ProbabilitiesOutOfRangeAreRefused) {
  EXPECT_THROW(validate({.power = 1.0}), core::Error);
  EXPECT_THROW(validate({.power = 0.3}), core::Error);
  EXPECT_THROW(validate({.power = 0.8, .level = 1.0}), core::Error);
  const Shops shops(500);
  EXPECT_THROW((void)assume_plans(draw_trial(shops, 100, 1).rows, {}, 0.0), core::Error);
}

// At the share found the gain is found with just the stated probability; a smaller hold-out finds it less often.
TEST(Power, AHoldoutIsAsLargeAsItMustBe) {
  const PowerLevels levels;
  for (const double plan_variance : {1.0, 4.0, 9.0}) {
    const HoldoutNeed need = holdout_need(4.0, plan_variance, 20'000.0, 0.1, levels);
    ASSERT_FALSE(std::isnan(need.share)) << plan_variance;
    const auto power_at = [&](double share) {
      return power_of(std::sqrt(4.0 / share + plan_variance / (1.0 - share)), 20'000.0, 0.1, levels.level);
    };
    EXPECT_NEAR(power_at(need.share), 0.8, 1e-4);
    EXPECT_LT(power_at(0.9 * need.share), 0.8);
    EXPECT_TRUE(std::isnan(holdout_need(4.0, plan_variance, 0.99 * need.least_launch, 0.1, levels).share));
    EXPECT_FALSE(std::isnan(holdout_need(4.0, plan_variance, 1.01 * need.least_launch, 0.1, levels).share));
  }
}

evaluate::TrialRows two_arms(std::size_t size, double effect, std::uint64_t seed) {
  evaluate::TrialRows rows;
  rows.arms = {{"off", "on"}, 0, false};
  rows.arm_units.assign(2, 0);
  for (std::size_t row = 0; row < size; ++row) {
    core::RandomStream stream(seed, core::stream_purpose("two arms"), row);
    const std::uint8_t arm = stream.bernoulli(0.3) ? 1 : 0;
    rows.arm.push_back(arm);
    rows.revenue.push_back(static_cast<float>(stream.gamma(2.0) + (arm == 1 ? effect + 0.5 * stream.normal() : 0.0)));
    rows.cost.push_back(0.0f);
    ++rows.arm_units[arm];
  }
  for (const std::uint8_t arm : rows.arm)
    rows.weight.push_back(static_cast<double>(size) / static_cast<double>(rows.arm_units[arm]));
  return rows;
}

// A pilot names the least effect of an arm; trials of its size, with that effect, find it as often as stated.
TEST(Power, TheLeastEffectOfAnArmIsFoundAtTheStatedRate) {
  const PowerLevels levels;
  constexpr std::size_t kRows = 2000;
  const double least = arms_against_control(two_arms(kRows, 0.0, 1), levels)[0].least_effect;
  constexpr std::size_t kTrials = 1500;
  std::size_t found = 0;
  for (std::size_t i = 0; i < kTrials; ++i)
    found += arms_against_control(two_arms(kRows, least, 100 + i), levels)[0].difference.low > 0.0 ? 1 : 0;
  // The pilot's own standard deviation is right to about 2 %, which is 2 points of power.
  EXPECT_NEAR(static_cast<double>(found) / kTrials, 0.8, 0.05) << "least effect " << least;
}

// Launches with the hold-out that is asked for find the gain as often as stated.
TEST(Power, TheHoldoutFindsTheGainAtTheStatedRate) {
  const PowerLevels levels;
  constexpr double kGain = 0.3, kPlanSd = 1.5, kControlSd = 1.0;
  constexpr std::size_t kUnits = 3000;
  const HoldoutNeed need =
      holdout_need(kControlSd * kControlSd, kPlanSd * kPlanSd, static_cast<double>(kUnits), kGain, levels);
  ASSERT_FALSE(std::isnan(need.share));
  constexpr std::size_t kLaunches = 1500;
  std::size_t found = 0;
  for (std::size_t i = 0; i < kLaunches; ++i) {
    Moments plan, held, all;
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      core::RandomStream stream(500 + i, core::stream_purpose("launch"), unit);
      const bool is_held = stream.uniform() < need.share;
      const double revenue = is_held ? kControlSd * stream.normal() : kGain + kPlanSd * stream.normal();
      (is_held ? held : plan).add(revenue, 0.0, 0.0);
      all.add(revenue, 0.0, 0.0);
    }
    found += adjusted_difference(plan, held, all, levels.level).revenue.low > 0.0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(found) / kLaunches, 0.8, 0.04) << "share " << need.share;
}

}  // namespace
}  // namespace dfcl::launch
