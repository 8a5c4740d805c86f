// SPDX-License-Identifier: Apache-2.0
//
// The parts of a plan's screen that are there only with a hold-out, exploration or an earlier plan.
#pragma once

#include <string>

#include "dfcl/report/plan/plan_report.h"

namespace dfcl::report {

std::string roles_text(const LaunchFigures& launch);
std::string change_text(const launch::PlanChange& change);

}  // namespace dfcl::report
