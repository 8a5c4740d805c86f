// SPDX-License-Identifier: Apache-2.0
//
// Features that tell the outcome: measured with it, or made of it. Three signs: a feature that alone explains nearly
// all of the revenue within arms; one that alone tells of nearly every unit whether it has revenue (missing counts);
// and one that is non-zero only where the revenue is. Time: one sort per feature of at most 100,000 sampled rows; a
// pass for the third sign where the sample shows it. Memory: the sample of one feature a thread.
#pragma once

#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Adds to suspects; left_out is set true for each feature found, and those that are so already are not looked at.
void find_outcome_leaks(const data::Trial& trial, const RowGroups& order, const CheckOptions& options,
                        std::vector<bool>& left_out, std::vector<Suspect>& suspects, core::RunContext& context);

}  // namespace dfcl::check
