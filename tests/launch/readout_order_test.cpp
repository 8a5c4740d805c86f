// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/random.h"
#include "dfcl/launch/readout.h"

namespace dfcl::launch {
namespace {

// Numbers over many orders of magnitude, so that rounded sums would show their order.
Launch random_launch(const std::vector<std::size_t>& order) {
  Launch launch;
  launch.arms = {"0", "1", "2"};
  launch.planned_per_role.assign(data::kNumRoles, 0);
  launch.seen_per_role.assign(data::kNumRoles, 0);
  launch.guardrails.push_back({"refunds", {}});
  for (const std::size_t unit : order) {
    core::RandomStream random(21, core::stream_purpose("readout order test"), unit);
    const auto number = [&] { return std::exp(random.uniform(-12.0, 12.0)); };
    const auto role = static_cast<data::Role>(unit % data::kNumRoles);
    launch.role.push_back(role);
    launch.planned_arm.push_back(static_cast<std::uint8_t>(role == data::Role::holdout ? 0 : unit % 3));
    launch.received_arm.push_back(launch.planned_arm.back());
    launch.planned_revenue.push_back(static_cast<float>(number()));
    launch.planned_cost.push_back(static_cast<float>(number()));
    launch.control_revenue.push_back(static_cast<float>(number()));
    launch.control_cost.push_back(static_cast<float>(number()));
    launch.revenue.push_back(number());
    launch.cost.push_back(number());
    launch.weight.push_back(random.uniform(0.5, 2.0));
    launch.guardrails[0].value.push_back(number());
    ++launch.planned_per_role[static_cast<std::size_t>(role)];
    ++launch.seen_per_role[static_cast<std::size_t>(role)];
  }
  launch.units_in_plan = launch.units_in_outcomes = order.size();
  return launch;
}

TEST(Readout, IsTheSameInAnyOrderOfTheUnits) {
  std::vector<std::size_t> order(3000);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const ReadoutOptions options{.holdout_share = 1.0 / 3.0, .budget = 1e6, .multiplier = 2.0, .value_per_revenue = 0.3};
  const Readout one = read_out(random_launch(order), options);
  std::reverse(order.begin(), order.end());
  std::rotate(order.begin(), order.begin() + 1234, order.end());
  const Readout other = read_out(random_launch(order), options);
  const auto same = [](const Interval& a, const Interval& b) {
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.high, b.high);
  };
  same(one.incremental_revenue, other.incremental_revenue);
  same(one.incremental_cost, other.incremental_cost);
  same(*one.incremental_profit, *other.incremental_profit);
  same(*one.next_multiplier, *other.next_multiplier);
  same(one.guardrails[0].increment, other.guardrails[0].increment);
  EXPECT_EQ(one.realised_revenue, other.realised_revenue);
  EXPECT_EQ(one.total_spend, other.total_spend);
  EXPECT_EQ(*one.planned_incremental, *other.planned_incremental);
  ASSERT_EQ(one.arms.size(), other.arms.size());
  for (std::size_t arm = 0; arm < one.arms.size(); ++arm) {
    EXPECT_EQ(one.arms[arm].realised_revenue, other.arms[arm].realised_revenue);
    EXPECT_EQ(one.arms[arm].overspend, other.arms[arm].overspend);
  }
  ASSERT_EQ(one.explored.size(), other.explored.size());
  for (std::size_t arm = 0; arm < one.explored.size(); ++arm)
    same(one.explored[arm].revenue, other.explored[arm].revenue);
}

}  // namespace
}  // namespace dfcl::launch
