// SPDX-License-Identifier: Apache-2.0
//
// The study file that goes with a simulated trial, commented, ready to use and to change.
#pragma once

#include <string>

#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {

// TOML. trial_path is where the trial lies, as seen from the folder of the study.
std::string study_text(const Simulator& simulator, const std::string& trial_path);

}  // namespace dfcl::simulate
