// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/plan_changes.h"

#include <gtest/gtest.h>

namespace dfcl::launch {
namespace {

data::Plan plan_of(std::vector<std::string> arms, std::vector<std::int64_t> ids, std::vector<std::uint8_t> arm,
                   float cost) {
  data::Plan plan;
  plan.arms = std::move(arms);
  plan.ids = data::Ids(std::move(ids));
  plan.arm = std::move(arm);
  plan.revenue.assign(plan.arm.size(), 10.0f);
  plan.cost.assign(plan.arm.size(), cost);
  return plan;
}

TEST(PlanChanges, CountsUnitsThatMoveComeAndGo) {
  const data::Plan before = plan_of({"0", "5", "old"}, {1, 2, 3, 4}, {0, 1, 2, 1}, 2.0f);
  const data::Plan now = plan_of({"5", "0"}, {2, 3, 4, 5, 6}, {0, 0, 1, 1, 0}, 3.0f);
  PlanChanges changes(before, now.arms);
  changes.add(now);
  const PlanChange change = changes.result();
  EXPECT_EQ(change.arms, (std::vector<std::string>{"5", "0", "old"}));
  EXPECT_EQ(change.units_in_both, 3u);
  EXPECT_EQ(change.units_new, 2u);
  EXPECT_EQ(change.units_gone, 1u);
  EXPECT_EQ(change.units_moved, 2u);  // 3: old -> 5; 4: 5 -> 0
  EXPECT_EQ(change.moves[2][0], 1u);
  EXPECT_EQ(change.moves[0][1], 1u);
  EXPECT_EQ(change.moves[0][0], 1u);
  EXPECT_EQ(change.before[0].units, 2u);
  EXPECT_EQ(change.now[0].units, 3u);
  EXPECT_DOUBLE_EQ(change.before[0].spend, 4.0);
  EXPECT_DOUBLE_EQ(change.now[0].spend, 9.0);
  EXPECT_FALSE(change.roles_known);
}

TEST(PlanChanges, PiecesAddUpToTheWhole) {
  const data::Plan before = plan_of({"0", "5"}, {1, 2, 3}, {0, 1, 0}, 2.0f);
  PlanChanges whole(before, before.arms), pieces(before, before.arms);
  whole.add(plan_of({"0", "5"}, {3, 2}, {1, 1}, 1.0f));
  pieces.add(plan_of({"0", "5"}, {3}, {1}, 1.0f));
  pieces.add(plan_of({"0", "5"}, {2}, {1}, 1.0f));
  EXPECT_EQ(whole.result().moves, pieces.result().moves);
  EXPECT_EQ(whole.result().units_gone, 1u);
  EXPECT_EQ(pieces.result().units_gone, 1u);
}

TEST(PlanChanges, SaysWhoEnteredOrLeftTheHoldOut) {
  data::Plan before = plan_of({"0"}, {1, 2, 3}, {0, 0, 0}, 0.0f);
  before.role = {data::Role::holdout, data::Role::plan, data::Role::holdout};
  data::Plan now = before;
  now.role = {data::Role::holdout, data::Role::holdout, data::Role::explore};
  PlanChanges changes(before, now.arms);
  changes.add(now);
  EXPECT_TRUE(changes.result().roles_known);
  EXPECT_EQ(changes.result().holdout_changed, 2u);
}

}  // namespace
}  // namespace dfcl::launch
