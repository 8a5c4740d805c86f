// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/promise.h"

#include <gtest/gtest.h>

namespace dfcl::launch {
namespace {

const data::EvaluatedPlans kEvaluated{
    .num_units = 1000,
    .chose_members = true,
    .plans = {{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {1.0, 3.0, 2.0, 0.5, 1.2, 0.1, 0.0}}};

TEST(Promise, LiesWithinAboveOrBelowTheEvaluatedInterval) {
  const auto status = [&](double revenue) {
    return promise_of({.units = 100, .revenue = revenue, .cost = 100.0}, kEvaluated, std::nullopt).status;
  };
  // 200 -+ 1.96 x 50.
  EXPECT_EQ(status(200.0), PromiseStatus::within);
  EXPECT_EQ(status(297.0), PromiseStatus::within);
  EXPECT_EQ(status(299.0), PromiseStatus::above);
  EXPECT_EQ(status(101.0), PromiseStatus::below);
  EXPECT_EQ(status(103.0), PromiseStatus::within);
}

TEST(Promise, CarriesOverToAnyNumberOfUnits) {
  const Promise few = promise_of({.units = 10, .revenue = 30.0, .cost = 5.0}, kEvaluated, 0.5);
  const Promise many = promise_of({.units = 1000, .revenue = 3000.0, .cost = 500.0}, kEvaluated, 0.5);
  EXPECT_DOUBLE_EQ(few.revenue.value, 10.0);  // half of the way to 2 per unit
  EXPECT_DOUBLE_EQ(many.revenue.value, 100.0 * few.revenue.value);
  EXPECT_DOUBLE_EQ(many.cost.high, 100.0 * few.cost.high);
  EXPECT_DOUBLE_EQ(few.profit->value, 0.5 * 10.0 - 6.0);
  EXPECT_EQ(few.status, PromiseStatus::above);
  EXPECT_TRUE(many.differs());
  EXPECT_EQ(many.unseen_units, 1000u);
  EXPECT_TRUE(many.chose_members);
}

TEST(Promise, EveryoneInControlPromisesNothingAndKeepsIt) {
  EXPECT_EQ(promise_of({.units = 7}, kEvaluated, std::nullopt).status, PromiseStatus::within);
}

TEST(Promise, AnIndexPromisesNothing) {
  const Promise promise =
      promise_of({.units = 10, .revenue = 1e9, .cost = 5.0, .is_index = true}, kEvaluated, std::nullopt);
  EXPECT_EQ(promise.status, PromiseStatus::index);
  EXPECT_FALSE(promise.differs());
  EXPECT_DOUBLE_EQ(promise.revenue.value, 10.0);
}

TEST(Promise, WhereNoFigureAppliesItSaysWhy) {
  const Promise costly = promise_of({.units = 10, .revenue = 30.0, .cost = 50.0}, kEvaluated, std::nullopt);
  EXPECT_EQ(costly.status, PromiseStatus::not_evaluated);
  EXPECT_NE(costly.reason.find("5 per unit"), std::string::npos) << costly.reason;
  EXPECT_FALSE(promise_of({}, kEvaluated, std::nullopt).is_evaluated());
  EXPECT_EQ(not_evaluated({}, "limits").reason, "limits");
}

}  // namespace
}  // namespace dfcl::launch
