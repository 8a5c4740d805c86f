// SPDX-License-Identifier: Apache-2.0
//
// Joins a plan with its outcomes by id. Memory: about 32 bytes a unit beside both.
#pragma once

#include <string>
#include <vector>

#include "dfcl/io/predictions/plan_file.h"
#include "dfcl/launch/readout.h"

namespace dfcl::launch {

struct JoinOptions {
  std::string control;      // label; "": what the plan says, else the arm 0, else the arm of most held-out units
  std::string launch_time;  // "": what the plan says
  std::string plan_path;    // for messages
  std::string outcomes_path;
  std::vector<std::string> guardrails = {};  // names of the outcomes' further columns
};

// Throws Error of kind data where fewer than half of the plan's units have an outcome, or an outcome is earlier than
// the launch (times compare as numbers where both are, else as texts).
Launch join_launch(const io::PlanFile& plan, const io::OutcomeTable& outcomes, const JoinOptions& options);

}  // namespace dfcl::launch
