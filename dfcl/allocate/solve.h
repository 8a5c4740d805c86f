// SPDX-License-Identifier: Apache-2.0
//
// What PlanPath and the solvers of problems with limits that tie units to each other share.
#pragma once

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

inline Units all_units(const Problem& problem) {
  return {problem.revenue, problem.cost, problem.eligible, 0, problem.keys};
}

// Budgets by segment with or without a total: the sorted path, cut per segment. 48 bytes an increment.
Solution solve_segments(const Problem& problem, double budget, core::RunContext& context);

// Anything else: on the dual, then repaired.
Solution solve_coupled(const Problem& problem, double budget, core::RunContext& context);

// Picks one of the two above. Where units have keys they are solved in the order of these, so that the order of the
// rows changes nothing; that takes a copy of the matrices.
Solution solve_tied(const Problem& problem, double budget, core::RunContext& context);

// Sums over all units under control.
void describe_control(const Totals& control, const Prices& prices, Solution& solution);

// Tells no_gain from a budget that does not bind, and which of rules and arms ended the path. Only of ends:
// most_at_any_return, and only where there is a least return per cost.
void explain_unspent(const Rules& rules, const PathEnds& ends, Solution& solution);

}  // namespace dfcl::allocate
