// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kMostArms = 255;

}  // namespace

bool Model::is_index() const {
  return std::any_of(predictors.begin(), predictors.end(),
                     [](const learn::WeightedPredictor& part) { return part.predictor->is_index(); });
}

std::vector<std::pair<std::string, double>> feature_importance(const Model& model) {
  std::vector<double> shares(model.features.size());
  double total = 0.0;
  for (const learn::WeightedPredictor& part : model.predictors) {
    const std::vector<double> own = part.predictor->importance();
    if (own.empty()) continue;
    total += part.weight;
    for (std::size_t feature = 0; feature < shares.size(); ++feature) shares[feature] += part.weight * own[feature];
  }
  std::vector<std::pair<std::string, double>> list;
  if (total == 0.0) return list;
  for (std::size_t feature = 0; feature < shares.size(); ++feature)
    list.emplace_back(model.features[feature].name, shares[feature] / total);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

void require_consistent(const Model& model, const std::string& where) {
  const auto require = [&](bool good, const char* what) {
    if (!good)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = std::string("a model whose parts do not fit each other: ") + what,
                         .where = where});
  };
  const std::size_t num_arms = model.arms.size();
  require(num_arms >= 2 && num_arms <= kMostArms && model.arms.control < num_arms, "arms");
  require(!model.features.empty(), "features");
  require(!model.predictors.empty(), "no predictors");
  for (const learn::WeightedPredictor& part : model.predictors) {
    require(part.weight > 0.0 && std::isfinite(part.weight), "weights of predictors");
    require(part.predictor->is_index() == model.is_index(), "an index and outcomes in one model");
    part.predictor->require_fits(model.schema(), where);
  }
  const data::CostFacts& costs = model.cost_facts;
  require(costs.per_arm.size() == (costs.is_known() ? num_arms : 0), "known costs");
  for (const double amount : costs.per_arm) require(std::isfinite(amount), "known costs");
  require(!model.is_index() || costs.kind == data::CostKind::observed || costs.kind == data::CostKind::price,
          "known costs of an index");
  for (const BudgetMultiplier& price : model.multipliers) {
    require(std::isfinite(price.budget_per_unit) && std::isfinite(price.multiplier) &&
                std::isfinite(price.scaled_multiplier),
            "multipliers");
  }
  for (const double code : model.missing) require(std::isfinite(code), "missing codes");
  const auto& keys = model.trained.keys;
  require(keys.size() <= kMostKeys && std::is_sorted(keys.begin(), keys.end()), "keys of training units");
}

}  // namespace dfcl::model
