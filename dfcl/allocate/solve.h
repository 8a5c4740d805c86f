// SPDX-License-Identifier: Apache-2.0
//
// The ways to solve a validated Problem; allocate() picks one. Their costs are in docs/allocate.md.
#pragma once

#include <optional>

#include "dfcl/allocate/cut_search.h"

namespace dfcl::allocate {

inline Units all_units(const Problem& problem) { return {problem.revenue, problem.cost, problem.eligible, 0}; }

// One budget, by the path alone.
Solution solve_path(const Problem& problem, double budget, core::RunContext& context);

// Budgets by segment with or without a total: the sorted path, cut per segment. 64 bytes an increment.
Solution solve_segments(const Problem& problem, double budget, core::RunContext& context);

// Anything else: on the dual, then repaired.
Solution solve_coupled(const Problem& problem, double budget, core::RunContext& context);

// Counts the units of each arm.
std::vector<std::int64_t> count_arms(const std::vector<std::uint8_t>& arm, std::size_t num_arms,
                                     core::RunContext& context);

// Sums over all units under control.
void describe_control(const Totals& control, Solution& solution);

// Tells no_gain from not_binding, and which of rules and arms ended the path.
void explain_unspent(UnitPieces& pieces, const Rules& rules, core::RunContext& context, Solution& solution);

// The plan at a known price, and what it adds up to.
PathPlan plan_at_multiplier(const Rules& rules, double multiplier);
Solution describe_plan_at_multiplier(UnitPieces& pieces, const Rules& rules, const PathPlan& plan, double multiplier,
                                     core::RunContext& context);

// A solution that says only that the budget cannot be met.
Solution cannot_be_met(const Totals& control, double budget, double least_spend);

}  // namespace dfcl::allocate
