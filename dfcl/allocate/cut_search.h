// SPDX-License-Identifier: Apache-2.0
//
// Finds the cut of the path for one budget by narrowing summaries: works for every input, in memory or streamed, in two
// or three passes over the units (more only where very many increments are nearly equal). Memory: about 150 MB
// at most.
#pragma once

#include "dfcl/allocate/summary.h"

namespace dfcl::allocate {

struct CutSearch {
  Window window;
  WindowSolution solution;  // outcome is solved, or too_late where the budget cannot be met
  Totals control;
  double least_spend = 0.0;
  std::size_t num_units = 0;

  // The plan that the solution is.
  PathPlan plan() const;
};
CutSearch search_cut(UnitPieces& pieces, const Rules& rules, double budget, core::RunContext& context);

// Writes what a window's solution says into the fields of a Solution that do not need the plan itself.
void describe(const Rules& rules, const Window& window, const WindowSolution& window_solution, Solution& solution);

}  // namespace dfcl::allocate
