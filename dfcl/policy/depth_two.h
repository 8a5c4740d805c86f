// SPDX-License-Identifier: Apache-2.0
//
// The best tree of two questions one after the other: exact over all splits of the columns, for many prices of cost at
// once. For every pair of columns the scores of units are summed into a table of pairs of groups (one pass over the
// units); every split of the first column is then a running sum over its rows, and every split of the second on each
// side of it a running sum over its columns. With p columns, g groups, n units, T treated arms and m prices: 2 p^2 n T
// adds for the tables and 4 p^2 g^2 T m for the search; no pass over the units for a split. Memory: a table of g^2 (2 T
// + 1) doubles a thread, and the best of p g m splits. The same for any number of threads. Internal to the room.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/policy/grow.h"
#include "dfcl/policy/split_columns.h"

namespace dfcl::policy {

// Sums over units: the value of each treated arm over control, then its cost over control, then the number of units.
struct ArmSums {
  explicit ArmSums(std::size_t treated_arms) : num_treated(treated_arms) {}

  std::size_t width() const { return 2 * num_treated + 1; }
  // What giving all of them the best arm is worth, at a price of cost; control is worth 0.
  double best(const double* sums, double multiplier) const;
  // That arm among the treated ones; none: control.
  std::optional<std::size_t> best_arm(const double* sums, double multiplier) const;

  std::size_t num_treated;
};

struct DepthTwo {
  double value = 0.0;
  std::optional<Split> root;  // none: one leaf
  std::optional<Split> yes;   // where the root holds
  std::optional<Split> no;
};

// stats: units x ArmSums. One tree for each multiplier; no leaf has fewer than least_units. Of equal trees the first.
std::vector<DepthTwo> best_of_depth_two(const SplitColumns& columns, core::MatrixView<const double> stats,
                                        const ArmSums& arms, std::span<const double> multipliers,
                                        std::size_t least_units, core::RunContext& context);

}  // namespace dfcl::policy
