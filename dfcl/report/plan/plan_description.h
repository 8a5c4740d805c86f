// SPDX-License-Identifier: Apache-2.0
//
// The keys of a plan as `dfcl allocate --json` prints it. Internal to report.
#pragma once

#include "dfcl/report/plan/plan_report.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

const Described<PlanSummary>& description(Of<PlanSummary>);

}  // namespace dfcl::report
