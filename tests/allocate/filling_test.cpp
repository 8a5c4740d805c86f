// SPDX-License-Identifier: Apache-2.0
//
// Filling against greedy filling with every amount of money, one by one.
#include "dfcl/allocate/filling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dfcl/core/random.h"

namespace dfcl::allocate {
namespace {

// What greedy filling gains with this much money.
double greedy(const std::vector<Increment>& increments, PathPosition cut, const Prices& prices, double money) {
  double gained = 0.0;
  std::vector<const Increment*> taken;
  for (const Increment& increment : increments) {
    const double cost = increment.extra_cost(prices);
    const bool open = increment.is_first() || position_of(increment.previous, increment.key) < cut ||
                      std::any_of(taken.begin(), taken.end(), [&](const Increment* other) {
                        return other->unit == increment.unit && other->arm_to == increment.arm_from;
                      });
    if (!open || cost > money) continue;
    money -= cost;
    gained += prices.value(increment.extra_revenue(), cost);
    taken.push_back(&increment);
  }
  return gained;
}

TEST(Filler, FindsTheAmountOfMoneyForWhichGreedyFillingGainsMost) {
  for (std::uint64_t i = 0; i < 400; ++i) {
    core::RandomStream stream(91, core::stream_purpose("filling test"), i);
    Rules rules;
    if (i % 2 == 1) rules = {.objective = Objective::profit, .margin = 1.5};
    const Prices prices(rules);
    std::vector<Increment> increments;
    double efficiency = 3.0;
    for (std::uint32_t j = 0; j < 60; ++j) {
      // Costs in quarters, so that sums are exact; some units have a second step.
      efficiency *= 0.99;
      const auto cost = 0.25f * static_cast<float>(1 + stream.below(24));
      const bool second = j > 5 && stream.bernoulli(0.3);
      const std::uint32_t unit = second ? increments[stream.below(j)].unit : j;
      Increment increment{efficiency, unit, std::numeric_limits<double>::infinity(), 0.0f,
                          cost,       0.0f, static_cast<float>(efficiency) * cost,   unit,
                          0,          1};
      for (const Increment& other : increments) {
        if (other.unit != unit) continue;
        increment.previous = other.efficiency;
        increment.arm_from = other.arm_to;
        increment.arm_to = static_cast<std::uint8_t>(other.arm_to + 1);
      }
      increments.push_back(increment);
    }
    const Increment cut = increments[0];
    increments.erase(increments.begin());
    const double left = 0.25 * (1 + stream.below(40));
    Filler filler(cut, prices, left);
    filler.offer(increments);
    double best = 0.0;
    for (double money = 0.0; money <= left; money += 0.25) {
      best = std::max(best, greedy(increments, position_of(cut), prices, money));
    }
    const std::vector<Filling> found = filler.finish();
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found[0].gained, best, 1e-9) << "seed 91, instance " << i;
    EXPECT_LE(found[0].used, left);
    EXPECT_LE(filler.most_unused(), left);
  }
}

TEST(Filler, StopsAfterAGivenNumberOfIncrements) {
  const Prices prices{Rules{}};
  const Increment increment{2.0, 1, std::numeric_limits<double>::infinity(), 0.0f, 1.0f, 0.0f, 2.0f, 1, 0, 1};
  Filler filler(increment, prices, 5.0);
  filler.pass_over(kFillIncrements - 1);
  EXPECT_FALSE(filler.done());
  Increment next = increment;
  next.efficiency = 1.5;
  next.unit = 2;
  Increment last = next;
  last.unit = 3;
  const std::vector<Increment> both = {next, last};
  filler.offer(both);
  EXPECT_TRUE(filler.done());
  EXPECT_EQ(filler.finish()[0].taken.size(), 1u);
}

}  // namespace
}  // namespace dfcl::allocate
