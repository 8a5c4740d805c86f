// SPDX-License-Identifier: Apache-2.0
//
// The parts of a plan's screen that are there only with a hold-out, exploration or an earlier plan.
#pragma once

#include <string>

#include "dfcl/report/plan/plan_report.h"
#include "dfcl/report/text/document.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {

Table roles_table(const LaunchFigures& launch, const Wording& wording);
Document change_blocks(const launch::PlanChange& change, const Wording& wording);

}  // namespace dfcl::report
