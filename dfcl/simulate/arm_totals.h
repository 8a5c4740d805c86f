// SPDX-License-Identifier: Apache-2.0
//
// What a simulated trial holds for each arm, added up chunk by chunk: for the user to look at, and for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {

struct ArmTotals {
  std::uint64_t units = 0;  // that got this arm
  double revenue = 0.0;     // of those units
  double cost = 0.0;
  double expected_revenue = 0.0;  // of all units, had they got this arm
  double expected_cost = 0.0;
};

// One for each arm.
std::vector<ArmTotals> totals_of(const Simulator& simulator, const SimulatedRows& rows);
void add_totals(std::vector<ArmTotals>& totals, const std::vector<ArmTotals>& more);

}  // namespace dfcl::simulate
