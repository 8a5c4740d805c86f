// SPDX-License-Identifier: Apache-2.0
//
// One path, many budgets: against brute force over all plans, in both forms, in any order of the rows, with ties,
// negative and zero costs, a control that is not the cheapest arm, and known prices.
#include "dfcl/allocate/plan_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/error.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint64_t kSeed = 20261116;
constexpr std::uint32_t kTest = core::stream_purpose("plan path test");

std::vector<std::uint64_t> random_keys(std::size_t units, core::RandomStream& stream) {
  std::vector<std::uint64_t> keys(units);
  for (std::uint64_t& key : keys) key = stream.next_u64();
  return keys;
}

void expect_same(const Solution& one, const Solution& other) {
  EXPECT_EQ(one.status, other.status);
  EXPECT_EQ(one.binding, other.binding);
  EXPECT_EQ(one.spend, other.spend);
  EXPECT_EQ(one.revenue, other.revenue);
  EXPECT_EQ(one.value, other.value);
  EXPECT_EQ(one.bound, other.bound);
  EXPECT_EQ(one.gap, other.gap);
  EXPECT_EQ(one.multiplier, other.multiplier);
  EXPECT_EQ(one.least_spend, other.least_spend);
  EXPECT_EQ(one.control_cost, other.control_cost);
  EXPECT_EQ(one.units_per_arm, other.units_per_arm);
}

// The arms add up to the summary, keep to the budget, and are as good as the proof says.
void expect_holds(const Problem& problem, const Solution& summary, const std::vector<std::uint8_t>& arm,
                  double budget) {
  const BruteForce truth = brute_force(problem, budget);
  EXPECT_EQ(summary.least_spend, truth.least_spend);
  ASSERT_EQ(summary.has_plan(), truth.best.has_value());
  if (!truth.best) return;
  const PlanTotals totals = totals_of(problem, arm);
  EXPECT_DOUBLE_EQ(summary.spend, totals.cost);
  EXPECT_DOUBLE_EQ(summary.revenue, totals.revenue);
  EXPECT_EQ(summary.units_per_arm, totals.units);
  EXPECT_TRUE(is_feasible(problem, arm, budget));
  EXPECT_LE(*truth.best, summary.bound + 1e-9);
  EXPECT_GE(summary.value, *truth.best - summary.gap - 1e-9);
}

TEST(PlanPath, HoldsAtEveryBudgetInBothForms) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 250; ++i) {
    core::RandomStream stream(kSeed, kTest, i);
    Instance instance = small_instance(stream);
    if (i % 3 == 1) add_eligibility(instance, stream);
    if (i % 4 == 1) instance.options.rules.objective = Objective::profit;
    const std::vector<std::uint64_t> keys = random_keys(instance.revenue.rows(), stream);
    Problem problem = instance.problem();
    problem.keys = keys;
    PlanPath sorted(problem, PlanPath::Form::sorted);
    PlanPath bucketed(problem, PlanPath::Form::bucketed);
    for (double budget = -12; budget < 40; budget += 2.5) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", instance " << i << ", budget " << budget);
      const PathPlan plan = sorted.at_budget(budget, context);
      const PathPlan other = bucketed.at_budget(budget, context);
      expect_same(plan.summary, other.summary);
      const std::vector<std::uint8_t> arm = sorted.arms(plan, context);
      EXPECT_EQ(bucketed.arms(other, context), arm);
      expect_holds(problem, plan.summary, arm, budget);
      EXPECT_EQ(allocate(problem, budget, context).arm, arm);
      if (testing::Test::HasFailure()) return;
    }
    for (const double multiplier : {0.0, 0.3, 1.0, 2.0, 100.0}) {
      expect_same(sorted.at_multiplier(multiplier, context).summary,
                  bucketed.at_multiplier(multiplier, context).summary);
    }
  }
}

