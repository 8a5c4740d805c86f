// SPDX-License-Identifier: Apache-2.0
//
// A plan's promise beside what such plans were worth on units that the model had not seen (dfcl/launch/promise.h), or
// why that says nothing about the plan. Internal to verbs.
#pragma once

#include "dfcl/core/run_context.h"
#include "dfcl/launch/promise.h"
#include "dfcl/report/plan/plan_report.h"
#include "dfcl/verbs/allocate_request.h"
#include "dfcl/verbs/plan_input.h"

namespace dfcl::verbs {

// Of a plan whose totals by role, where it has roles, are known.
launch::Promise make_promise(const AllocateRequest& request, const PlanInput& input,
                             const report::PlanSummary& figures);

// Where the promise lies outside of the evaluated interval.
void warn_of_promise(const report::PlanSummary& figures, bool is_one_of_several, core::RunContext& context);

}  // namespace dfcl::verbs
