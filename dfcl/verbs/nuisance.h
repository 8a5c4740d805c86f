// SPDX-License-Identifier: Apache-2.0
//
// Which prediction of outcomes serves the doubly robust estimator (eq. 16): one for all models, and the same whatever
// their order. Memory: one more prediction where it is the mean of several models. Internal to verbs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/verbs/evaluate.h"
#include "dfcl/verbs/trial_predictions.h"

namespace dfcl::verbs {

struct Nuisance {
  std::optional<TrialPrediction> own;              // of the request
  std::optional<evaluate::JoinedPrediction> mean;  // of several models
  evaluate::Outcomes outcomes = {};                // views of one of them, or of a model; empty: none
  std::string name = {};                           // in words

  bool is_there() const { return outcomes.revenue.rows > 0; }
};

inline TrainingRows training_rows(const EvaluateRequest& request) {
  return request.allow_training_rows ? TrainingRows::warn : TrainingRows::refuse;
}

// That of the request, else the mean of the models that predict outcomes; alternatives do not count. models, names: as
// request.models; models must outlive the result. Throws Error of kind usage for a nuisance that predicts no outcomes.
Nuisance choose_nuisance(const EvaluateRequest& request, const std::vector<TrialPrediction>& models,
                         const std::vector<std::string>& names, const JudgedTrial& judged, core::RunContext& context);

evaluate::JoinedPrediction copy_of(const evaluate::Outcomes& outcomes);

// Throws Error of kind usage for the doubly robust estimator without a nuisance.
evaluate::Estimator choose_estimator(const EvaluateRequest& request, const Nuisance& nuisance,
                                     core::RunContext& context);

}  // namespace dfcl::verbs
