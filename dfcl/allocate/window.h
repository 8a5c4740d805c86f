// SPDX-License-Identifier: Apache-2.0
//
// The exact end of every single-budget solve: a stretch of the path that holds the cut, with the sums of everything
// before it. All routes (in memory, streamed, whatever the bracket was) end here with the same increments in the same
// order and exact sums, so they return the same plan. Linear in the stretch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/allocate/exact_sum.h"
#include "dfcl/allocate/hull.h"

namespace dfcl::allocate {

// What a plan adds up to, exactly. 2.2 KiB.
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
  std::vector<std::int64_t> units_per_arm(std::size_t num_arms) const {
    return {units.begin(), units.begin() + static_cast<std::ptrdiff_t>(num_arms)};
  }
};

// Increments from one place of the path on, in path order.
struct Window {
  Totals before;  // of the plan that takes every increment before the window
  std::vector<Increment> increments;
  bool reaches_end = false;  // of the path
};

enum class WindowOutcome : std::uint8_t {
  solved,
  too_late,   // already the plan before the window spends too much
  too_early,  // the cut, or the increments that may fill what it leaves, lie beyond the window
};

struct WindowSolution {
  WindowOutcome outcome = WindowOutcome::solved;
  std::size_t cut = 0;              // increments[0 .. cut) are taken; the size of the window at the path's end
  std::vector<std::size_t> filled;  // indices after the cut that are taken too
  Totals at_cut;
  Totals total;
};

// Cuts the path where the next increment would exceed the budget and fills what is left from the kFillIncrements
// after the cut: greedily in path order, with all of the money left or with the part of it for which that gains most.
// So more money never yields less value: holding back is always allowed, and the increment at the cut is worth more
// than anything that less than its cost can buy.
WindowSolution solve_window(const Totals& before, std::span<const Increment> increments, bool reaches_end,
                            const Prices& prices, double budget);

}  // namespace dfcl::allocate
