// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/io/tables/carried_columns.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/io/trial/unit_reader.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/model/study_words.h"
#include "dfcl/train/method_traits.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

// Or says why not, before any work.
void require_standard_errors(const model::Model& model) {
  try {
    model::require_figure(model, model::Figure::standard_errors);
  } catch (const core::Error& error) {
    core::ErrorDetails details = error.details();
    details.field = "uncertainty";
    if (details.hint.empty())
      details.hint = "models know it that were trained with " + train::methods_with("standard-errors");
    throw core::Error(std::move(details));
  }
}

// Writes what was asked for of every unit; returns their number.
std::size_t write_figure(const model::Model& model, const std::string& units_path, const std::string& output,
                         model::Figure figure, model::FeatureCounts* counts, core::RunContext& context) {
  io::UnitReader units(units_path, model::unit_schema(model), context);
  data::Provenance provenance = prediction_provenance(model);
  if (figure == model::Figure::standard_errors) provenance.options.emplace_back("figure", "standard errors of effects");
  std::optional<io::PredictionWriter> writer;
  std::optional<io::CarriedColumns> carried;
  const std::vector<std::string> carry = model::carried_columns(model);
  if (!carry.empty()) carried.emplace(units_path, carry, context);
  std::size_t num_units = 0;
  model::predict_units(
      model, units,
      [&](data::Prediction piece) {
        if (carried) piece.extra = carried->take(piece.num_units());
        if (!writer) writer.emplace(output, piece, units.id_type(), provenance, piece.extra.columns);
        num_units += piece.num_units();
        writer->write(piece);
        context.progress("predicting", num_units, 0, "units");
      },
      context, figure, counts);
  context.finished("predicting");
  if (!writer) throw core::data_error(units_path, "no units");
  writer->commit();
  return num_units;
}

// In memory, with the columns that travel along.
data::Prediction predict_and_carry(const model::Model& model, const std::string& units, model::FeatureCounts* counts,
                                   core::RunContext& context) {
  data::Prediction prediction = model::predict_file(model, units, context, counts);
  const std::vector<std::string> carry = model::carried_columns(model);
  if (!carry.empty()) prediction.extra = io::CarriedColumns(units, carry, context).take(prediction.num_units());
  return prediction;
}

void check_request(const PredictRequest& request) {
  if (request.in_memory == nullptr) require_text("model", request.model);
  require_text("units", request.units);
  if (request.output) require_table_ending("output", *request.output);
  if (request.uncertainty) require_table_ending("uncertainty", *request.uncertainty);
  if (request.drift) require_table_ending("drift", *request.drift);
}

// A row for each figure of each feature.
void write_drift(const std::string& path, const model::Model& model, const std::vector<model::FeatureDrift>& drift) {
  using data::ColumnType;
  io::TableWriter writer(path,
                         {{"feature", ColumnType::text},
                          {"statistic", ColumnType::text},
                          {"training", ColumnType::float64},
                          {"now", ColumnType::float64},
                          {"limit", ColumnType::float64},
                          {"drifts", ColumnType::int64}},
                         {"drift", core::version(), "predict", data::fact_options(model::prediction_facts(model))});
  data::TextColumn feature, statistic;
  std::vector<double> training, now, limit;
  std::vector<std::int64_t> drifts;
  for (std::size_t i = 0; i < drift.size(); ++i) {
    const auto add = [&](const char* name, const model::DriftFigure& figure) {
      feature.push_back(drift[i].feature);
      statistic.push_back(name);
      training.push_back(figure.training);
      now.push_back(figure.now);
      limit.push_back(figure.limit);
      drifts.push_back(figure.drifts() ? 1 : 0);
    };
    add("stability index", drift[i].stability);
    add("missing", drift[i].missing);
    if (model.features[i].categorical) add("rare or unseen levels", drift[i].unknown);
  }
  const std::size_t num_rows = drifts.size();
  writer.write({num_rows, {feature, statistic, training, now, limit, drifts}});
  writer.commit();
}

// Says so where the units are not like those that the model was trained on.
std::vector<model::FeatureDrift> report_drift(const model::Model& model, const model::FeatureCounts& counts,
                                              const PredictRequest& request, core::RunContext& context) {
  std::vector<model::FeatureDrift> drift = model::feature_drift(model.features, model.summaries, counts);
  const std::string warning = model::drift_warning(drift);
  if (!warning.empty())
    context.warn(request.drift ? warning : fmt::format("{} ({} writes the table)", warning, core::field_name("drift")));
  if (request.drift) write_drift(*request.drift, model, drift);
  return drift;
}

}  // namespace

void require_carried(const std::vector<std::string>& names) {
  constexpr const char* kTaken[] = {"id",           "arm",        "revenue",           "cost",
                                    "role",         "propensity", "control_revenue",   "control_cost",
                                    "uplift",       "extra_cost", "second_arm",        "over_second",
                                    "cut_distance", "typical",    "other_features_add"};
  for (const std::string& name : names) {
    const bool is_taken = std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken) ||
                          name.starts_with("revenue_") || name.starts_with("cost_") || name.starts_with("eligible_") ||
                          name.starts_with("reason_");
    if (is_taken)
      throw core::field_error("columns.carry", "predictions or plans have a column of this name",
                              fmt::format("'{}'", name), "another column", "rename it in the units");
  }
}

PredictResult predict(const PredictRequest& request, core::RunContext& context) {
  check_request(request);
  PredictResult result;
  const bool is_file = request.in_memory == nullptr;
  result.model = is_file ? std::make_shared<const model::Model>(model::read_model(request.model)) : request.in_memory;
  const std::string model_file = is_file ? request.model : "";
  require_carried(model::carried_columns(*result.model));
  if (request.output) require_output("output", *request.output, {model_file, request.units}, context);
  if (request.uncertainty) {
    require_output("uncertainty", *request.uncertainty, {model_file, request.units}, context);
    require_other_file("uncertainty", *request.uncertainty, request.output.value_or(""));
    require_standard_errors(*result.model);
  }
  if (request.drift) {
    require_output("drift", *request.drift, {model_file, request.units}, context);
    require_other_file("drift", *request.drift, request.output.value_or(""));
    require_other_file("drift", *request.drift, request.uncertainty.value_or(""));
    if (result.model->summaries.empty())
      throw core::field_error("drift", "the model keeps no summaries of its training units", "",
                              "a model trained by this version");
  }
  model::FeatureCounts counts(result.model->summaries);
  if (request.keep) {
    result.prediction =
        std::make_shared<const data::Prediction>(predict_and_carry(*result.model, request.units, &counts, context));
    result.num_units = result.prediction->num_units();
    if (request.output) write_prediction(*request.output, *result.prediction, prediction_provenance(*result.model));
  } else if (request.output) {
    result.num_units =
        write_figure(*result.model, request.units, *request.output, model::Figure::outcomes, &counts, context);
  } else {
    throw core::field_error("output", "no file to write the predictions to");
  }
  if (request.uncertainty)
    write_figure(*result.model, request.units, *request.uncertainty, model::Figure::standard_errors, nullptr, context);
  if (result.num_units > 0) result.drift = report_drift(*result.model, counts, request, context);
  return result;
}

data::Provenance prediction_provenance(const model::Model& model) {
  return {"prediction", core::version(), "predict", data::fact_options(model::prediction_facts(model))};
}

void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance) {
  io::PredictionWriter writer(path, prediction, prediction.ids.type(), provenance, prediction.extra.columns);
  writer.write(prediction);
  writer.commit();
}

}  // namespace dfcl::verbs
