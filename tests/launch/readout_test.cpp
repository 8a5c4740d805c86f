// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/readout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::launch {
namespace {

using data::Role;

// A world of shops, from which launches draw their units: what each earns and costs under control and under its planned
// arm, and what was predicted for it (off by a factor of its own, so that predictions are wrong unit by unit).
struct World {
  std::vector<double> control_revenue, plan_revenue, plan_cost;
  std::vector<float> predicted_control, predicted_revenue, predicted_cost;
  std::vector<std::uint8_t> plan_arm;
  double mean_gain = 0.0, mean_cost = 0.0;

  explicit World(std::size_t size) {
    const simulate::Simulator simulator({.num_rows = size, .seed = 11});
    const simulate::ExpectedOutcomes expected = simulator.expected_outcomes(0, size);
    for (std::size_t i = 0; i < size; ++i) {
      core::RandomStream stream(5, core::stream_purpose("test world"), i);
      const auto arm = static_cast<std::uint8_t>(stream.below(3) * 2);  // 0, 10 or 20 %
      const double wrong = std::exp(0.3 * stream.normal());
      control_revenue.push_back(expected.revenue(i, 0));
      plan_revenue.push_back(expected.revenue(i, arm));
      plan_cost.push_back(expected.cost(i, arm));
      plan_arm.push_back(arm);
      predicted_control.push_back(static_cast<float>(wrong * control_revenue.back()));
      predicted_revenue.push_back(static_cast<float>(wrong * plan_revenue.back()));
      predicted_cost.push_back(static_cast<float>(0.9 * wrong * plan_cost.back()));
      mean_gain += (plan_revenue[i] - control_revenue[i]) / static_cast<double>(size);
      mean_cost += plan_cost[i] / static_cast<double>(size);
    }
  }
};

struct LaunchOptions {
  double holdout = 0.05;
  bool with_control = true;      // the plan holds predictions under control
  double missed = 0.0;           // share of planned units that get control instead
  double holdout_treated = 0.0;  // share of held-out units that get 10 %
};

Launch launch_of(const World& world, std::size_t size, std::uint64_t seed, const LaunchOptions& options = {}) {
  Launch launch;
  launch.arms = {"0", "5", "10", "15", "20"};
  launch.units_in_plan = launch.units_in_outcomes = size;
  launch.planned_per_role.assign(data::kNumRoles, 0);
  for (std::size_t i = 0; i < size; ++i) {
    core::RandomStream stream(seed, core::stream_purpose("test launch"), i);
    const std::size_t shop = stream.below(static_cast<std::uint32_t>(world.plan_arm.size()));
    const bool held = stream.bernoulli(options.holdout);
    const bool treated = held ? stream.bernoulli(options.holdout_treated) : !stream.bernoulli(options.missed);
    const std::uint8_t arm = held ? 0 : world.plan_arm[shop];
    launch.role.push_back(held ? Role::holdout : Role::plan);
    ++launch.planned_per_role[held ? 1 : 0];
    launch.planned_arm.push_back(arm);
    launch.received_arm.push_back(held ? (treated ? 2 : 0) : (treated ? arm : 0));
    launch.planned_revenue.push_back(held ? world.predicted_control[shop] : world.predicted_revenue[shop]);
    launch.planned_cost.push_back(held ? 0.0f : world.predicted_cost[shop]);
    if (options.with_control) {
      launch.control_revenue.push_back(world.predicted_control[shop]);
      launch.control_cost.push_back(0.0f);
    }
    const double mean = held || !treated ? world.control_revenue[shop] : world.plan_revenue[shop];
    const double orders = static_cast<double>(stream.poisson(mean * 20.0 * stream.gamma(20.0) / 400.0));
    launch.revenue.push_back(orders);
    launch.cost.push_back(held || !treated ? 0.0 : orders * world.plan_cost[shop] / world.plan_revenue[shop]);
    launch.planned_spend_of_all.add(static_cast<double>(launch.planned_cost.back()));
  }
  launch.seen_per_role = launch.planned_per_role;
  return launch;
}

bool covers(const Interval& interval, double truth) { return interval.low <= truth && truth <= interval.high; }

// A thousand launches: each interval holds the truth in 93 to 97 of a hundred.
TEST(Readout, IntervalsCoverTheTruthOfSimulatedLaunches) {
  const World world(100'000);
  for (const bool with_control : {true, false}) {
    const std::size_t launches = 1000, size = 8000;
    std::size_t gain = 0, cost = 0, ratio = 0;
    double width = 0.0;
    for (std::size_t i = 0; i < launches; ++i) {
      const std::uint64_t seed = 1000 + i;
      const Readout readout = read_out(launch_of(world, size, seed, {.holdout = 0.1, .with_control = with_control}),
                                       {.holdout_share = 0.1});
      gain += covers(readout.per_unit.revenue, world.mean_gain);
      cost += covers(readout.per_unit.cost, world.mean_cost);
      ratio += covers(readout.per_unit.return_per_cost, world.mean_gain / world.mean_cost);
      width += (readout.per_unit.revenue.high - readout.per_unit.revenue.low) / static_cast<double>(launches);
    }
    const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(launches); };
    for (const auto& [name, count] :
         {std::pair<const char*, std::size_t>{"gain", gain}, {"cost", cost}, {"return", ratio}}) {
      RecordProperty(fmt::format("{} {}", name, with_control), fmt::format("{:.4f}", share(count)));
      EXPECT_GE(share(count), 0.93) << name << ", adjusted " << with_control;
      EXPECT_LE(share(count), 0.97) << name << ", adjusted " << with_control;
    }
    RecordProperty(fmt::format("width {}", with_control), fmt::format("{:.4f}", width));
  }
}

TEST(Readout, PredictionsUnderControlNarrowTheInterval) {
  const World world(20'000);
  const Readout adjusted = read_out(launch_of(world, 20'000, 1), {.holdout_share = 0.05});
  const Readout plain = read_out(launch_of(world, 20'000, 1, {.with_control = false}), {.holdout_share = 0.05});
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  EXPECT_LT(width(adjusted.per_unit.revenue), 0.7 * width(plain.per_unit.revenue));
  EXPECT_GT(adjusted.per_unit.variance_removed, 0.5);
  EXPECT_EQ(plain.per_unit.variance_removed, 0.0);
  EXPECT_FALSE(plain.planned_return.has_value());
  EXPECT_TRUE(adjusted.planned_return.has_value());
}

// Numbers by hand: two arms, four units a role.
TEST(Readout, TotalsAreSumsOverTheUnits) {
  Launch launch;
  launch.arms = {"0", "1"};
  launch.role = {Role::plan, Role::plan, Role::plan, Role::holdout, Role::holdout, Role::holdout};
  launch.planned_arm = {1, 1, 0, 0, 0, 0};
  launch.received_arm = {1, 0, 0, 0, 0, 0};
  launch.planned_revenue = {10, 10, 5, 5, 5, 5};
  launch.planned_cost = {2, 2, 0, 0, 0, 0};
  launch.revenue = {12, 6, 6, 4, 5, 6};
  launch.cost = {3, 0, 0, 0, 0, 0};
  launch.units_in_plan = launch.units_in_outcomes = 6;
  launch.planned_spend_of_all.add(4.0);
  launch.planned_per_role = launch.seen_per_role = {3, 3, 0};
  const Readout readout =
      read_out(launch, {.holdout_share = 0.5, .budget = 4.0, .multiplier = 2.0, .spend_elasticity = 2.0});
  EXPECT_DOUBLE_EQ(readout.planned_revenue, 25.0);
  EXPECT_DOUBLE_EQ(readout.realised_revenue, 24.0);
  EXPECT_DOUBLE_EQ(readout.planned_spend, 4.0);
  EXPECT_DOUBLE_EQ(readout.realised_spend, 3.0);
  EXPECT_DOUBLE_EQ(readout.per_unit.revenue.value, 8.0 - 5.0);
  EXPECT_DOUBLE_EQ(readout.per_unit.cost.value, 1.0);
  EXPECT_DOUBLE_EQ(readout.per_unit.return_per_cost.value, 3.0);
  EXPECT_DOUBLE_EQ(readout.incremental_revenue.value, 9.0);
  ASSERT_EQ(readout.arms.size(), 2u);
  EXPECT_DOUBLE_EQ(readout.arms[1].overspend, -1.0);
  EXPECT_EQ(readout.arms[1].received, 1u);
  EXPECT_EQ(readout.not_as_planned, 1u);
  ASSERT_EQ(readout.crossings.size(), 1u);
  EXPECT_EQ(readout.crossings[0].planned + readout.crossings[0].received, "10");
  // A quarter too little was spent; spend falls with the square of the multiplier.
  ASSERT_TRUE(readout.next_multiplier.has_value());
  EXPECT_NEAR(readout.next_multiplier->value, 2.0 * std::sqrt(0.75), 1e-12);
}

// A price per mailing: what was paid for the planned units is no estimate, whatever predictions adjust.
TEST(Readout, MoneyThatWasSpentHasNoInterval) {
  const World world(20'000);
  Launch launch = launch_of(world, 20'000, 3, {.holdout = 0.1});
  double spent = 0.0;
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) {
    launch.cost[unit] = launch.received_arm[unit] == 0 ? 0.0 : 0.5;
    spent += launch.cost[unit];
  }
  const ReadoutOptions options{.holdout_share = 0.1, .value_per_revenue = 2.0};
  const Readout free = read_out(launch, options);
  EXPECT_DOUBLE_EQ(free.incremental_cost.value, spent) << "seed 3";
  EXPECT_EQ(free.incremental_cost.low, free.incremental_cost.value);
  EXPECT_EQ(free.incremental_cost.high, free.incremental_cost.value);
  EXPECT_NEAR(free.incremental_profit->value, 2.0 * free.incremental_revenue.value - spent, 1e-6 * spent);
  EXPECT_NEAR(free.incremental_profit->low, 2.0 * free.incremental_revenue.low - spent, 1e-6 * spent);
  EXPECT_NEAR(free.roi->value, free.incremental_profit->value / spent, 1e-9) << "what is shown adds up";
  EXPECT_NEAR(free.roi->high, free.incremental_profit->high / spent, 1e-9);
  EXPECT_NEAR(free.per_unit.return_per_cost.value, free.incremental_revenue.value / spent, 1e-9);
  // Where control costs something, what it would have cost these units is an estimate.
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) launch.cost[unit] += unit % 3 == 0 ? 0.2 : 0.0;
  const Readout dear = read_out(launch, options);
  EXPECT_LT(dear.incremental_cost.low, dear.incremental_cost.high);
}

TEST(Readout, UnitsThatDidNotGetTheirArmAreSaidAloudAndStillCount) {
  const World world(20'000);
  const Readout readout = read_out(launch_of(world, 40'000, 3, {.missed = 0.3}), {.holdout_share = 0.05});
  EXPECT_NEAR(static_cast<double>(readout.not_as_planned) / static_cast<double>(readout.units_per_role[0]), 0.3 * 2 / 3,
              0.01);  // a third of the plans is control anyway
  ASSERT_FALSE(readout.warnings.empty());
  EXPECT_NE(readout.warnings[0].find("intention to treat"), std::string::npos);
  EXPECT_TRUE(covers(readout.per_unit.revenue, 0.7 * world.mean_gain));
}

void expect_unfit(const Launch& launch, double share, const std::string& word) {
  try {
    (void)read_out(launch, {.holdout_share = share});
    FAIL() << "was not refused";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::unfit);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Readout, ABrokenHoldOutIsRefused) {
  const World world(5000);
  expect_unfit(launch_of(world, 20'000, 4, {.holdout = 0.04}), 0.05, "share");
  expect_unfit(launch_of(world, 20'000, 4, {.holdout_treated = 0.2}), 0.05, "treated");
  Launch lost = launch_of(world, 20'000, 4);
  lost.units_in_plan += 200;
  lost.planned_per_role[1] += 200;  // all that are missing were held out
  expect_unfit(lost, 0.05, "missing");
}

TEST(Readout, AFairHoldOutIsRarelyRefused) {
  const World world(5000);
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    try {
      (void)read_out(launch_of(world, 1500, seed), {.holdout_share = 0.05});
    } catch (const core::Error&) {
      ++refused;
    }
  }
  EXPECT_LE(refused, 4u);
}

TEST(Readout, NoHoldOutIsAnErrorOfTheData) {
  const World world(1000);
  try {
    (void)read_out(launch_of(world, 1000, 1, {.holdout = 0.0}), {.holdout_share = 0.05});
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
  }
}

TEST(Moments, MergedPartsAreTheWhole) {
  Moments whole, left, right;
  for (int i = 0; i < 50; ++i) {
    core::RandomStream stream(9, core::stream_purpose("test"), static_cast<std::uint64_t>(i));
    const double r = stream.normal(), c = stream.normal() + r, x = stream.normal() - c;
    whole.add(r, c, x);
    (i < 20 ? left : right).add(r, c, x);
  }
  left.merge(right);
  EXPECT_NEAR(left.mean_r, whole.mean_r, 1e-12);
  EXPECT_NEAR(left.rc, whole.rc, 1e-10);
  EXPECT_NEAR(left.xx, whole.xx, 1e-10);
  EXPECT_NEAR(left.xc, whole.xc, 1e-10);
}

// Fieller's limits are where a - ratio x b is just not away from zero.
TEST(Fieller, LimitsSolveTheirEquation) {
  const double a = 3.0, b = 2.0, va = 0.2, vb = 0.1, cov = 0.05, t = 2.0;
  const Interval ratio = core::fieller_interval({a, b, va, vb, cov}, t);
  for (const double limit : {ratio.low, ratio.high}) {
    EXPECT_NEAR(std::pow(a - limit * b, 2), t * t * (va - 2 * limit * cov + limit * limit * vb), 1e-9);
  }
  EXPECT_TRUE(std::isnan(core::fieller_interval({a, 0.1, va, vb, cov}, t).low));
}

}  // namespace
}  // namespace dfcl::launch
