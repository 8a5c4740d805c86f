// SPDX-License-Identifier: Apache-2.0
//
// The two halves of evaluate, for whoever judges several sets of models on one trial: read it once, evaluate often.
// Neither writes. Internal to verbs.
#pragma once

#include <optional>
#include <string>

#include "dfcl/verbs/check.h"
#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

// read: where it has been read and checked already; null: it is read.
JudgedTrial read_judged_trial(const EvaluateRequest& request, const CheckedTrial* read, core::RunContext& context);

// What is wrong with the trial, in one text; "": nothing.
std::string join_problems(const check::CheckResult& result);

// A nuisance that several evaluations share.
struct SharedNuisance {
  std::optional<evaluate::JoinedPrediction> prediction;  // empty: none of outcomes
  std::string name;
  bool is_chosen = false;
};

// shared: where it holds no nuisance yet, the one of this evaluation is put there; else it is used.
EvaluateResult evaluate_on(const JudgedTrial& judged, const EvaluateRequest& request, core::RunContext& context,
                           SharedNuisance* shared = nullptr);

}  // namespace dfcl::verbs