TEST(PlanPath, HoldsUnderALeastReturn) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 200; ++i) {
    core::RandomStream stream(kSeed + 1, kTest, i);
    Instance instance = small_instance(stream);
    instance.options.rules.min_roi = 0.5 * (1 + stream.below(6));
    const Problem problem = instance.problem();
    PlanPath sorted(problem, PlanPath::Form::sorted);
    PlanPath bucketed(problem, PlanPath::Form::bucketed);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1 << ", instance " << i);
    for (double budget = -12; budget < 40; budget += 3.5) {
      expect_same(sorted.at_budget(budget, context).summary, bucketed.at_budget(budget, context).summary);
    }
    const Solution all = sorted.at_budget(kNoBudget, context).summary;
    EXPECT_TRUE(all.status == Status::no_budget || all.status == Status::no_gain);
    EXPECT_TRUE(all.binding == Binding::min_roi || all.binding == Binding::best_arms);
  }
}

TEST(PlanPath, GivesTheDirectPlanOfALargeProblemInEveryForm) {
  core::RunContext context(2);
  for (const bool ties : {false, true}) {
    Instance instance = smooth_instance(260'000, 4, 7);
    for (std::size_t i = 0; ties && i < instance.revenue.rows() * 4; ++i) {  // few distinct numbers
      instance.revenue.data()[i] = std::round(instance.revenue.data()[i] * 4.0f) / 4.0f;
      instance.cost.data()[i] = std::round(instance.cost.data()[i] * 2.0f) / 2.0f;
    }
    core::RandomStream stream(kSeed + 2, kTest, 0);
    const std::vector<std::uint64_t> keys = random_keys(instance.revenue.rows(), stream);
    Problem problem = instance.problem();
    problem.keys = keys;
    PlanPath sorted(problem, PlanPath::Form::sorted);
    PlanPath bucketed(problem, PlanPath::Form::bucketed);
    for (const double per_unit : {-1.0, 0.0, 0.05, 0.3, 0.7, 1.4, 9.0}) {
      SCOPED_TRACE(testing::Message() << "per unit " << per_unit << ", ties " << ties);
      const double budget = per_unit * 260'000;
      const Solution direct = allocate(problem, budget, context);
      const PathPlan plan = bucketed.at_budget(budget, context);
      expect_same(direct, plan.summary);
      expect_same(direct, sorted.at_budget(budget, context).summary);
      EXPECT_EQ(bucketed.arms(plan, context), direct.arm);
    }
  }
}

TEST(PlanPath, FindsTheCutAmongMillionsOfEqualUnits) {
  core::RunContext context(2);
  const std::size_t units = 2'200'000;
  Instance instance(units, 2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    instance.revenue(unit, 0) = instance.cost(unit, 0) = 0.0f;
    instance.revenue(unit, 1) = 2.0f;
    instance.cost(unit, 1) = 1.0f;
  }
  core::RandomStream stream(kSeed + 3, kTest, 0);
  const std::vector<std::uint64_t> keys = random_keys(units, stream);
  Problem problem = instance.problem();
  problem.keys = keys;
  PlanPath path(problem, PlanPath::Form::bucketed);
  const PathPlan plan = path.at_budget(700'000.5, context);
  EXPECT_EQ(plan.summary.units_per_arm[1], 700'000);
  // Those of the smallest keys have it.
  std::vector<std::uint64_t> sorted = keys;
  std::nth_element(sorted.begin(), sorted.begin() + 700'000, sorted.end());
  const std::vector<std::uint8_t> arm = path.arms(plan, context);
  for (std::size_t unit = 0; unit < units; ++unit) ASSERT_EQ(arm[unit], keys[unit] < sorted[700'000] ? 1 : 0);
}

TEST(PlanPath, SortsUnitsThatAreEquallyEfficientByTheirKeys) {
  core::RunContext context(2);
  const std::size_t units = 60'000;
  Instance instance(units, 3);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      instance.revenue(unit, arm) = unit == 7 && arm == 1 ? 900.0f : std::sqrt(static_cast<float>(arm));
      instance.cost(unit, arm) = static_cast<float>(arm);
    }
  }
  core::RandomStream stream(kSeed + 4, kTest, 0);
  for (const bool has_equal_keys : {false, true}) {
    std::vector<std::uint64_t> keys = random_keys(units, stream);
    if (has_equal_keys) std::fill(keys.begin(), keys.begin() + 40'000, 5);
    Problem problem = instance.problem();
    problem.keys = keys;
    PlanPath path(problem, PlanPath::Form::sorted);
    const std::span<const Increment> increments = path.increments(context);
    EXPECT_EQ(increments.size(), 2 * units - 1);
    EXPECT_TRUE(std::is_sorted(increments.begin(), increments.end(), before));
  }
}

TEST(PlanPath, GivesEachUnitTheSameArmInAnyOrderOfTheRows) {
  core::RunContext context(2);
  for (std::uint64_t i = 0; i < 60; ++i) {
    core::RandomStream stream(kSeed + 4, kTest, i);
    const std::size_t units = 400;
    Instance instance(units, 3);
    for (std::size_t k = 0; k < units * 3; ++k) {  // whole numbers: ties everywhere
      instance.revenue.data()[k] = static_cast<float>(stream.below(6));
      instance.cost.data()[k] = static_cast<float>(stream.below(4));
    }
    for (std::size_t unit = 0; unit < units; ++unit) instance.cost(unit, 0) = 0.0f;  // every budget can be met
    const std::vector<std::uint64_t> keys = random_keys(units, stream);
    std::vector<std::size_t> order(units);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::uint32_t k = units - 1; k > 0; --k) std::swap(order[k], order[stream.below(k + 1)]);
    Instance shuffled(units, 3);
    std::vector<std::uint64_t> shuffled_keys(units);
    for (std::size_t unit = 0; unit < units; ++unit) {
      shuffled_keys[unit] = keys[order[unit]];
      for (std::size_t arm = 0; arm < 3; ++arm) {
        shuffled.revenue(unit, arm) = instance.revenue(order[unit], arm);
        shuffled.cost(unit, arm) = instance.cost(order[unit], arm);
      }
    }
    Problem problem = instance.problem();
    Problem other = shuffled.problem();
    problem.keys = keys;
    other.keys = shuffled_keys;
    if (i % 3 == 1) problem.max_units = other.max_units = {400, 90, 50};
    SCOPED_TRACE(testing::Message() << "seed " << kSeed + 4 << ", instance " << i);
    const double budget = 40.0 + 7.0 * static_cast<double>(i);
    const Solution first = allocate(problem, budget, context);
    const Solution second = allocate(other, budget, context);
    expect_same(first, second);
    ASSERT_TRUE(first.has_plan());
    for (std::size_t unit = 0; unit < units; ++unit) ASSERT_EQ(second.arm[unit], first.arm[order[unit]]);
  }
}

TEST(PlanPath, DeliversMatricesInPiecesInRowOrder) {
  core::RunContext context(2);
  const Instance instance = smooth_instance(150'001, 3, 9);
  PlanPath path(instance.problem());
  const PathPlan plan = path.at_budget(40'000, context);
  std::vector<std::uint8_t> arm;
  path.deliver(
      plan,
      [&](const PlannedUnits& planned) {
        EXPECT_EQ(planned.units.first_unit, arm.size());
        EXPECT_EQ(planned.cost(0), instance.cost(arm.size(), planned.arm[0]));
        arm.insert(arm.end(), planned.arm.begin(), planned.arm.end());
      },
      context);
  EXPECT_EQ(arm, path.arms(plan, context));
}

TEST(PlanPath, IsTheSameForAnyNumberOfThreads) {
  const Instance instance = smooth_instance(130'000, 5, 11);
  core::RunContext one(1);
  PlanPath path(instance.problem(), PlanPath::Form::bucketed);
  for (const double budget : {3'000.0, 50'000.0}) {
    const PathPlan first = path.at_budget(budget, one);
    for (const int threads : {2, 8}) {
      core::RunContext context(threads);
      PlanPath other(instance.problem(), PlanPath::Form::bucketed);
      const PathPlan plan = other.at_budget(budget, context);
      expect_same(plan.summary, first.summary);
      EXPECT_EQ(other.arms(plan, context), path.arms(first, one));
    }
  }
}

// Every unit gains, each a little differently; prices are the same for all.
Instance priced_instance(std::size_t units, const std::vector<double>& price, std::uint64_t seed) {
  Instance instance(units, price.size());
  for (std::size_t unit = 0; unit < units; ++unit) {
    core::RandomStream stream(seed, kTest, unit);
    double revenue = 0.0;
    for (std::size_t arm = 0; arm < price.size(); ++arm) {
      if (arm > 0) revenue += stream.uniform(0.1, 1.0) / static_cast<double>(arm);
      instance.revenue(unit, arm) = static_cast<float>(revenue);
      instance.cost(unit, arm) = static_cast<float>(price[arm]);
    }
  }
  instance.options.rules.price = price;
  return instance;
}

TEST(KnownPrices, BuyExactlyAsManyPiecesAsTheBudgetPays) {
  core::RunContext context(2);
  struct Case {
    double price;
    double budget;
    std::int64_t pieces;
  };
  for (const std::size_t units : {std::size_t{20'000}, std::size_t{300'000}}) {
    for (const Case& c : {Case{0.15, 1500.0, 10'000}, Case{0.1, 1000.0, 10'000}, Case{0.1, 0.3, 3}, Case{0.07, 0.21, 3},
                          Case{19.99, 19'990.0, 1000}, Case{1.1, 3.3, 3}}) {
      const Instance instance = priced_instance(units, {0.0, c.price}, 5);
      for (const auto form : {PlanPath::Form::automatic, PlanPath::Form::sorted, PlanPath::Form::bucketed}) {
        PlanPath path(instance.problem(), form);
        const Solution solution = path.at_budget(c.budget, context).summary;
        EXPECT_EQ(solution.units_per_arm[1], c.pieces) << units << " units at " << c.price;
        EXPECT_EQ(solution.spend, c.budget);
      }
    }
  }
}

TEST(KnownPrices, SpendIsTheSumOfUnitsTimesPrice) {
  core::RunContext context(2);
  const std::vector<double> price = {0.0, 0.15, 0.4, 1.0 / 3.0};
  for (const std::size_t units : {std::size_t{5'000}, std::size_t{200'000}}) {
    const Instance instance = priced_instance(units, price, 6);
    PlanPath path(instance.problem());
    for (const double per_unit : {0.01, 0.1, 0.2, 0.35}) {
      const PathPlan plan = path.at_budget(per_unit * static_cast<double>(units), context);
      double spend = 0.0;
      for (std::size_t arm = 0; arm < price.size(); ++arm) {
        spend += static_cast<double>(plan.summary.units_per_arm[arm]) * price[arm];
      }
      EXPECT_EQ(plan.summary.spend, spend);
      EXPECT_LE(spend, plan.summary.budget);
      EXPECT_LT(plan.summary.gap, 1.0);
      const std::vector<std::uint8_t> arm = path.arms(plan, context);
      EXPECT_EQ(totals_of(instance.problem(), arm).units, plan.summary.units_per_arm);
    }
  }
}

TEST(KnownPrices, HoldWithSegmentsAndLimits) {
  core::RunContext context(1);
  Instance instance = priced_instance(1000, {0.0, 0.1}, 8);
  for (std::size_t unit = 0; unit < 1000; ++unit) instance.segment.push_back(unit % 2 == 0 ? 0 : 1);
  instance.options.segments.budgets = {0.3, 0.7};
  const Solution solution = allocate(instance.problem(), kNoBudget, context);
  EXPECT_EQ(solution.units_per_arm[1], 10);
  EXPECT_EQ(solution.segment_spend[0], 0.3);
  EXPECT_EQ(solution.segment_spend[1], 0.7);
}

TEST(KnownPrices, AreRefusedWhereACostIsAnother) {
  core::RunContext context(1);
  Instance instance = priced_instance(100, {0.0, 0.15}, 8);
  instance.cost(17, 1) = 0.16f;
  try {
    allocate(instance.problem(), 3.0, context);
    ADD_FAILURE() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().where, "unit 17");
  }
}

}  // namespace
}  // namespace dfcl::allocate
