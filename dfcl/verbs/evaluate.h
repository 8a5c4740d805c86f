// SPDX-License-Identifier: Apache-2.0
//
// What plans made by models or predictions are worth, on rows of a trial they were not fitted on: what `dfcl evaluate`
// does, for every caller. Time and memory: those of dfcl/evaluate, the trial and the predictions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/report/evaluation/evaluation_report.h"
#include "dfcl/verbs/model_input.h"
#include "dfcl/verbs/study_input.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

struct EvaluateRequest {
  StudyInput study;
  std::vector<ModelInput> models;
  std::optional<std::size_t> reference;  // of them: what the others are compared with; none: the best of them
  bool index = false;                    // of the models, predictions that do not say it hold an index
  std::optional<std::string> output;     // path of the results, .json; none: nothing is written
  std::optional<std::string> memory;     // at most, "2GB": keeps the trial in files, or refuses (memory_limit.h)
  Rows split = Rows::test;
  std::optional<evaluate::Estimator> estimator;  // none: the one that the study declares
  std::optional<ModelInput> nuisance;            // none: the study's own
  std::optional<ModelInput> truth;               // of a simulated trial
  std::vector<double> totals;                    // budgets instead of the study's
  std::vector<double> per_unit;
  std::vector<double> share_of_max;
  std::int64_t levels = 200;
  evaluate::Ranking ranking = evaluate::Ranking::angle;
  std::int64_t resamples = 1000;
  Intervals intervals = Intervals::bootstrap;
  evaluate::Weights weights = evaluate::Weights::poisson;
  std::vector<std::string> segments;  // columns of the trial; empty: those of [report]
  bool heterogeneity = true;          // deciles, effects by segment, policy trees; for callers who evaluate again
  // What plans keep to, as in allocate; profit takes the worth of revenue from [value].
  allocate::Objective objective = allocate::Objective::revenue;
  std::optional<double> min_roi;
  std::optional<std::string> eligible;  // path of a table: which arms a unit may get
  bool allow_training_rows = false;
  std::optional<std::string> fitted_on;  // table of the rows that predictions from elsewhere were fitted on
  std::optional<std::string> split_out;  // table to write: each row's split
  // Told in one line what took its time or cannot be checked. May be empty.
  std::function<void(const std::string&)> on_note = {};
};

struct EvaluateResult {
  report::EvaluationReport report;
  bool fit = true;  // whether the trial is fit to learn from
};

// Throws Error.
EvaluateResult evaluate(const EvaluateRequest& request, core::RunContext& context);

}  // namespace dfcl::verbs
