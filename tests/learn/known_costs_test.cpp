// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/known_costs.h"

#include <gtest/gtest.h>

namespace dfcl::learn {
namespace {

struct Table {
  Table() : revenue(1, 2), cost(1, 2) {
    revenue(0, 0) = 10.0f;
    revenue(0, 1) = 20.0f;
    cost(0, 0) = 0.25f;
    cost(0, 1) = 0.5f;
  }
  Outcomes view() { return {revenue.view(), cost.view()}; }
  core::Matrix<float> revenue, cost;
};

TEST(KnownCosts, TakeThePlaceOfPredictedOnes) {
  const auto costs = [](const data::CostFacts& facts, bool errors) {
    Table table;
    errors ? set_known_errors(facts, table.view()) : set_known_costs(facts, table.view());
    return std::pair(table.cost(0, 0), table.cost(0, 1));
  };
  using Pair = std::pair<float, float>;
  EXPECT_EQ(costs({}, false), Pair(0.25f, 0.5f));
  EXPECT_EQ(costs({data::CostKind::price, {0.0, 0.15}}, false), Pair(0.0f, 0.15f));
  EXPECT_EQ(costs({data::CostKind::rate, {0.0, 0.1}}, false), Pair(0.0f, 2.0f));
  EXPECT_EQ(costs({data::CostKind::price_if, {0.0, 3.0}}, false), Pair(0.0f, 1.5f));
  EXPECT_EQ(costs({data::CostKind::price, {0.0, 0.15}}, true), Pair(0.0f, 0.0f)) << "a price has no error";
  EXPECT_EQ(costs({data::CostKind::rate, {0.0, 0.1}}, true), Pair(0.0f, 2.0f));
}

TEST(KnownCosts, OnTheScalesOfLossesAreTheSameCosts) {
  const Scales scales{{5.0, 2.0}, {0.0, 0.5}};
  const double scaled_revenue = 1.5;  // 8 in the currency
  const auto cost = [&](const data::CostFacts& facts, double outcome) {
    return scales.cost.scale * scaled_rule(facts, scales).cost(1, scaled_revenue, outcome);
  };
  EXPECT_DOUBLE_EQ(cost({data::CostKind::price, {0.0, 0.15}}, 9.0), 0.15);
  EXPECT_DOUBLE_EQ(cost({data::CostKind::rate, {0.0, 0.1}}, 9.0), 0.8);
  EXPECT_DOUBLE_EQ(cost({data::CostKind::price_if, {0.0, 3.0}}, 0.25), 0.75);
  EXPECT_FALSE(scaled_rule({}, scales).is_known());
}

}  // namespace
}  // namespace dfcl::learn
