// SPDX-License-Identifier: Apache-2.0
//
// The outcomes that a plan would have in a simulated world, as a table of outcomes for dfcl readout: to try a launch
// before it is launched. About 3 microseconds a unit.
#pragma once

#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/plan.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::launch {

// Columns id, role, arm, revenue, cost.
std::vector<data::ColumnInfo> outcome_columns();

// The units are those of the simulator, row r with the id r + 1; every unit gets its planned arm. Throws Error of kind
// data where an id is no such row or an arm is not the simulator's.
data::Batch simulate_outcomes(const simulate::Simulator& simulator, const data::Plan& plan, core::RunContext& context);

}  // namespace dfcl::launch
