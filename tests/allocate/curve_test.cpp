// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

TEST(AllocateCurve, NeedsTwoPoints) {
  core::RunContext context(1);
  const Instance instance = smooth_instance(10, 3, 1);
  EXPECT_THROW(allocate_curve(instance.problem(), 1, context), core::Error);
}

}  // namespace
}  // namespace dfcl::allocate
