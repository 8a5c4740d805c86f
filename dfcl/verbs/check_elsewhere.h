// SPDX-License-Identifier: Apache-2.0
//
// Check where the rows of the trial are on many machines (check/check_sums.h). The driver has a sample, or all rows
// where they are few; parts count and add up theirs. Time and memory: here those of check on the sample; a part's rows
// twice while they are read.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dfcl/verbs/check.h"

namespace dfcl::verbs {

// What parts have to know.
struct CheckAsked {
  std::string arms;
  std::string features;
  std::string task;  // check::CheckTask::to_bytes
};

struct CheckedElsewhere {
  std::size_t num_units = 0;  // in all
  check::Duplicates duplicates;
  // Takes it to all rows and returns their merged sums.
  std::function<std::string(const CheckAsked& asked)> run;
};

// request: its trial is the sample. Throws Error of kind usage for what needs all rows of a group in one place.
check::CheckResult check_elsewhere(const CheckRequest& request, const CheckedElsewhere& rows,
                                   core::RunContext& context);

// The sums of some rows, the request's trial. Throws Error.
std::string check_part(const CheckRequest& request, const CheckAsked& asked, core::RunContext& context);
std::string merge_check_parts(const std::string& task, const std::vector<std::string>& parts);

}  // namespace dfcl::verbs
