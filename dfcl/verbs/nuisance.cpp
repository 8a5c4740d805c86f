// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/nuisance.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/core/error.h"

namespace dfcl::verbs {
namespace {

// The mean of predictions, whatever their order: sums run by fingerprint.
evaluate::JoinedPrediction mean_prediction(std::vector<const TrialPrediction*> models) {
  std::stable_sort(models.begin(), models.end(),
                   [](const TrialPrediction* a, const TrialPrediction* b) { return a->fingerprint < b->fingerprint; });
  const core::Matrix<float>& first = models.front()->prediction.revenue;
  evaluate::JoinedPrediction mean{
      core::Matrix<float>(first.rows(), first.cols()), core::Matrix<float>(first.rows(), first.cols()), {}};
  const auto set = [&](core::Matrix<float> evaluate::JoinedPrediction::*outcome) {
    for (std::size_t i = 0; i < first.rows() * first.cols(); ++i) {
      double sum = 0.0;
      for (const TrialPrediction* model : models) sum += static_cast<double>((model->prediction.*outcome).data()[i]);
      (mean.*outcome).data()[i] = static_cast<float>(sum / static_cast<double>(models.size()));
    }
  };
  set(&evaluate::JoinedPrediction::revenue);
  set(&evaluate::JoinedPrediction::cost);
  return mean;
}

}  // namespace

Nuisance choose_nuisance(const EvaluateRequest& request, const std::vector<TrialPrediction>& models,
                         const std::vector<std::string>& names, const JudgedTrial& judged, core::RunContext& context) {
  Nuisance nuisance;
  if (request.nuisance) {
    nuisance.own = predict_trial(*request.nuisance, judged, training_rows(request), context);
    if (nuisance.own->is_index) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .field = "nuisance",
                         .what = "a model of efficiencies predicts no outcomes",
                         .where = request.nuisance->path,
                         .expected = "predictions of revenue and cost"});
    }
    nuisance.outcomes = nuisance.own->prediction.outcomes();
    nuisance.name = fmt::format("the predictions of {}", distinct_names({*request.nuisance}).front());
    return nuisance;
  }
  std::vector<const TrialPrediction*> of_outcomes;
  std::vector<std::string> of_names;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].is_index || request.models[i].is_alternative) continue;
    of_outcomes.push_back(&models[i]);
    of_names.push_back(names[i]);
  }
  if (of_outcomes.size() == 1) {
    nuisance.outcomes = of_outcomes.front()->prediction.outcomes();
    nuisance.name = fmt::format("the predictions of {}", of_names.front());
  } else if (!of_outcomes.empty()) {
    std::sort(of_names.begin(), of_names.end());
    nuisance.mean = mean_prediction(of_outcomes);
    nuisance.outcomes = nuisance.mean->outcomes();
    nuisance.name = fmt::format("the mean prediction of {}", fmt::join(of_names, ", "));
  }
  return nuisance;
}

evaluate::JoinedPrediction copy_of(const evaluate::Outcomes& outcomes) {
  evaluate::JoinedPrediction copy{core::Matrix<float>(outcomes.revenue.rows, outcomes.revenue.cols),
                                  core::Matrix<float>(outcomes.cost.rows, outcomes.cost.cols),
                                  {}};
  std::copy_n(outcomes.revenue.data, outcomes.revenue.size(), copy.revenue.data());
  std::copy_n(outcomes.cost.data, outcomes.cost.size(), copy.cost.data());
  return copy;
}

evaluate::Estimator choose_estimator(const EvaluateRequest& request, const Nuisance& nuisance,
                                     core::RunContext& context) {
  if (request.estimator) {
    if (*request.estimator == evaluate::Estimator::doubly_robust && !nuisance.is_there()) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .field = "estimator",
                         .what = "all models predict efficiencies, not outcomes",
                         .found = "doubly-robust",
                         .hint = fmt::format("{} gives predictions of outcomes", core::field_name("nuisance"))});
    }
    return *request.estimator;
  }
  if (nuisance.is_there()) return evaluate::Estimator::doubly_robust;
  context.warn("all models predict efficiencies, not outcomes: the Hajek estimator is used");
  return evaluate::Estimator::hajek;
}

}  // namespace dfcl::verbs
