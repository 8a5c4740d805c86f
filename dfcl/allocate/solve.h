// SPDX-License-Identifier: Apache-2.0
//
// What PlanPath and the solvers of problems with limits that tie units to each other share.
#pragma once

#include <functional>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

inline Units all_units(const Problem& problem) {
  return {problem.revenue, problem.cost, problem.eligible, 0, problem.keys};
}

// Budgets by segment with or without a total: the sorted path of the units near the cuts, cut per segment. 48 bytes per
// increment of those.
Solution solve_segments(const Problem& problem, double budget, core::RunContext& context);

// Anything else: on the dual, then repaired. Memory: a byte per unit, and a copy of the units near the cuts.
Solution solve_coupled(const Problem& problem, double budget, core::RunContext& context);

// Picks one of the two above. The order of the rows changes nothing where units have keys.
Solution solve_tied(const Problem& problem, double budget, core::RunContext& context);

// Sums over all units under control.
void describe_control(const Totals& control, const Prices& prices, Solution& solution);

// Tells no_gain from a budget that does not bind, and which of rules and arms ended the path. could_spend_more: without
// the least return per cost; asked only where there is one.
void explain_unspent(const Rules& rules, const std::function<bool()>& could_spend_more, Solution& solution);

// Has some unit an increment below the least return per cost? Stops at the first.
bool has_increment_below_least_return(const Units& units, const Prices& prices, core::RunContext& context);

}  // namespace dfcl::allocate
