// SPDX-License-Identifier: Apache-2.0
//
// Limits of units per arm, a second resource, and segment budgets beside them.
#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint32_t kTest = core::stream_purpose("allocate coupled test");

void add_second(Instance& instance, core::RandomStream& stream, bool whole) {
  instance.second = core::Matrix<float>(instance.revenue.rows(), instance.revenue.cols());
  for (std::size_t i = 0; i < instance.revenue.rows() * instance.revenue.cols(); ++i) {
    instance.second.data()[i] =
        whole ? static_cast<float>(stream.below(6)) : static_cast<float>(stream.uniform(0.0, 1.0));
  }
  for (std::size_t unit = 0; !whole && unit < instance.revenue.rows(); ++unit) instance.second(unit, 0) = 0.0f;
}

TEST(AllocateCoupled, AgreesWithBruteForceOnSmallProblems) {
  core::RunContext context(1);
  int feasible = 0;
  int found = 0;
  int infeasible = 0;
  int proven = 0;
  for (std::uint64_t i = 0; i < 1500; ++i) {
    core::RandomStream stream(717, kTest, i);
    Instance instance = small_instance(stream);
    const std::size_t arms = instance.revenue.cols();
    const std::size_t units = instance.revenue.rows();
    if (i % 3 == 0) add_eligibility(instance, stream);
    if (i % 5 == 0) instance.options.rules = {.objective = Objective::profit, .margin = 0.5};
    if (i % 2 == 0) {
      add_second(instance, stream, true);
      instance.options.second.budget = static_cast<double>(stream.below(20));
    }
    if (i % 3 != 1) {
      for (std::size_t arm = 0; arm < arms; ++arm) {
        instance.options.max_units.push_back(1 + stream.below(static_cast<std::uint32_t>(units)));
        instance.options.min_units.push_back(stream.bernoulli(0.2) ? 1 : 0);
      }
    }
    if (i % 7 == 0) {
      for (std::size_t unit = 0; unit < units; ++unit) instance.segment.push_back(stream.below(2));
      const auto first = static_cast<double>(stream.below(12));
      instance.options.segments.budgets = {first, static_cast<double>(stream.below(12))};
    }
    const double budget = stream.bernoulli(0.2) ? kNoBudget : static_cast<double>(stream.below(36)) - 6.0;
    const Problem problem = instance.problem();
    SCOPED_TRACE(testing::Message() << "seed 717, instance " << i);
    const Solution solution = allocate(problem, budget, context);
    const BruteForce truth = brute_force(problem, budget);
    if (!truth.best) {
      ++infeasible;
      EXPECT_FALSE(solution.has_plan());
      proven += solution.status == Status::cannot_be_met ? 1 : 0;
      continue;
    }
    ++feasible;
    EXPECT_NE(solution.status, Status::cannot_be_met);
    if (!solution.has_plan()) continue;
    ++found;
    EXPECT_TRUE(is_feasible(problem, solution.arm, budget));
    const PlanTotals totals = totals_of(problem, solution.arm);
    EXPECT_DOUBLE_EQ(solution.value, value_of(problem, totals));
    EXPECT_DOUBLE_EQ(solution.second_spend, totals.second);
    EXPECT_LE(*truth.best, solution.bound + 1e-7);
    if (testing::Test::HasFailure()) return;
  }
  RecordProperty("feasible", feasible);
  RecordProperty("found", found);
  EXPECT_GT(feasible, 500);
  EXPECT_GT(found, 0.98 * feasible) << feasible << " feasible, " << found << " found";
  EXPECT_GT(infeasible, 100);
  EXPECT_GT(proven, 0.8 * infeasible) << infeasible << " infeasible, " << proven << " proven";
}

