// SPDX-License-Identifier: Apache-2.0
//
// Limits that couple units, with enough units that a sample and a box of prices are used: the plan keeps to every
// limit, lies next to the bound, and is the same for any number of threads and any order of the rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dfcl/allocate/price_box.h"
#include "dfcl/core/hash.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint32_t kTest = core::stream_purpose("allocate many units test");
constexpr std::size_t kUnits = 60'000;

std::vector<std::uint64_t> keys_of(std::size_t units) {
  std::vector<std::uint64_t> keys(units);
  for (std::size_t unit = 0; unit < units; ++unit) keys[unit] = core::mix_bits(unit + 77);
  return keys;
}

// A second resource, segments with budgets, and limits of units; the parts that `kind` asks for.
Instance limited_instance(std::size_t units, int kind) {
  Instance instance = smooth_instance(units, 4, 1001);
  core::RandomStream stream(1002, kTest, 0);
  const auto amount = static_cast<double>(units);
  if ((kind & 1) != 0) {
    instance.second = core::Matrix<float>(units, 4);
    for (std::size_t i = 0; i < 4 * units; ++i)
      instance.second.data()[i] = i % 4 == 0 ? 0.0f : static_cast<float>(stream.uniform(0.0, 1.0));
    instance.options.second.budget = 0.2 * amount;
  }
  if ((kind & 2) != 0) {
    for (std::size_t unit = 0; unit < units; ++unit)
      instance.segment.push_back(static_cast<std::uint32_t>(unit % 97 == 0 ? 3 : unit % 3));
    instance.options.segments.budgets = {0.05 * amount, 0.12 * amount, kNoBudget, 0.003 * amount};
  }
  if ((kind & 4) != 0) {
    const auto whole = static_cast<std::int64_t>(units);
    instance.options.max_units = {whole, whole / 10, whole, whole / 20};
    instance.options.min_units = {0, 0, whole / 8, 0};
  }
  return instance;
}

TEST(AllocateManyUnits, KeepsToLimitsNextToTheBound) {
  core::RunContext context(2);
  for (const int kind : {1, 3, 4, 5, 7}) {
    SCOPED_TRACE(testing::Message() << "kind " << kind);
    const Instance instance = limited_instance(kUnits, kind);
    const double budget = 0.3 * kUnits;
    const Solution solution = allocate(instance.problem(), budget, context);
    ASSERT_TRUE(solution.has_plan());
    EXPECT_TRUE(is_feasible(instance.problem(), solution.arm, budget));
    const PlanTotals totals = totals_of(instance.problem(), solution.arm);
    EXPECT_NEAR(solution.value, totals.revenue, 1e-9 * solution.value);
    EXPECT_NEAR(solution.spend, totals.cost, 1e-9 * solution.spend);
    EXPECT_LT(solution.gap, 1e-4 * solution.bound);
    EXPECT_GE(solution.gap, 0.0);
  }
}

