// SPDX-License-Identifier: Apache-2.0
//
// One arm for each leaf of a small tree so that value is as large as a budget allows: the knapsack of eq. 1 with leaves
// for units. A leaf cannot be parted, so the walk along efficiencies would leave much unspent; there are few leaves, so
// all choices that no other beats in both value and cost are carried from leaf to leaf instead. Exact unless more than
// kMostChoices remain, of which evenly spread ones are then kept. Memory: 24 bytes a choice. Internal to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfcl::policy {

inline constexpr std::size_t kMostChoices = 20'000;

// What all units of a leaf would earn and cost over control under one arm.
struct LeafOption {
  double value = 0.0;
  double cost = 0.0;
};

struct LeafArms {
  std::vector<std::uint8_t> option;  // per leaf, place among its options
  double value = 0.0;
  double cost = 0.0;
  bool within = true;  // false: even the cheapest choice costs more than the budget, and this is it
};

// options: per leaf, at least one each. At most 8 leaves. Of equal values the cheapest.
LeafArms choose_leaf_arms(const std::vector<std::vector<LeafOption>>& options, double budget);

}  // namespace dfcl::policy
