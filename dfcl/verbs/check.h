// SPDX-License-Identifier: Apache-2.0
//
// Is this trial fit to learn from: what `dfcl check` does, for every caller. Time and memory: the trial's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dfcl/check/check.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/verbs/study_input.h"

namespace dfcl::verbs {

struct CheckRequest {
  StudyInput study;
  std::optional<std::string> split_out;  // table to write: each row's split
};

// An unfit trial is a result. Throws Error.
check::CheckResult check(const CheckRequest& request, core::RunContext& context);

struct CheckedTrial {
  std::shared_ptr<const data::Trial> trial;
  check::CheckResult checked;  // of the trial as it was read
};

// For verbs that go on from a trial: checks it and, where its grade is adjustable, fills in estimated propensities.
CheckedTrial check_and_adjust(data::Trial trial, const data::Study& study, core::RunContext& context);

// Throws Error of kind unfit where a trial is; with `force`, only warns.
void require_fit(const check::CheckResult& result, bool force, core::RunContext& context);

}  // namespace dfcl::verbs
