// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/evaluated_plans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dfcl::data {
namespace {

EvaluatedPlans sample() {
  EvaluatedPlans evaluated{.units = UnseenUnits::validation, .num_units = 500, .plans = {}};
  evaluated.plans = {{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                     {1.0, 3.0, 2.0, 0.5, 1.1, 0.1, 0.01},
                     {4.0, 6.0, 4.0, 1.0, 4.0, 0.2, 1.0 / 3.0}};
  return evaluated;
}

TEST(EvaluatedPlans, BetweenTwoPlansIsTheirMixture) {
  const EvaluatedPlans evaluated = sample();
  const double z = core::normal_critical(0.95);
  const auto at_plan = value_at(evaluated, 1.0, 2.0, 0.95);
  ASSERT_TRUE(at_plan);
  EXPECT_DOUBLE_EQ(at_plan->revenue.value, 2.0);
  EXPECT_DOUBLE_EQ(at_plan->revenue.high, 2.0 + z * 0.5);
  EXPECT_DOUBLE_EQ(at_plan->cost.low, 1.1 - z * 0.1);
  // Var(2 r - c) = 4 x 0.25 + 0.01 - 4 x 0.01.
  EXPECT_DOUBLE_EQ(at_plan->profit.value, 2.9);
  EXPECT_NEAR(at_plan->profit.high, 2.9 + z * std::sqrt(0.97), 1e-12);
  const auto between = value_at(evaluated, 2.5, 1.0, 0.95);
  ASSERT_TRUE(between);
  EXPECT_DOUBLE_EQ(between->revenue.value, 3.0);
  EXPECT_DOUBLE_EQ(between->revenue.low, 3.0 - z * 0.75) << "as if both errors went together";
  EXPECT_DOUBLE_EQ(value_at(evaluated, 0.0, 1.0, 0.95)->revenue.high, 0.0);
}

TEST(EvaluatedPlans, FarFromWhatWasEvaluatedNothingIsSaid) {
  const EvaluatedPlans evaluated = sample();
  EXPECT_DOUBLE_EQ(value_at(evaluated, 4.3, 1.0, 0.95)->revenue.value, 4.0);
  EXPECT_FALSE(value_at(evaluated, 4.5, 1.0, 0.95));
  EXPECT_FALSE(value_at(evaluated, -0.5, 1.0, 0.95));
  EXPECT_FALSE(value_at(evaluated, std::nan(""), 1.0, 0.95));
  EvaluatedPlans one = evaluated;
  one.plans.resize(1);
  EXPECT_TRUE(value_at(one, 0.0, 1.0, 0.95));
  EXPECT_FALSE(value_at(one, 0.01, 1.0, 0.95));
}

TEST(EvaluatedPlans, ALineHoldsEveryDigit) {
  EvaluatedPlans evaluated = sample();
  EXPECT_EQ(evaluated_plans_of(to_line(evaluated)), evaluated);
  evaluated.units = UnseenUnits::out_of_fold;
  evaluated.chose_members = true;
  EXPECT_EQ(evaluated_plans_of(to_line(evaluated)), evaluated);
}

TEST(EvaluatedPlans, AnyOtherLineIsNone) {
  const std::string good = to_line(sample());
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    const auto read = evaluated_plans_of(good.substr(0, cut));
    EXPECT_TRUE(!read || (is_sound(*read) && read->plans.size() <= 3)) << cut;
  }
  for (const char* line : {"", ";", "validation", "validation 5 chose_nothing", "validation 5 chose_nothing;",
                           "somewhere 5 chose_nothing;0,0,0,0,0,0,0", "validation -5 chose_nothing;0,0,0,0,0,0,0",
                           "validation 0 chose_nothing;0,0,0,0,0,0,0", "validation 5 chose;0,0,0,0,0,0,0",
                           "validation 5 chose_nothing;0,0,0,0,0,0", "validation 5 chose_nothing;0,0,0,0,0,0,0,0",
                           "validation 5 chose_nothing;nan,0,0,0,0,0,0", "validation 5 chose_nothing;0,0,inf,0,0,0,0",
                           "validation 5 chose_nothing;0,0,0,-1,0,0,0", "validation 5 chose_nothing;0,0,0,0,0,0,0 ",
                           "validation 5 chose_nothing;1,0,0,0,0,0,0;1,0,0,0,0,0,0",
                           "validation 99999999999999999999999 chose_nothing;0,0,0,0,0,0,0"})
    EXPECT_FALSE(evaluated_plans_of(line)) << line;
  std::string many = "validation 5 chose_nothing";
  for (std::size_t plan = 0; plan <= kMostEvaluatedPlans; ++plan) many += ";" + std::to_string(plan) + ",0,0,0,0,0,0";
  EXPECT_FALSE(evaluated_plans_of(many));
}

}  // namespace
}  // namespace dfcl::data
