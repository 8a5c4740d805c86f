// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint32_t kTest = core::stream_purpose("allocate segments test");

// Budgets by segment; some have none.
void add_segments(Instance& instance, core::RandomStream& stream, std::uint32_t count, double least, double most) {
  instance.segment.resize(instance.revenue.rows());
  for (std::uint32_t& segment : instance.segment) segment = stream.below(count);
  for (std::uint32_t s = 0; s < count; ++s) {
    const double budget = std::round(2.0 * stream.uniform(least, most)) / 2.0;
    instance.options.segments.budgets.push_back(stream.bernoulli(0.2) ? kNoBudget : budget);
  }
}

TEST(AllocateSegments, AgreesWithBruteForceOnSmallProblems) {
  core::RunContext context(1);
  int plans = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    core::RandomStream stream(515, kTest, i);
    Instance instance = small_instance(stream);
    if (i % 3 == 0) add_eligibility(instance, stream);
    if (i % 4 == 0) instance.options.rules = {.objective = Objective::profit, .margin = 0.5};
    add_segments(instance, stream, 1 + stream.below(3), -6.0, 16.0);
    const double budget = stream.bernoulli(0.3) ? kNoBudget : static_cast<double>(stream.below(40)) - 12.0;
    const Problem problem = instance.problem();
    SCOPED_TRACE(testing::Message() << "seed 515, instance " << i);
    const Solution solution = allocate(problem, budget, context);
    const BruteForce truth = brute_force(problem, budget);
    ASSERT_EQ(solution.has_plan(), truth.best.has_value());
    if (!truth.best) {
      EXPECT_EQ(solution.status, Status::cannot_be_met);
      continue;
    }
    ++plans;
    EXPECT_TRUE(is_feasible(problem, solution.arm, budget));
    const PlanTotals totals = totals_of(problem, solution.arm);
    EXPECT_DOUBLE_EQ(solution.spend, totals.cost);
    EXPECT_DOUBLE_EQ(solution.value, value_of(problem, totals));
    EXPECT_EQ(solution.segment_spend, totals.segment_cost);
    EXPECT_LE(*truth.best, solution.bound + 1e-9);
    EXPECT_GE(solution.value, *truth.best - solution.gap - 1e-9);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(plans, 500);
}

TEST(AllocateSegments, WithoutATotalSolvesEachSegmentAsIfItWereAlone) {
  core::RunContext context(2);
  const std::size_t units = 6000;
  Instance instance = smooth_instance(units, 4, 616);
  instance.segment.resize(units);
  for (std::size_t unit = 0; unit < units; ++unit) instance.segment[unit] = static_cast<std::uint32_t>(unit % 3);
  instance.options.segments.budgets = {300.25, 900.5, 1e9};
  const Solution together = allocate(instance.problem(), kNoBudget, context);
  double bound = 0.0;
  for (std::uint32_t s = 0; s < 3; ++s) {
    Instance alone(units / 3, 4);
    for (std::size_t unit = 0; unit < units / 3; ++unit) {
      for (std::size_t arm = 0; arm < 4; ++arm) {
        alone.revenue(unit, arm) = instance.revenue(3 * unit + s, arm);
        alone.cost(unit, arm) = instance.cost(3 * unit + s, arm);
      }
    }
    const Solution solution = allocate(alone.problem(), instance.options.segments.budgets[s], context);
    for (std::size_t unit = 0; unit < units / 3; ++unit) ASSERT_EQ(together.arm[3 * unit + s], solution.arm[unit]);
    EXPECT_EQ(together.segment_spend[s], solution.spend);
    EXPECT_DOUBLE_EQ(together.segment_multiplier[s], solution.multiplier);
    bound += solution.bound;
  }
  EXPECT_NEAR(together.bound, bound, 1e-9 * bound);
  EXPECT_EQ(together.binding, Binding::segment_budgets);
}

TEST(AllocateSegments, UnderATotalThatBindsLosesLittleOfTheBound) {
  core::RunContext context(2);
  Instance instance = smooth_instance(20'000, 5, 617);
  core::RandomStream stream(518, kTest, 0);
  add_segments(instance, stream, 10, 200, 1500);
  const Solution solution = allocate(instance.problem(), 6000, context);
  EXPECT_EQ(solution.status, Status::optimal);
  EXPECT_EQ(solution.binding, Binding::budget);
  EXPECT_TRUE(is_feasible(instance.problem(), solution.arm, 6000));
  EXPECT_LT(solution.gap, 1e-3 * solution.value);
  EXPECT_GT(*std::max_element(solution.segment_multiplier.begin(), solution.segment_multiplier.end()), 0.0);
}

}  // namespace
}  // namespace dfcl::allocate
