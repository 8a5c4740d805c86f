// SPDX-License-Identifier: Apache-2.0
//
// One budget over many units in memory, fast: the multiplier is bracketed on a sample; one vectorised pass settles
// every unit whose choice is the same, beyond doubt, at both ends of the bracket; the few that are open get their exact
// hulls, and the window between the ends is cut exactly. Float32 scores only ever decide that a unit is clear-cut,
// so the plan is that of the exact path. Memory: about 1 % of the input.
#pragma once

#include <optional>

#include "dfcl/allocate/passes.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

// Efficiencies between which the cut should lie, with room to fill what it leaves.
struct Bracket {
  float high = 0.0f;
  float low = 0.0f;  // at most the least efficiency: the end of the path
};

// From a sample of the units; none where the sample cannot tell (too few units, or the budget is near the
// least spend).
std::optional<Bracket> bracket_on_sample(const Units& units, const Rules& rules, double budget,
                                         core::RunContext& context);

struct Settled {
  Totals before;             // the plan at the start of the window
  DealtPath window;          // increments with an efficiency from high down to low
  bool reaches_end = false;  // of the path
  Totals control;
  Totals least;  // its revenue is not known, nor its units where costs are predicted
};
// Writes each unit's arm at the start of the window.
Settled settle(const Units& units, const Rules& rules, Bracket bracket, std::uint8_t* arms, core::RunContext& context);

// The best plan for the budget, where its cut lies in the window; sets the arms of the units that are beyond its start.
CutSolution solve_settled(Settled& settled, const Prices& prices, double budget, std::uint8_t* arms);

// Writes each unit's arm under the plan that takes every increment before a place of the path. About 5 ns a unit with
// five arms, and exact: units that are not clear-cut at that place get their hulls.
void assign_before(const Units& units, const Prices& prices, PathPosition position, std::uint8_t* arms,
                   core::RunContext& context);

}  // namespace dfcl::allocate