TEST(AllocateCoupled, IsFeasibleAndNearTheBoundWithTwoBudgetsAndTwoCaps) {
  core::RunContext context(2);
  for (std::uint64_t i = 0; i < 12; ++i) {
    core::RandomStream stream(818, kTest, i);
    Instance instance = smooth_instance(2000, 5, 818 + i);
    add_second(instance, stream, false);
    instance.options.second.budget = stream.uniform(200.0, 700.0);
    instance.options.max_units = {2000, 2000, 2000, 2000, 2000};
    instance.options.max_units[1 + stream.below(2)] = 100 + stream.below(400);
    instance.options.max_units[3 + stream.below(2)] = 50 + stream.below(200);
    const double budget = stream.uniform(300.0, 1500.0);
    SCOPED_TRACE(testing::Message() << "seed 818, instance " << i);
    const Solution solution = allocate(instance.problem(), budget, context);
    ASSERT_TRUE(solution.has_plan());
    EXPECT_TRUE(is_feasible(instance.problem(), solution.arm, budget));
    EXPECT_LT(solution.gap, 0.004 * solution.bound);
  }
}

TEST(AllocateCoupled, KeepsCapsOnManyEqualUnitsWithoutLoss) {
  core::RunContext context(2);
  const std::size_t units = 50'000;
  Instance instance(units, 3);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      instance.revenue(unit, arm) = static_cast<float>(arm) * 2.0f;
      instance.cost(unit, arm) = static_cast<float>(arm);
    }
  }
  instance.options.max_units = {50'000, 50'000, 1'000};
  instance.options.min_units = {20'000, 0, 0};
  const Solution solution = allocate(instance.problem(), kNoBudget, context);
  ASSERT_TRUE(solution.has_plan());
  EXPECT_EQ(solution.units_per_arm, (std::vector<std::int64_t>{20'000, 29'000, 1'000}));
  EXPECT_LT(solution.gap, 1e-3 * solution.value);
  EXPECT_EQ(solution.binding, Binding::unit_limits);
}

TEST(AllocateCoupled, ReturnsThePathsPlanWhereTheOtherLimitsDoNotBind) {
  core::RunContext context(2);
  Instance instance = smooth_instance(3000, 4, 919);
  const Solution path = allocate(instance.problem(), 1000, context);
  instance.options.max_units = {3000, 3000, 3000, 3000};
  instance.options.min_units = {1, 1, 1, 1};
  const Solution coupled = allocate(instance.problem(), 1000, context);
  EXPECT_EQ(coupled.arm, path.arm);
  EXPECT_EQ(coupled.bound, path.bound);
}

TEST(AllocateCoupled, SaysWhatCannotBeMet) {
  core::RunContext context(1);
  Instance instance = smooth_instance(100, 3, 920);
  instance.options.min_units = {60, 60, 0};
  EXPECT_EQ(allocate(instance.problem(), kNoBudget, context).status, Status::cannot_be_met);
  instance.options.min_units = {};
  instance.options.max_units = {30, 30, 30};
  EXPECT_EQ(allocate(instance.problem(), kNoBudget, context).status, Status::cannot_be_met);
  instance.options.max_units = {40, 40, 40};
  EXPECT_TRUE(allocate(instance.problem(), kNoBudget, context).has_plan());
}

TEST(AllocateCoupled, AnyNumberOfThreadsGivesTheSameBytes) {
  Instance instance = smooth_instance(30'000, 4, 921);
  core::RandomStream stream(922, kTest, 0);
  add_second(instance, stream, false);
  instance.options.second.budget = 6000;
  instance.options.max_units = {30'000, 4000, 30'000, 2000};
  core::RunContext one(1);
  const Solution first = allocate(instance.problem(), 9000, one);
  ASSERT_TRUE(first.has_plan());
  for (const int threads : {2, 8}) {
    core::RunContext context(threads);
    const Solution other = allocate(instance.problem(), 9000, context);
    EXPECT_EQ(other.arm, first.arm);
    EXPECT_EQ(other.bound, first.bound);
    EXPECT_EQ(other.multiplier, first.multiplier);
  }
}

TEST(AllocateCoupled, NamesTheUnitWhoseSecondCostIsNotFinite) {
  core::RunContext context(1);
  Instance instance = smooth_instance(50, 3, 923);
  core::RandomStream stream(924, kTest, 0);
  add_second(instance, stream, false);
  instance.second(31, 2) = std::numeric_limits<float>::infinity();
  instance.options.second.budget = 5;
  try {
    allocate(instance.problem(), 10, context);
    ADD_FAILURE() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().where, "unit 31");
  }
}

}  // namespace
}  // namespace dfcl::allocate
