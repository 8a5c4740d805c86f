// SPDX-License-Identifier: Apache-2.0
//
// The trees that an evaluation judges: the plan of each model at each budget as a short rule, and segments in which
// predicted effects differ. Both are fitted (dfcl/policy) to predictions for a sample of the rows that are not
// evaluated; no outcome is seen. Where that cannot be, the evaluation says why. Time: that of predicting the sample and
// of the fits. Memory: the features and predictions of the sample. Internal to verbs.
#pragma once

#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/evaluate.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// Sets the trees of input.models and the segment tree. models: those of input, in memory. input.rules must be set, and
// whether a model is an index.
void add_trees(const EvaluateRequest& request, const std::vector<ModelInput>& models, const JudgedTrial& judged,
               const evaluate::EvaluationOptions& options, evaluate::EvaluationInput& input, core::RunContext& context);

// Where the study knows the prices of arms, predicted costs are those prices: a plan made by prices that a model
// learned would miss its budget for no reason.
void set_known_prices(const evaluate::TrialRows& rows, TrialPrediction& predicted);

}  // namespace dfcl::verbs
