// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/settle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/allocate/settle_tile.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

TEST(AddTile, IsExactWhateverTheSpreadOfTheNumbers) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    core::RandomStream stream(31, core::stream_purpose("add tile test"), i);
    const int spread = static_cast<int>(stream.below(80));
    const int shift = static_cast<int>(stream.below(150)) - 100;
    std::vector<float> numbers(kTileUnits);
    ExactSum expected;
    for (float& number : numbers) {
      const int exponent = shift + static_cast<int>(stream.below(static_cast<std::uint32_t>(spread + 1)));
      number = stream.bernoulli(0.1) ? 0.0f : static_cast<float>(std::ldexp(stream.uniform(-1.0, 1.0), exponent));
      expected.add(number);
    }
    ExactSum sum;
    add_tile(numbers.data(), sum);
    EXPECT_EQ(sum.value(), expected.value()) << "seed 31, instance " << i;
    for (const float number : numbers) sum.subtract(number);
    EXPECT_EQ(sum.value(), 0.0) << "seed 31, instance " << i;
  }
}

// Arms 2 to 6 have loops of their own.
class SettleByArms : public testing::TestWithParam<std::size_t> {};

TEST_P(SettleByArms, LeavesOnlyExactChoicesAndTheWholeWindow) {
  const std::size_t arms = GetParam();
  core::RunContext context(2);
  Instance instance = smooth_instance(3000, arms, 41);
  instance.revenue(7, arms - 1) = instance.revenue(7, 0);  // ties and free arms among them
  for (std::size_t unit = 100; unit < 120; ++unit) instance.cost(unit, arms - 1) = 0.0f;
  core::RandomStream stream(42, core::stream_purpose("settle test"), arms);
  for (const bool masked : {false, true}) {
    if (masked) add_eligibility(instance, stream);
    const Problem problem = instance.problem();
    const Units units{problem.revenue, problem.cost, problem.eligible, 0, {}};
    const Bracket bracket{1.1f, 0.9f};
    std::vector<std::uint8_t> plan(units.size());
    const Settled settled = settle(units, problem.rules, bracket, plan.data(), context);
    ExactSum spend, least;
    std::size_t increments = 0;
    Hull hull;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      build_hull(units, unit, Prices(problem.rules), hull);
      std::size_t point = 1;
      while (point < hull.size && hull.efficiency[point] > static_cast<double>(bracket.high)) ++point;
      ASSERT_EQ(plan[unit], hull.points[point - 1].arm) << "unit " << unit;
      spend.add(static_cast<float>(hull.points[point - 1].cost));
      least.add(static_cast<float>(hull.points[0].cost));
      for (; point < hull.size && hull.efficiency[point] >= static_cast<double>(bracket.low); ++point) ++increments;
    }
    EXPECT_EQ(settled.window.size(), increments);
    EXPECT_EQ(increments > 0, arms > 1);
    EXPECT_EQ(settled.before.cost.value(), spend.value());
    EXPECT_EQ(settled.least.cost.value(), least.value());
  }
}

TEST_P(SettleByArms, AssignsThePlanBeforeAnyPlaceOfThePath) {
  const std::size_t arms = GetParam();
  core::RunContext context(2);
  Instance instance = smooth_instance(1500, arms, 44);
  core::RandomStream stream(45, core::stream_purpose("settle test"), arms);
  std::vector<std::uint64_t> keys(1500);
  for (std::uint64_t& key : keys) key = stream.next_u64();
  for (const bool masked : {false, true}) {
    if (masked) add_eligibility(instance, stream);
    Problem problem = instance.problem();
    const Units units{problem.revenue, problem.cost, problem.eligible, 0, keys};
    const Prices prices(problem.rules);
    Hull hull;
    std::vector<PathPosition> places = {0, kPathEnd, position_of(1e35, 3), position_of(1e-300, 3)};
    for (std::size_t unit = 0; unit < units.size(); unit += 97) {  // at, just before and just after increments
      build_hull(units, unit, prices, hull);
      for (std::size_t point = 1; point < hull.size; ++point) {
        const PathPosition place = position_of(hull.efficiency[point], keys[unit]);
        places.insert(places.end(), {place - 1, place, place + 1});
      }
    }
    std::vector<std::uint8_t> plan(units.size());
    for (const PathPosition place : places) {
      assign_before(units, prices, place, plan.data(), context);
      for (std::size_t unit = 0; unit < units.size(); ++unit) {
        build_hull(units, unit, prices, hull);
        ASSERT_EQ(plan[unit], hull.points[points_before(hull, keys[unit], place) - 1].arm) << "unit " << unit;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arms, SettleByArms, testing::Values(1, 2, 3, 4, 5, 6, 7, 12));

TEST(BracketOnSample, HoldsTheCut) {
  core::RunContext context(2);
  const Instance instance = smooth_instance(600'000, 5, 43);
  const Problem problem = instance.problem();
  const Units units{problem.revenue, problem.cost, {}, 0, {}};
  for (const double per_unit : {0.1, 0.5, 1.5}) {
    const double budget = per_unit * static_cast<double>(units.size());
    const std::optional<Bracket> bracket = bracket_on_sample(units, problem.rules, budget, context);
    ASSERT_TRUE(bracket.has_value());
    const double multiplier = allocate(problem, budget, context).multiplier;
    EXPECT_LT(multiplier, static_cast<double>(bracket->high));
    EXPECT_GT(multiplier, static_cast<double>(bracket->low));
  }
}

}  // namespace
}  // namespace dfcl::allocate
