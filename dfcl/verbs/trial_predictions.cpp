// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/trial_predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "dfcl/core/error.h"
#include "dfcl/core/printable.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/data/prediction_fingerprint.h"
#include "dfcl/io/study/study_file.h"
#include "dfcl/model/explain.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/verbs/fitted_rows.h"

namespace dfcl::verbs {
namespace {

// The features that matter most, where the model knows them.
std::vector<evaluate::FeatureImportance> top_importance(const model::Model& model, core::RunContext& context) {
  constexpr std::size_t kMost = 30;
  std::vector<evaluate::FeatureImportance> list;
  for (const auto& [feature, share] : model::feature_importance(model, context)) {
    if (share > 0.0 && list.size() < kMost) list.push_back({feature, share});
  }
  return list;
}

// A model of other outcomes answers another question. Its file may hold any text where the study should be.
void warn_of_other_outcomes(const model::Model& model, const std::string& where, const data::Study& study,
                            core::RunContext& context) {
  data::Study::Columns learned;
  const auto name = [](const std::optional<std::string>& column) { return column.value_or("none"); };
  try {
    learned = io::parse_study(model.study, where, "", {}, false).columns;
  } catch (const core::Error&) {
    return;
  }
  for (const auto& [outcome, theirs, ours] : {std::tuple{"revenue", learned.revenue, study.columns.revenue},
                                              std::tuple{"cost", name(learned.cost), name(study.columns.cost)}}) {
    if (theirs != ours) {
      context.warn(
          fmt::format("{}: learned '{}' as {}, the study's is '{}'", where, core::printable(theirs), outcome, ours));
    }
  }
}

TrialPrediction predict_by_model(const model::Model& model, const std::string& where, const JudgedTrial& judged,
                                 const RowChecks& checks, core::RunContext& context) {
  look_for_training_rows(model.trained, "the model", where, judged, checks.training_rows, context);
  // Who looks at training rows looks at others too, and has been warned there.
  if (checks.training_rows != TrainingRows::allow) warn_of_other_outcomes(model, where, judged.study, context);
  TrialPrediction predicted{{}, model.method, model::fingerprint_of(model), model.is_index(), false};
  if (checks.importance) predicted.importance = top_importance(model, context);
  if (model.features == judged.trial->features.columns) {
    const data::Prediction prediction = model::predict(
        model, features_of_rows(judged.trial->features, judged.rows.trial_row, context), judged.rows.ids, context);
    evaluate::TrialRows of_prediction = judged.rows;
    for (std::size_t row = 0; row < of_prediction.size(); ++row) of_prediction.trial_row[row] = row;
    predicted.prediction = evaluate::join_prediction(prediction, of_prediction, judged.rows.ids, where);
  } else {  // other columns or levels: read the units as the model knows them
    predicted.prediction = evaluate::join_prediction(model::predict_file(model, judged.path, context), judged.rows,
                                                     judged.trial->ids, where);
  }
  return predicted;
}

TrialPrediction join_to_trial(const data::Prediction& prediction, const std::string& where, const JudgedTrial& judged,
                              core::RunContext& context) {
  TrialPrediction predicted;
  predicted.fingerprint = fmt::format("{:016x}", data::fingerprint_of(prediction, context));
  predicted.prediction = evaluate::join_prediction(prediction, judged.rows, judged.trial->ids, where);
  return predicted;
}

}  // namespace

data::Features features_of_rows(const data::Features& all, const std::vector<std::size_t>& rows,
                                core::RunContext& context) {
  data::Features some{all.columns, core::Matrix<float>(context.scratch(), rows.size(), all.values.cols())};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::copy_n(all.values.row(rows[row]).data(), all.values.cols(), some.values.row(row).data());
  }
  return some;
}

TrialPrediction predict_trial(const ModelInput& input, const JudgedTrial& judged, const RowChecks& checks,
                              core::RunContext& context) {
  const ModelInput read = read_model_input(input, context);
  if (read.model != nullptr) return predict_by_model(*read.model, read.path, judged, checks, context);
  TrialPrediction predicted = join_to_trial(*read.prediction, read.path, judged, context);
  const std::string& trained_on = read.prediction->trained_on;
  if (!trained_on.empty() && trained_on != data::kTrainedOnNothing) {
    look_for_training_rows(model::parse_carried(trained_on, read.path), "the model of these predictions", read.path,
                           judged, checks.training_rows, context);
  } else if (trained_on.empty() && checks.fitted != nullptr && checks.fitted->are_known()) {
    checks.fitted->look_for(read.path, judged, checks.training_rows, context);
  }
  predicted.says_rows = !trained_on.empty();
  predicted.method = read.prediction->method;
  predicted.is_index = read.prediction->is_index;
  predicted.index_is_guessed = read.prediction->index_is_guessed;
  return predicted;
}

}  // namespace dfcl::verbs
