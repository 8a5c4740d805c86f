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

// The same in steps, for launches on many machines. Labels of both tables: as numbers rise if all are, else as letters
// sort.
std::vector<std::string> launch_arms(const std::vector<std::string>& planned, const std::vector<std::string>& seen);
// Some units, of a launch with these arms: nothing is asked of them that only the whole can say, and control is not
// known. Either table may be empty.
Launch join_part(const io::PlanFile& plan, const io::OutcomeTable& outcomes, const JoinOptions& options,
                 std::vector<std::string> arms);
// Throws where fewer than half of the plan's units have an outcome.
void require_joined(std::size_t joined, std::size_t units_in_plan, const JoinOptions& options);
// held: of each arm, the held-out units that got it. planned: what the plan says. Throws Error of kind usage.
std::size_t find_control(const std::vector<std::string>& arms, const std::vector<std::size_t>& held,
                         const std::string& planned, const JoinOptions& options);

}  // namespace dfcl::launch
