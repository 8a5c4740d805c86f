// SPDX-License-Identifier: Apache-2.0
//
// What plans made by models or predictions are worth, on rows of a trial they were not fitted on: what `dfcl evaluate`
// does, for every caller. Messages name the flags of the command line. Time and memory: those of dfcl/evaluate, the
// trial and the predictions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/study.h"
#include "dfcl/model/model.h"
#include "dfcl/report/evaluation/evaluation_report.h"

namespace dfcl::verbs {

// One of: the path of a model or of predictions, a model, predictions.
struct Contender {
  std::string path;  // of a file, or what messages call the object in memory
  std::shared_ptr<const model::Model> model = {};
  std::shared_ptr<const data::Prediction> prediction = {};
  std::string name = {};        // "": made from the path
  bool is_alternative = false;  // a setting that is tried: judged, never launched

  bool is_given() const { return !path.empty(); }
};

struct EvaluateRequest {
  data::Study study;
  std::string trial;                  // path; "": the study's
  std::vector<Contender> contenders;  // the first is the reference
  std::string split = "test";         // train, validation, test, all
  std::string estimator;              // "": doubly-robust where there is a nuisance, else hajek
  Contender nuisance;
  Contender truth;
  std::vector<double> totals;  // budgets instead of the study's
  std::vector<double> per_unit;
  std::vector<double> share_of_max;
  std::size_t levels = 200;
  std::string ranking = "angle";
  std::size_t resamples = 1000;
  std::string intervals = "bootstrap";
  std::string weights = "poisson";
  std::vector<std::string> segments;  // columns of the trial
  bool allow_training_rows = false;
};

struct EvaluateResult {
  report::EvaluationReport report;
  bool fit = true;  // whether the trial is fit to learn from
};

EvaluateResult evaluate(const EvaluateRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
