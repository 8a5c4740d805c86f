// SPDX-License-Identifier: Apache-2.0
//
// Is this trial fit to learn from: what `dfcl check` does, for every caller. Time and memory: the trial's.
#pragma once

#include "dfcl/check/check.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/verbs/study_input.h"

namespace dfcl::verbs {

struct CheckRequest {
  StudyInput study;
};

// An unfit trial is a result. Throws Error.
check::CheckResult check(const CheckRequest& request, core::RunContext& context);

// For verbs that go on from a trial: throws Error of kind unfit where it is; with `force`, only warns.
void require_fit(const data::Trial& trial, const data::Study& study, bool force, core::RunContext& context);

}  // namespace dfcl::verbs
