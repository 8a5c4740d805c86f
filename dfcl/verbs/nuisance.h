// SPDX-License-Identifier: Apache-2.0
//
// Which estimator judges plans, and which prediction of outcomes serves it where it is the doubly robust one (eq. 16).
// The study declares both before anyone looks at test rows: its [evaluate] estimator, and its own nuisance
// (study_nuisance.h). What a caller puts in their place is used, and marks the verdict. Internal to verbs.
#pragma once

#include <optional>
#include <string>

#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

struct EstimatorChoice {
  evaluate::Estimator estimator = evaluate::Estimator::doubly_robust;
  std::string not_pre_declared;  // what is done otherwise than the study declares; "": nothing
};

// study: that of the request, with its settings.
EstimatorChoice choose_estimator(const EvaluateRequest& request, const data::Study& study);

struct Nuisance {
  evaluate::JoinedPrediction prediction;  // rows x arms; empty: none is needed
  std::string name;                       // in words
  std::string fingerprint;                // of the model or predictions; "" where there is none

  evaluate::Outcomes outcomes() const { return prediction.outcomes(); }
};

// That of the request, else the study's own; none unless the estimator is doubly robust. Throws Error of kind usage for
// a nuisance that predicts no outcomes, of kind data for one that was fitted on the rows.
Nuisance choose_nuisance(const EvaluateRequest& request, evaluate::Estimator estimator, const JudgedTrial& judged,
                         const RowChecks& checks, core::RunContext& context);

}  // namespace dfcl::verbs
