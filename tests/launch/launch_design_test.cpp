// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"

namespace dfcl::launch {
namespace {

using data::Role;

data::Ids numbered(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(LaunchDesign, SharesAreThoseAskedFor) {
  const std::size_t num_units = 200'000;
  const data::Ids ids = numbered(num_units);
  const LaunchDesign design{.holdout = 0.05, .explore = 0.02};
  std::vector<double> count(data::kNumRoles);
  std::vector<double> explored(4);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const DrawnRole drawn = draw_role(design, ids, unit, {}, 4);
    count[static_cast<std::size_t>(drawn.role)] += 1.0;
    if (drawn.role == Role::explore) explored[drawn.arm] += 1.0;
  }
  EXPECT_NEAR(count[1] / num_units, 0.05, 0.002);
  EXPECT_NEAR(count[2] / num_units, 0.02, 0.0015);
  for (const double units : explored) EXPECT_NEAR(units / count[2], 0.25, 0.03);
}

TEST(LaunchDesign, TheHoldOutIsTheSameEveryDayAndGrowsWithItsShare) {
  const data::Ids ids = numbered(20'000);
  const LaunchDesign monday{.holdout = 0.05, .explore = 0.1, .salt = "", .seed = 1};
  LaunchDesign tuesday = monday;
  tuesday.seed = 2;
  LaunchDesign larger = monday;
  larger.holdout = 0.1;
  LaunchDesign salted = monday;
  salted.salt = "spring";
  std::size_t explored_again = 0, explored = 0, held_again = 0, held = 0;
  for (std::size_t unit = 0; unit < ids.size(); ++unit) {
    const Role role = draw_role(monday, ids, unit, {}, 3).role;
    const bool is_held = role == Role::holdout;
    EXPECT_EQ(is_held, draw_role(tuesday, ids, unit, {}, 3).role == Role::holdout);
    if (is_held) {
      EXPECT_EQ(draw_role(larger, ids, unit, {}, 3).role, Role::holdout);
      ++held;
      if (draw_role(salted, ids, unit, {}, 3).role == Role::holdout) ++held_again;
    }
    if (role == Role::explore) {
      ++explored;
      if (draw_role(tuesday, ids, unit, {}, 3).role == Role::explore) ++explored_again;
    }
  }
  EXPECT_LT(held_again, held / 5);
  EXPECT_LT(explored_again, explored / 5);
}

TEST(LaunchDesign, AnIdIsTheSameUnitAsNumberOrText) {
  data::TextColumn texts;
  for (int unit = 0; unit < 1000; ++unit) texts.push_back(std::to_string(unit));
  const data::Ids as_text(texts);
  const data::Ids as_number = numbered(1000);
  const LaunchDesign design{.holdout = 0.3, .explore = 0.3};
  for (std::size_t unit = 0; unit < 1000; ++unit) {
    EXPECT_EQ(draw_role(design, as_text, unit, {}, 3).role, draw_role(design, as_number, unit, {}, 3).role);
  }
}

// Drawn again and again under other ids, a unit gets its arm as often as its propensity says.
TEST(LaunchDesign, PropensitiesAreTheFrequenciesOfTheArms) {
  const std::size_t draws = 100'000;
  const data::Ids ids = numbered(draws);
  const LaunchDesign design{.holdout = 0.2, .explore = 0.3};
  const std::vector<std::uint8_t> open = {1, 1, 0, 1};
  const std::uint8_t best = 3;
  std::vector<double> count(4);
  for (std::size_t unit = 0; unit < draws; ++unit) {
    const DrawnRole drawn = draw_role(design, ids, unit, open, 4);
    count[drawn.role == Role::plan ? best : drawn.arm] += 1.0;
  }
  double sum = 0.0;
  for (std::uint8_t arm = 0; arm < 4; ++arm) {
    const double propensity = arm_propensity(design, arm, best, open, 4);
    EXPECT_NEAR(count[arm] / draws, propensity, 0.006) << "arm " << int{arm};
    sum += propensity;
  }
  EXPECT_DOUBLE_EQ(sum, 1.0);
  EXPECT_EQ(arm_propensity(design, 2, best, open, 4), 0.0);
}

TEST(LaunchDesign, AUnitThatMayNotGetControlCannotBeHeldOut) {
  const std::vector<std::uint8_t> open = {0, 1};
  EXPECT_THROW(
      {
        for (std::size_t unit = 0; unit < 100; ++unit) (void)draw_role({.holdout = 0.5}, numbered(100), unit, open, 2);
      },
      core::Error);
}

TEST(LaunchDesign, SharesOutOfRangeAreRefused) {
  for (const auto& [holdout, explore] : {std::pair{-0.1, 0.0}, {0.0, 1.0}, {0.6, 0.4}, {std::nan(""), 0.0}}) {
    EXPECT_THROW(validate({.holdout = holdout, .explore = explore}), core::Error) << holdout << " " << explore;
  }
  EXPECT_NO_THROW(validate({.holdout = 0.05, .explore = 0.02}));
}

TEST(LaunchDesign, TheMaskLeavesEachDrawnUnitItsOwnArm) {
  core::RunContext context(2);
  const std::size_t num_units = 5000;
  core::Matrix<std::uint8_t> eligible(num_units, 3);
  std::fill_n(eligible.data(), 3 * num_units, std::uint8_t{1});
  const data::Ids ids = numbered(num_units);
  const LaunchDesign design{.holdout = 0.1, .explore = 0.1, .salt = "x", .seed = 5, .control = 1};
  mask_launch(design, ids, eligible.view(), context);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const DrawnRole drawn = draw_role(design, ids, unit, {}, 3);
    for (std::size_t arm = 0; arm < 3; ++arm) {
      const bool expected = drawn.role == Role::plan || drawn.arm == arm;
      EXPECT_EQ(eligible(unit, arm) != 0, expected);
    }
    if (drawn.role == Role::holdout) {
      EXPECT_EQ(drawn.arm, 1);
    }
  }
}

// The best arm of a held-out unit is the one that the solver would give it at the same price.
TEST(LaunchDesign, TheArmAtPricesIsThatOfTheSolver) {
  core::RunContext context(1);
  const std::uint64_t seed = 3;
  SCOPED_TRACE(seed);
  core::Matrix<float> revenue(2000, 4), cost(2000, 4);
  for (std::size_t unit = 0; unit < 2000; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("test"), unit);
    for (std::size_t arm = 0; arm < 4; ++arm) {
      revenue(unit, arm) = static_cast<float>(stream.normal());
      cost(unit, arm) = static_cast<float>(stream.normal());
    }
  }
  for (const allocate::Objective objective : {allocate::Objective::revenue, allocate::Objective::profit}) {
    for (const double min_roi : {0.0, 1.5}) {
      allocate::Problem problem{.revenue = std::as_const(revenue).view(), .cost = std::as_const(cost).view()};
      problem.rules = {.objective = objective, .margin = 0.8, .min_roi = min_roi};
      const allocate::Solution solution = allocate::apply_multiplier(problem, 0.7, context);
      for (std::size_t unit = 0; unit < 2000; ++unit) {
        const std::uint8_t arm =
            arm_at_prices({revenue.row(unit), cost.row(unit), {}}, problem.rules, {.multiplier = 0.7});
        EXPECT_EQ(arm, solution.arm[unit]) << "unit " << unit << ", least return " << min_roi;
      }
    }
  }
}

TEST(LaunchDesign, ElasticityIsThePowerOfTheMultiplier) {
  EXPECT_NEAR(spend_elasticity(100.0, 100.0 * std::pow(1.44, -1.7), 1.44), 1.7, 1e-12);
  EXPECT_TRUE(std::isnan(spend_elasticity(100.0, 100.0, 1.44)));
}

}  // namespace
}  // namespace dfcl::launch
