// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/predict.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"
#include "dfcl/forest/predict.h"
#include "dfcl/loss/efficiency.h"
#include "dfcl/model/arm_rules_of.h"
#include "dfcl/model/model_file.h"
#include "dfcl/nn/workspace_pool.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kChunkRows = 16 * nn::kTileRows;

double efficiency_of(double score, const Model& model) {
  switch (model.revenue_form) {
    case RevenueForm::drm_scores: return loss::drm_efficiency(score);
    case RevenueForm::drp_scores: return loss::drp_efficiency(score, model.efficiency_cost_scale);
    case RevenueForm::dpm_scores: return loss::dpm_efficiency(score, model.efficiency_cost_scale);
    case RevenueForm::outcome: break;
  }
  return score;
}

}  // namespace

// What a thread needs for a tile of rows.
struct Predictor::Tile {
  Tile(const nn::OutcomeNetwork<float>& member, std::size_t num_arms)
      : workspace(member), index(num_arms), revenue(nn::kTileRows * num_arms), cost(nn::kTileRows * num_arms) {}

  nn::TileWorkspace<float> workspace;
  std::vector<float> index;     // revenue of one unit made of efficiencies
  std::vector<double> revenue;  // sums over members, rows x arms, scaled
  std::vector<double> cost;
};

Predictor::Predictor(const Model& model, Figure figure) : model_(model), figure_(figure) {
  if (figure == Figure::standard_errors && !model.forest) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "only a forest knows how uncertain its effects are",
                       .found = "a model of method '" + model.method + "'",
                       .hint = "train one with --method tsm-forest"});
  }
  if (figure == Figure::standard_errors) forest::require_groups(*model.forest);
  for (const std::vector<float>& parameters : model.members) {
    nn::OutcomeNetwork<float>& member = members_.emplace_back(model.network);
    std::copy(parameters.begin(), parameters.end(), member.network().parameters().begin());
  }
}

Predictor::~Predictor() = default;

void Predictor::predict_tile(Tile& tile, core::MatrixView<const float> features, core::MatrixView<float> revenue,
                             core::MatrixView<float> cost) const {
  const std::size_t rows = features.rows;
  const std::size_t num_arms = cost.cols;
  model_.preprocessing.apply(features, tile.workspace.inputs().slice(0, rows));
  std::fill(tile.revenue.begin(), tile.revenue.end(), 0.0);
  std::fill(tile.cost.begin(), tile.cost.end(), 0.0);
  for (const nn::OutcomeNetwork<float>& member : members_) {
    tile.workspace.predict(member, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto scores = tile.workspace.revenue().row(row);
      const auto costs = tile.workspace.cost().row(row);
      std::span<const float> revenues = scores;
      if (model_.is_index()) {
        for (float& score : scores) score = static_cast<float>(efficiency_of(static_cast<double>(score), model_));
        loss::set_revenue_from_efficiencies<float>(scores, costs, tile.index);
        revenues = tile.index;
      }
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        tile.revenue[row * num_arms + arm] += static_cast<double>(revenues[arm]);
        tile.cost[row * num_arms + arm] += static_cast<double>(costs[arm]);
      }
    }
  }
  const double num_members = static_cast<double>(members_.size());
  for (std::size_t i = 0; i < rows * num_arms; ++i) {
    revenue.data[i] =
        static_cast<float>(model_.revenue.center + model_.revenue.scale * (tile.revenue[i] / num_members));
    cost.data[i] = static_cast<float>(model_.cost.center + model_.cost.scale * (tile.cost[i] / num_members));
  }
}

// What the networks say of the arms becomes the base, their mean, and makes way for what the forest says.
void Predictor::predict_forest(core::MatrixView<const float> features, core::MatrixView<float> revenue,
                               core::MatrixView<float> cost, core::RunContext& context) const {
  std::vector<float> base_revenue(features.rows), base_cost(features.rows);
  for (std::size_t row = 0; row < features.rows; ++row) {
    base_revenue[row] = forest::base_of(revenue.row(row));
    base_cost[row] = forest::base_of(cost.row(row));
  }
  const forest::ForestPredictor predictor(*model_.forest, arm_rules_of(model_.network.revenue),
                                          arm_rules_of(model_.network.cost));
  const forest::ForestUnits units{.features = features, .base_revenue = base_revenue, .base_cost = base_cost};
  if (figure_ == Figure::outcomes) {
    predictor.predict(units, revenue, cost, context);
  } else {
    predictor.standard_errors(units, revenue, cost, context);
  }
}

void Predictor::predict(core::MatrixView<const float> features, core::MatrixView<float> revenue,
                        core::MatrixView<float> cost, core::RunContext& context) const {
  nn::WorkspacePool<Tile> tiles([&] { return std::make_unique<Tile>(members_.front(), model_.arms.size()); });
  core::for_each_chunk(context, features.rows, kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    typename nn::WorkspacePool<Tile>::Loan tile(tiles);
    for (std::size_t first = begin; first < end; first += nn::kTileRows) {
      const std::size_t rows = std::min(nn::kTileRows, end - first);
      predict_tile(*tile, features.slice(first, rows), revenue.slice(first, rows), cost.slice(first, rows));
    }
    const std::size_t rows = end - begin;
    if (model_.forest)
      predict_forest(features.slice(begin, rows), revenue.slice(begin, rows), cost.slice(begin, rows), context);
  });
}

data::PredictionFacts prediction_facts(const Model& model) {
  data::PredictionFacts facts;
  facts.arms = model.arms;
  facts.is_index = model.is_index();
  facts.model = fingerprint_of(model);
  facts.method = model.method;
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
  Predictor(model).predict(features.values.view(), prediction.revenue.view(), prediction.cost.view(), context);
  return prediction;
}

io::UnitSchema unit_schema(const Model& model) { return {model.features, model.id_column, model.missing}; }

void predict_units(const Model& model, io::UnitReader& units, const std::function<void(data::Prediction)>& consume,
                   core::RunContext& context, Figure figure) {
  struct Piece {
    io::UnitBatch units;
    data::Prediction prediction;
  };
  const Predictor predictor(model, figure);
  const data::PredictionFacts facts = prediction_facts(model);
  core::ordered_pipeline(
      context, [&] { return units.read(); },
      [&](std::shared_ptr<io::RawUnits> raw) {
        Piece piece{units.decode(std::move(raw)), {}};
        const std::size_t num_units = piece.units.num_units();  // 0 where the part is bad
        piece.prediction.revenue = core::Matrix<float>(num_units, model.arms.size());
        piece.prediction.cost = core::Matrix<float>(num_units, model.arms.size());
        predictor.predict(piece.units.features.view(), piece.prediction.revenue.view(), piece.prediction.cost.view(),
                          context);
        return piece;
      },
      [&](Piece piece) {
        units.accept(piece.units);
        static_cast<data::PredictionFacts&>(piece.prediction) = facts;
        piece.prediction.ids = std::move(piece.units.ids);
        consume(std::move(piece.prediction));
      });
}

data::Prediction predict_file(const Model& model, const std::string& units_path, core::RunContext& context) {
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
      context);
  context.finished("predicting");
  if (all.num_units() == 0) throw core::Error({.kind = core::ErrorKind::data, .what = "no units", .where = units_path});
  return all;
}

}  // namespace dfcl::model
