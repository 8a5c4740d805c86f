// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/predict.h"

#include <algorithm>
#include <optional>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/learn/known_costs.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/study_words.h"

namespace dfcl::model {

void require_figure(const Model& model, Figure figure) {
  if (figure == Figure::outcomes) return;
  if (model.predictors.size() > 1) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "a mean of several predictors does not know how uncertain its effects are",
                       .found = "a model of method '" + model.method + "'"});
  }
  model.predictors.front().predictor->require_standard_errors();
}

void predict_learned(const Model& model, const learn::FeatureTile& units, learn::Outcomes out,
                     core::RunContext& context) {
  learn::predict_mean(model.predictors, units, out, context);
  if (model.mean_effect) learn::mix_mean_effect(*model.mean_effect, model.arms.control, out);
  if (model.calibration) learn::calibrate(*model.calibration, model.arms.control, out);
}

void predict(const Model& model, core::MatrixView<const float> features, core::MatrixView<float> revenue,
             core::MatrixView<float> cost, core::RunContext& context, Figure figure) {
  if (features.rows == 0) return;
  if (figure == Figure::standard_errors) {
    model.predictors.front().predictor->standard_errors({features}, {revenue, cost}, context);
    if (model.mean_effect) learn::mix_mean_effect_errors(*model.mean_effect, {revenue, cost});
    if (model.calibration) learn::calibrate_errors(*model.calibration, {revenue, cost});
    learn::set_known_errors(model.cost_facts, {revenue, cost});
  } else {
    predict_learned(model, {features}, {revenue, cost}, context);
    learn::set_known_costs(model.cost_facts, {revenue, cost});
  }
}

data::PredictionFacts prediction_facts(const Model& model) {
  data::PredictionFacts facts;
  facts.arms = model.arms;
  facts.is_index = model.is_index();
  facts.model = fingerprint_of(model);
  facts.method = model.method;
  facts.trained_on = carried_text(model.trained);
  if (model.cost_facts.kind == data::CostKind::price) facts.price = model.cost_facts.per_arm;
  facts.evaluated = model.evaluated;
  const data::ReportWords words = study_words(model);
  facts.currency = words.currency;
  if (words.unit != "unit") facts.unit = words.unit;
  facts.revenue_is_count = !words.revenue_is_money;
  facts.carry = carried_columns(model);
  return facts;
}

data::Prediction predict(const Model& model, const data::Features& features, data::Ids ids, core::RunContext& context) {
  if (features.columns != model.features) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "the features are not those of the model",
                       .hint = "read the units with the model's columns and levels"});
  }
  data::Prediction prediction{prediction_facts(model), {}, {}, {}};
  prediction.ids = std::move(ids);
  prediction.revenue = core::Matrix<float>(features.num_units(), model.arms.size());
  prediction.cost = core::Matrix<float>(features.num_units(), model.arms.size());
  predict(model, features.values.view(), prediction.revenue.view(), prediction.cost.view(), context);
  return prediction;
}

io::UnitSchema unit_schema(const Model& model) { return {model.features, model.id_column, model.missing}; }

void predict_units(const Model& model, io::UnitReader& units, const std::function<void(data::Prediction)>& consume,
                   core::RunContext& context, Figure figure, FeatureCounts* counts) {
  struct Piece {
    io::UnitBatch units;
    data::Prediction prediction;
    std::optional<FeatureCounts> counts;
  };
  require_figure(model, figure);
  const data::PredictionFacts facts = prediction_facts(model);
  core::ordered_pipeline(
      context, [&] { return units.read(); },
      [&](std::shared_ptr<io::RawUnits> raw) {
        Piece piece{units.decode(std::move(raw)), {}, {}};
        const std::size_t num_units = piece.units.num_units();  // 0 where the part is bad
        piece.prediction.revenue = core::Matrix<float>(num_units, model.arms.size());
        piece.prediction.cost = core::Matrix<float>(num_units, model.arms.size());
        predict(model, piece.units.features.view(), piece.prediction.revenue.view(), piece.prediction.cost.view(),
                context, figure);
        if (counts != nullptr) piece.counts.emplace(model.summaries).add(piece.units.features.view());
        return piece;
      },
      [&](Piece piece) {
        units.accept(piece.units);
        if (counts != nullptr) counts->add(*piece.counts);
        static_cast<data::PredictionFacts&>(piece.prediction) = facts;
        piece.prediction.ids = std::move(piece.units.ids);
        consume(std::move(piece.prediction));
      });
}

data::Prediction predict_file(const Model& model, const std::string& units_path, core::RunContext& context,
                              FeatureCounts* counts) {
  io::UnitReader units(units_path, unit_schema(model), context);
  data::Prediction all{prediction_facts(model), {}, {}, {}};
  all.revenue = core::Matrix<float>(0, all.arms.size());
  all.cost = core::Matrix<float>(0, all.arms.size());
  const auto append = [](core::Matrix<float>& matrix, const core::Matrix<float>& piece) {
    const std::size_t first = matrix.rows();
    matrix.resize(first + piece.rows());
    std::copy_n(piece.data(), piece.rows() * piece.cols(), matrix.data() + first * matrix.cols());
  };
  predict_units(
      model, units,
      [&](data::Prediction piece) {
        append(all.revenue, piece.revenue);
        append(all.cost, piece.cost);
        all.ids.append(piece.ids);
        context.progress("predicting", all.num_units(), 0, "units");
      },
      context, Figure::outcomes, counts);
  context.finished("predicting");
  // A file without units is a mistake; a batch of nobody that a program passes on is not.
  if (all.num_units() == 0 && !io::is_memory_table(units_path))
    throw core::Error({.kind = core::ErrorKind::data, .what = "no units", .where = units_path});
  return all;
}

}  // namespace dfcl::model
