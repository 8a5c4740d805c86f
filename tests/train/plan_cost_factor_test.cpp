// SPDX-License-Identifier: Apache-2.0
//
// What plans cost beside what was predicted for them (eq. 23b).
#include <gtest/gtest.h>

#include "dfcl/learn/calibration.h"
#include "dfcl/train/evaluate_unseen.h"

namespace dfcl::train {
namespace {

data::EvaluatedPlans plans_that_cost(double factor, double relative_error) {
  data::EvaluatedPlans evaluated;
  evaluated.num_units = 1'000;
  for (const double spend : {0.0, 0.5, 1.0, 2.0})
    evaluated.plans.push_back({.spend = spend, .cost = factor * spend, .cost_error = relative_error * spend});
  return evaluated;
}

TEST(PlanCostFactor, IsWhatPlansCostPerPredictedSpend) {
  EXPECT_NEAR(plan_cost_factor(plans_that_cost(1.2, 0.001)), 1.2, 1e-4);
  EXPECT_NEAR(plan_cost_factor(plans_that_cost(0.9, 0.001)), 0.9, 1e-4);
}

TEST(PlanCostFactor, IsDrawnTowardsOneByItsError) {
  EXPECT_EQ(plan_cost_factor(plans_that_cost(1.05, 0.06)), 1.0) << "within one standard error";
  EXPECT_NEAR(plan_cost_factor(plans_that_cost(1.2, 0.1)), 1.0 + 0.2 * (1.0 - 0.25), 1e-12);
}

TEST(PlanCostFactor, KeepsWithinItsRangeAndNeedsPlansThatSpend) {
  EXPECT_EQ(plan_cost_factor(plans_that_cost(4.0, 0.001)), learn::kMostPlanFactor);
  EXPECT_EQ(plan_cost_factor(plans_that_cost(0.1, 0.001)), 1.0 / learn::kMostPlanFactor);
  EXPECT_EQ(plan_cost_factor(plans_that_cost(1.3, 0.0)), 1.0);
}

}  // namespace
}  // namespace dfcl::train