TEST(AllocateManyUnits, NeverReportsABoundBelowAKnownPlan) {
  core::RunContext context(2);
  // Twice the same 30,000 units, which are few: their plan taken twice is a plan, and the bounds are the same.
  Instance half = limited_instance(30'000, 5);
  Instance whole(kUnits, 4);
  whole.second = core::Matrix<float>(kUnits, 4);
  whole.options = half.options;
  whole.options.second.budget *= 2.0;
  for (auto* limits : {&whole.options.max_units, &whole.options.min_units}) {
    for (std::int64_t& limit : *limits) limit *= 2;
  }
  for (std::size_t unit = 0; unit < kUnits; ++unit) {
    for (std::size_t arm = 0; arm < 4; ++arm) {
      whole.revenue(unit, arm) = half.revenue(unit / 2, arm);
      whole.cost(unit, arm) = half.cost(unit / 2, arm);
      whole.second(unit, arm) = half.second(unit / 2, arm);
    }
  }
  const Solution few = allocate(half.problem(), 9'000, context);
  const Solution many = allocate(whole.problem(), 18'000, context);
  ASSERT_TRUE(few.has_plan());
  ASSERT_TRUE(many.has_plan());
  EXPECT_GE(many.bound, 2.0 * few.value - 1e-7 * many.bound);
  EXPECT_NEAR(many.bound, 2.0 * few.bound, 1e-4 * many.bound);
  EXPECT_NEAR(many.value, 2.0 * few.value, 1e-3 * many.value);
}

TEST(AllocateManyUnits, AnyThreadsAndAnyOrderOfRowsGiveTheSameBytes) {
  for (const int kind : {2, 5, 7}) {
    const std::size_t units = kind == 2 ? 250'000 : kUnits;  // segments alone are sampled from 200,000 units
    SCOPED_TRACE(testing::Message() << "kind " << kind);
    const Instance instance = limited_instance(units, kind);
    const std::vector<std::uint64_t> keys = keys_of(units);
    Problem problem = instance.problem();
    problem.keys = keys;
    const double budget = 0.25 * static_cast<double>(units);
    core::RunContext one(1);
    const Solution first = allocate(problem, budget, one);
    ASSERT_TRUE(first.has_plan());
    EXPECT_TRUE(is_feasible(problem, first.arm, budget));
    EXPECT_LT(first.gap, 1e-4 * first.bound);

    std::vector<std::size_t> order(units);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i < units; ++i) std::swap(order[i], order[(i * 7919 + 13) % units]);
    Instance shuffled(units, 4);
    shuffled.options = instance.options;
    if (instance.second.rows() > 0) shuffled.second = core::Matrix<float>(units, 4);
    std::vector<std::uint64_t> shuffled_keys(units);
    for (std::size_t i = 0; i < units; ++i) {
      for (std::size_t arm = 0; arm < 4; ++arm) {
        shuffled.revenue(i, arm) = instance.revenue(order[i], arm);
        shuffled.cost(i, arm) = instance.cost(order[i], arm);
        if (instance.second.rows() > 0) shuffled.second(i, arm) = instance.second(order[i], arm);
      }
      if (!instance.segment.empty()) shuffled.segment.push_back(instance.segment[order[i]]);
      shuffled_keys[i] = keys[order[i]];
    }
    Problem other = shuffled.problem();
    other.keys = shuffled_keys;
    core::RunContext eight(8);
    const Solution again = allocate(other, budget, eight);
    ASSERT_TRUE(again.has_plan());
    EXPECT_EQ(again.value, first.value);
    EXPECT_EQ(again.bound, first.bound);
    EXPECT_EQ(again.multiplier, first.multiplier);
    EXPECT_EQ(again.segment_multiplier, first.segment_multiplier);
    for (std::size_t i = 0; i < units; ++i) ASSERT_EQ(again.arm[i], first.arm[order[i]]);
  }
}

TEST(AllocateManyUnits, ProvesWhatCannotBeMetAndSaysTheLeastSpend) {
  core::RunContext context(2);
  Instance instance = limited_instance(kUnits, 4);
  const Solution feasible = allocate(instance.problem(), kNoBudget, context);
  ASSERT_TRUE(feasible.has_plan());
  const Solution poor = allocate(instance.problem(), 10.0, context);
  EXPECT_EQ(poor.status, Status::cannot_be_met);
  // An eighth of the units must get arm 2; the cheapest of them cost this much.
  std::vector<float> costs;
  for (std::size_t unit = 0; unit < kUnits; ++unit) costs.push_back(instance.cost(unit, 2));
  std::nth_element(costs.begin(), costs.begin() + kUnits / 8, costs.end());
  const double least = std::accumulate(costs.begin(), costs.begin() + kUnits / 8, 0.0);
  EXPECT_NEAR(poor.least_spend, least, 1e-4 * least);
  instance.options.min_units = {40'000, 30'000, 0, 0};
  instance.options.max_units = {};
  EXPECT_EQ(allocate(instance.problem(), kNoBudget, context).status, Status::cannot_be_met);
}

TEST(AllocateManyUnits, SettledUnitsKeepTheirArmEverywhereInTheBox) {
  core::RunContext context(2);
  const Instance instance = limited_instance(5'000, 7);
  const Problem problem = instance.problem();
  const PriceBox box{.gain_scale = 1.0,
                     .cost_price = {0.5, 0.7, 0.4, 0.9},
                     .cost_width = {0.05, 0.1, 0.02, std::numeric_limits<double>::infinity()},
                     .second_price = 0.2,
                     .second_width = 0.05,
                     .arm_price = {0.0, 0.1, -0.05, 0.2},
                     .arm_width = {0.0, 0.02, 0.01, 0.03}};
  std::vector<std::uint8_t> arm(problem.num_units());
  const SettledUnits settled = settle_units(problem, box, arm.data(), context);
  ASSERT_GT(settled.open.size(), 100u);
  ASSERT_LT(settled.open.size(), 4'000u);
  std::vector<bool> is_open(problem.num_units());
  for (const std::uint32_t unit : settled.open) is_open[unit] = true;
  core::RandomStream stream(1003, kTest, 1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto inside = [&](double middle, double width) { return middle + width * stream.uniform(-1.0, 1.0); };
    const double second = inside(box.second_price, box.second_width);
    std::array<double, 4> arms{};
    std::array<double, 3> cost{};
    for (std::size_t a = 0; a < 4; ++a) arms[a] = inside(box.arm_price[a], box.arm_width[a]);
    for (std::size_t s = 0; s < 3; ++s) cost[s] = inside(box.cost_price[s], box.cost_width[s]);
    for (std::size_t unit = 0; unit < problem.num_units(); ++unit) {
      if (is_open[unit]) continue;
      ASSERT_NE(instance.segment[unit], 3u) << "its width is infinite";
      const auto score = [&](std::size_t a) {
        return instance.revenue(unit, a) - cost[instance.segment[unit]] * instance.cost(unit, a) -
               second * instance.second(unit, a) - arms[a];
      };
      for (std::size_t a = 0; a < 4; ++a) ASSERT_GE(score(arm[unit]), score(a)) << "unit " << unit;
    }
  }
}

}  // namespace
}  // namespace dfcl::allocate
