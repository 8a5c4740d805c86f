// SPDX-License-Identifier: Apache-2.0
//
// What a plan adds up to, exactly: whoever adds the same units and increments in whatever order has the same totals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/allocate/hull.h"

namespace dfcl::allocate {

// 2.2 KiB.
struct Totals {
  ExactSum cost;
  ExactSum revenue;
  std::array<std::int64_t, kMaxArms> units{};  // per arm

  // A unit in an arm.
  void add(std::uint8_t arm, float unit_cost, float unit_revenue) {
    cost.add(unit_cost);
    revenue.add(unit_revenue);
    ++units[arm];
  }
  void add(const HullPoint& point) { add(point.arm, static_cast<float>(point.cost), point.revenue); }
  void add(const Totals& other) {
    cost.add(other.cost);
    revenue.add(other.revenue);
    for (std::size_t arm = 0; arm < kMaxArms; ++arm) units[arm] += other.units[arm];
  }
  void take(const Increment& increment) {
    cost.add(increment.cost_to);
    cost.subtract(increment.cost_from);
    revenue.add(increment.revenue_to);
    revenue.subtract(increment.revenue_from);
    ++units[increment.arm_to];
    --units[increment.arm_from];
  }
  void give_back(const Increment& increment) {
    cost.add(increment.cost_from);
    cost.subtract(increment.cost_to);
    revenue.add(increment.revenue_from);
    revenue.subtract(increment.revenue_to);
    ++units[increment.arm_from];
    --units[increment.arm_to];
  }
  // Correctly rounded where costs are predicted; sum of units x price where they are known.
  double spend(const Prices& prices) const;
  void save(core::ByteWriter& bytes, std::size_t num_arms) const;
  static Totals load(core::ByteReader& bytes, std::size_t num_arms);
  std::vector<std::int64_t> units_per_arm(std::size_t num_arms) const {
    return {units.begin(), units.begin() + static_cast<std::ptrdiff_t>(num_arms)};
  }
};

}  // namespace dfcl::allocate
