// SPDX-License-Identifier: Apache-2.0
//
// The two halves of evaluate, for whoever judges several sets of models on one trial: read it once, evaluate often.
// Neither writes. Internal to verbs.
#pragma once

#include "dfcl/verbs/check.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// read: where it has been read and checked already; null: it is read.
JudgedTrial read_judged_trial(const EvaluateRequest& request, const CheckedTrial* read, core::RunContext& context);

EvaluateResult evaluate_on(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
