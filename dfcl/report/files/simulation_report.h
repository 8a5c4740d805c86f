// SPDX-License-Identifier: Apache-2.0
//
// What was simulated, as a screen for people and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/report/text/screen.h"
#include "dfcl/simulate/arm_totals.h"
#include "dfcl/simulate/options.h"

namespace dfcl::report {

struct SimulationFigures {
  simulate::SimulatorOptions options;
  std::vector<std::string> arms;
  std::size_t num_columns = 0;
  std::vector<simulate::ArmTotals> totals;  // per arm
};

std::string simulation_text(const SimulationFigures& figures, Length length = Length::full);
std::string simulation_json(const SimulationFigures& figures);

}  // namespace dfcl::report
