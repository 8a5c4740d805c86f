// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/nuisance.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/verbs/study_nuisance.h"

namespace dfcl::verbs {
namespace {

constexpr const char* kKey = "evaluate.estimator";

// The study's estimator without what settings put in its place.
std::string declared_estimator(const StudyInput& input, const data::Study& study) {
  StudyInput declared = input;
  bool is_set = false;
  for (std::vector<std::string>* settings : {&declared.settings, &declared.overrides}) {
    is_set =
        std::erase_if(*settings,
                      [](const std::string& setting) { return setting.substr(0, setting.find('=')) == kKey; }) > 0 ||
        is_set;
  }
  return is_set ? read_study_input(declared).evaluate.estimator : study.evaluate.estimator;
}

}  // namespace

EstimatorChoice choose_estimator(const EvaluateRequest& request, const data::Study& study) {
  EstimatorChoice choice;
  choice.estimator = request.estimator.value_or(core::parse_word<evaluate::Estimator>(study.evaluate.estimator, kKey));
  const std::string declared = declared_estimator(request.study, study);
  const std::string used(core::to_word(choice.estimator));
  if (used != declared)
    choice.not_pre_declared = fmt::format("the study declares the estimator {}, and {} was used", declared, used);
  if (request.nuisance && choice.estimator == evaluate::Estimator::doubly_robust) {
    choice.not_pre_declared +=
        fmt::format("{}the nuisance is {}, not the study's own", choice.not_pre_declared.empty() ? "" : "; ",
                    distinct_names({*request.nuisance}).front());
  }
  return choice;
}

Nuisance choose_nuisance(const EvaluateRequest& request, evaluate::Estimator estimator, const JudgedTrial& judged,
                         const RowChecks& checks, core::RunContext& context) {
  if (request.nuisance) {
    TrialPrediction own = predict_trial(*request.nuisance, judged, checks, context);
    if (own.is_index) {
      throw core::Error({.kind = core::ErrorKind::usage,
                         .field = "nuisance",
                         .what = "a model of efficiencies predicts no outcomes",
                         .where = request.nuisance->path,
                         .expected = "predictions of revenue and cost"});
    }
    return {std::move(own.prediction),
            fmt::format("the predictions of {}", distinct_names({*request.nuisance}).front()), own.fingerprint};
  }
  if (estimator != evaluate::Estimator::doubly_robust) return {};
  StudyNuisance own = study_nuisance(judged, request.split, request.on_note, context);
  return {std::move(own.prediction), std::move(own.name), std::move(own.fingerprint)};
}

}  // namespace dfcl::verbs
