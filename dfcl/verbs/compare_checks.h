// SPDX-License-Identifier: Apache-2.0
//
// What can be found wrong with a comparison before hours of training, not after: methods that do not fit the trial,
// settings out of range, a truth of another trial, budgets that control alone overspends. Time: one pass over the trial
// for each method that is particular about it; memory: that of train::prepare, and the truth. Internal to verbs.
#pragma once

#include <vector>

#include "dfcl/compare/comparison_entries.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"
#include "dfcl/verbs/compare.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// Throws Error that names the entry.
void require_trainable(const data::Trial& trial, const data::Study& study,
                       const std::vector<compare::ComparisonEntry>& entries, core::RunContext& context);

// What only the evaluation needs: segments and, in memory, the truth. Throws Error; warns of a truth that is far from
// what the trial found.
void require_inputs(const JudgedTrial& judged, const EvaluateRequest& evaluation, core::RunContext& context);

// Warns where a budget of the study is less than everyone in control costs.
void warn_of_budgets(const data::Trial& trial, const data::Study& study, core::RunContext& context);

}  // namespace dfcl::verbs
