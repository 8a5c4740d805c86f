// SPDX-License-Identifier: Apache-2.0
//
// The two halves of evaluate, for whoever judges several sets of models on one trial: read it once, evaluate often.
// Neither writes. Internal to verbs.
#pragma once

#include <optional>
#include <string>

#include "dfcl/verbs/check.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/fitted_rows.h"
#include "dfcl/verbs/nuisance.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// Every word, range and combination. Throws Error of kind usage.
void check_evaluate_request(const EvaluateRequest& request);

// read: where it has been read and checked already; null: it is read.
JudgedTrial read_judged_trial(const EvaluateRequest& request, const CheckedTrial* read, core::RunContext& context);

// What is wrong with the trial, in one text; "": nothing.
std::string join_problems(const check::CheckResult& result);

// Each row's split, of the study's own trial and of a test file (split_file.h).
void write_splits(const std::string& path, const char* verb, const JudgedTrial& judged);

// What a trial is judged by, the same for all models and all evaluations of it.
struct Judgement {
  EstimatorChoice choice;
  FittedRows fitted;
  std::optional<Nuisance> nuisance = {};  // made by the first evaluation, once the models are known to be good
};
Judgement make_judgement(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context);

EvaluateResult evaluate_on(const JudgedTrial& judged, Judgement& judgement, const EvaluateRequest& request,
                           core::RunContext& context);

}  // namespace dfcl::verbs
