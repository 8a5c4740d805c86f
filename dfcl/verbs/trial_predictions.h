// SPDX-License-Identifier: Apache-2.0
//
// The trial that plans are judged on, and what models predict for its rows. Memory: the trial, and the predictions of
// the rows (units x arms, twice). Internal to verbs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/evaluate/estimators/join.h"
#include "dfcl/evaluate/evaluation.h"
#include "dfcl/verbs/model_input.h"
#include "dfcl/verbs/words.h"

namespace dfcl::verbs {

// The trial and the rows that are looked at.
struct JudgedTrial {
  data::Study study;
  std::shared_ptr<const data::Trial> trial;
  evaluate::TrialRows rows;
  std::string path;                        // of the trial
  std::shared_ptr<const data::Trial> own;  // the study's own trial: the same, unless rows come from a test file
  check::CheckResult checked = {};         // where somebody goes on to say what plans are worth
};

// Predictions of one model for the rows.
struct TrialPrediction {
  evaluate::JoinedPrediction prediction;
  std::string method;
  std::string fingerprint;
  bool is_index = false;
  bool index_is_guessed = false;  // predictions that do not say it
  std::vector<evaluate::FeatureImportance> importance = {};
  bool says_rows = true;  // which rows it was fitted on
};

// What to do where a model was trained on some of the rows: its figures flatter it.
enum class TrainingRows : std::uint8_t { refuse, warn, allow };

class FittedRows;
struct RowChecks {
  TrainingRows training_rows = TrainingRows::refuse;
  const FittedRows* fitted = nullptr;  // of predictions that do not say it themselves
  bool importance = false;             // which features matter: a pass over the model's background for each of them
};

// Some rows of a table.
data::Features features_of_rows(const data::Features& all, const std::vector<std::size_t>& rows,
                                core::RunContext& context);

// Throws Error of kind data where a model was trained on some of the rows and that is refused, where columns or ids do
// not fit. The input is read where it is not in memory.
TrialPrediction predict_trial(const ModelInput& input, const JudgedTrial& judged, const RowChecks& checks,
                              core::RunContext& context);

}  // namespace dfcl::verbs
