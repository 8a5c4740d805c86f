// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error.h"
#include "tests/allocate/instances.h"

namespace dfcl::allocate {
namespace {

// Every point is the plan of allocate() at its budget.
void expect_points_on_the_path(const Problem& problem, std::size_t num_points, core::RunContext& context) {
  const Curve curve = allocate_curve(problem, num_points, context);
  const SpendRange range = spend_range(problem, context);
  ASSERT_EQ(curve.points.size(), num_points);
  EXPECT_EQ(curve.points.back().spend, range.most);
  EXPECT_EQ(curve.points.back().multiplier, 0.0);
  EXPECT_EQ(curve.points.back().value, allocate(problem, kNoBudget, context).value);
  for (std::size_t i = 0; i < num_points; ++i) {
    const CurvePoint& point = curve.points[i];
    SCOPED_TRACE(testing::Message() << "point " << i);
    const double target =
        range.least + (range.most - range.least) * static_cast<double>(i) / static_cast<double>(num_points - 1);
    EXPECT_NEAR(point.budget, target, 1e-9 * (1.0 + std::abs(range.most)));
    EXPECT_LE(point.spend, point.budget);
    std::int64_t units = 0;
    for (const std::int64_t count : point.units_per_arm) units += count;
    EXPECT_EQ(units, static_cast<std::int64_t>(problem.num_units()));
    if (i > 0) {
      EXPECT_GE(point.value, curve.points[i - 1].value);
      EXPECT_LE(point.multiplier, curve.points[i - 1].multiplier);
    }
    const Solution solution = allocate(problem, point.budget, context);
    EXPECT_EQ(solution.spend, point.spend);
    EXPECT_EQ(solution.value, point.value);
    EXPECT_EQ(solution.units_per_arm, point.units_per_arm);
    EXPECT_EQ(solution.multiplier, point.multiplier);
  }
}

TEST(AllocateCurve, HasThePlansOfThePathOnSmallProblems) {
  core::RunContext context(1);
  for (std::uint64_t i = 0; i < 400; ++i) {
    core::RandomStream stream(4242, core::stream_purpose("allocate curve test"), i);
    Instance instance = small_instance(stream);
    if (i % 3 == 0) add_eligibility(instance, stream);
    if (i % 4 == 0) instance.options.rules = {.objective = Objective::profit, .margin = 0.5};
    if (i % 4 == 1) instance.options.rules.min_roi = 1.0;
    SCOPED_TRACE(testing::Message() << "seed 4242, instance " << i);
    expect_points_on_the_path(instance.problem(), 2 + stream.below(12), context);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AllocateCurve, HasThePlansOfThePathOnALargeProblem) {
  core::RunContext context(2);
  const Instance instance = smooth_instance(700'000, 4, 77);
  expect_points_on_the_path(instance.problem(), 9, context);
}

TEST(AllocateCurve, CutsManyEqualUnitsByRowOrder) {
  core::RunContext context(2);
  const std::size_t units = 3'000'000;
  Instance instance(units, 2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    instance.revenue(unit, 0) = instance.cost(unit, 0) = 0.0f;
    instance.revenue(unit, 1) = 2.0f;
    instance.cost(unit, 1) = 1.0f;
  }
  const Curve curve = allocate_curve(instance.problem(), 4, context);
  EXPECT_EQ(curve.points[1].units_per_arm[1], 1'000'000);
  EXPECT_EQ(curve.points[2].units_per_arm[1], 2'000'000);
  EXPECT_EQ(curve.points[2].multiplier, 2.0);
  EXPECT_EQ(curve.points[3].units_per_arm[1], 3'000'000);
}

TEST(AllocateCurve, IsTheSameForAnyNumberOfThreads) {
  const Instance instance = smooth_instance(300'000, 5, 78);
  core::RunContext one(1);
  const Curve first = allocate_curve(instance.problem(), 50, one);
  for (const int threads : {2, 8}) {
    core::RunContext context(threads);
    const Curve other = allocate_curve(instance.problem(), 50, context);
    for (std::size_t i = 0; i < first.points.size(); ++i) {
      EXPECT_EQ(other.points[i].spend, first.points[i].spend);
      EXPECT_EQ(other.points[i].value, first.points[i].value);
      EXPECT_EQ(other.points[i].multiplier, first.points[i].multiplier);
      EXPECT_EQ(other.points[i].units_per_arm, first.points[i].units_per_arm);
    }
  }
}

void expect_same_curve(const Curve& one, const Curve& other) {
  ASSERT_EQ(one.points.size(), other.points.size());
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "point " << i);
    EXPECT_EQ(one.points[i].budget, other.points[i].budget);
    EXPECT_EQ(one.points[i].spend, other.points[i].spend);
    EXPECT_EQ(one.points[i].revenue, other.points[i].revenue);
    EXPECT_EQ(one.points[i].value, other.points[i].value);
    EXPECT_EQ(one.points[i].multiplier, other.points[i].multiplier);
    EXPECT_EQ(one.points[i].units_per_arm, other.points[i].units_per_arm);
  }
}

// The plan of every point, unit by unit, adds up to the point: in all forms, and by the budget alone.
void expect_plans_of_points(const Problem& problem, std::size_t num_points, core::RunContext& context) {
  const Curve curve = PlanPath(problem).curve(num_points, context);
  expect_same_curve(curve, PlanPath(problem, PlanPath::Form::sorted).curve(num_points, context));
  expect_same_curve(curve, PlanPath(problem, PlanPath::Form::bucketed).curve(num_points, context));
  PlanPath with_lists(problem, PlanPath::Form::bucketed);
  with_lists.ends(context);
  expect_same_curve(curve, with_lists.curve(num_points, context));
  const Prices prices(problem.rules);
  for (const CurvePoint& point : curve.points) {
    const PathPlan plan = with_lists.at_budget(point.budget, context);
    const std::vector<std::uint8_t> arm = with_lists.arms(plan, context);
    Totals totals;
    for (std::size_t unit = 0; unit < arm.size(); ++unit) {
      totals.add(arm[unit], problem.cost(unit, arm[unit]), problem.revenue(unit, arm[unit]));
    }
    EXPECT_EQ(point.spend, totals.spend(prices)) << "budget " << point.budget;
    EXPECT_EQ(point.revenue, totals.revenue.value()) << "budget " << point.budget;
    EXPECT_EQ(point.units_per_arm, totals.units_per_arm(problem.num_arms()));
    EXPECT_EQ(point.multiplier, plan.summary.multiplier);
  }
}

TEST(AllocateCurve, HasThePlanOfEachBudgetUnderEveryRule) {
  core::RunContext context(2);
  const std::size_t units = 30'000;
  core::RandomStream stream(80, core::stream_purpose("allocate curve test"), 0);
  std::vector<std::uint64_t> keys(units);
  for (std::uint64_t& key : keys) key = stream.next_u64();
  for (const std::string rule : {"none", "min_roi", "profit", "ties", "eligible", "prices", "cheap", "sizes"}) {
    SCOPED_TRACE(rule);
    Instance instance = smooth_instance(units, 4, 79);
    for (std::size_t unit = 0; unit < units; ++unit) {
      for (std::size_t arm = 0; arm < 4; ++arm) {
        float& revenue = instance.revenue(unit, arm);
        float& cost = instance.cost(unit, arm);
        if (rule == "ties") {
          revenue = std::round(revenue * 4.0f) / 4.0f;
          cost = std::round(cost * 2.0f) / 2.0f;
        } else if (rule == "prices") {
          cost = 0.15f * static_cast<float>(arm);
        } else if (rule == "cheap" && unit % 5000 == 7) {  // far after most cuts, and of use to them
          cost *= 1e-3f;
          revenue *= 1e-3f;
        } else if (rule == "sizes" && unit % 3 == 0) {  // further apart than one scale of sums holds
          cost *= unit % 2 == 0 ? 1e-30f : 1e20f;
          revenue *= unit % 2 == 0 ? 1e-30f : 1e20f;
        }
      }
    }
    if (rule == "min_roi") instance.options.rules.min_roi = 0.7;
    if (rule == "profit") instance.options.rules = {.objective = Objective::profit, .margin = 1.5};
    if (rule == "prices") {
      for (std::size_t arm = 0; arm < 4; ++arm) {
        instance.options.rules.price.push_back(static_cast<double>(0.15f * static_cast<float>(arm)));
      }
    }
    if (rule == "eligible") add_eligibility(instance, stream);
    Problem problem = instance.problem();
    problem.keys = keys;
    expect_plans_of_points(problem, 12, context);
  }
}

TEST(AllocateCurve, SolvesEachBudgetWithSegments) {
  core::RunContext context(1);
  const Instance instance = smooth_instance(400, 3, 81);
  Problem problem = instance.problem();
  std::vector<std::uint32_t> segment(400);
  for (std::size_t unit = 0; unit < 400; ++unit) segment[unit] = static_cast<std::uint32_t>(unit % 3);
  problem.segments = {segment, {20.0, 35.0, kNoBudget}};
  const Curve curve = PlanPath(problem).curve(6, context);
  for (const CurvePoint& point : curve.points) {
    const Solution solution = allocate(problem, point.budget, context);
    EXPECT_EQ(point.spend, solution.spend);
    EXPECT_EQ(point.value, solution.value);
    EXPECT_EQ(point.units_per_arm, solution.units_per_arm);
  }
}

TEST(AllocateCurve, NeedsTwoPoints) {
  core::RunContext context(1);
  const Instance instance = smooth_instance(10, 3, 1);
  EXPECT_THROW(allocate_curve(instance.problem(), 1, context), core::Error);
}

}  // namespace
}  // namespace dfcl::allocate
