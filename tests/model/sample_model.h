// SPDX-License-Identifier: Apache-2.0
//
// A small model with random weights, and units for it.
#pragma once

#include <cmath>
#include <limits>

#include "dfcl/core/random.h"
#include "dfcl/forest/forest_predictor.h"
#include "dfcl/model/model.h"
#include "dfcl/nn/network_predictor.h"

namespace dfcl::model {

inline data::Features sample_features(std::size_t rows, std::uint64_t seed = 3) {
  data::Features features;
  features.columns = {{"age", false, {}}, {"price", false, {}}, {"city", true, {"(other)", "Bern", "Ulm"}}};
  features.values = core::Matrix<float>(rows, 3);
  for (std::size_t row = 0; row < rows; ++row) {
    core::RandomStream stream(seed, core::stream_purpose("sample_features"), row);
    features.values(row, 0) = static_cast<float>(40.0 + 10.0 * stream.normal());
    features.values(row, 1) =
        stream.bernoulli(0.1) ? std::nanf("") : static_cast<float>(std::exp(2.0 * stream.normal()));
    features.values(row, 2) = static_cast<float>(stream.below(3));
  }
  return features;
}

// heads: whether every output has hidden layers of its own.
inline nn::NetworkParts sample_parts(std::size_t num_members = 2, bool heads = true) {
  core::RunContext context(1);
  const data::Features features = sample_features(2000);
  nn::NetworkParts parts;
  parts.preprocessing =
      nn::fit_preprocessing(features.columns, features.values.view(), {}, nn::Scaling::standard, context);
  parts.network.inputs = parts.preprocessing.num_inputs();
  parts.network.shared = {16};
  if (heads) parts.network.heads = std::vector<std::size_t>{8};
  parts.network.revenue = {.num_arms = 3, .kind = loss::OutcomeKind::non_negative};
  parts.network.cost = {.num_arms = 3,
                        .kind = loss::OutcomeKind::real,
                        .arm_shape = learn::ArmShape::monotone,
                        .non_negative = true,
                        .control_is_free = true};
  for (std::size_t member = 0; member < num_members; ++member) {
    nn::OutcomeNetwork<float> network(parts.network);
    network.network().initialise(member + 1);
    const auto parameters = network.network().parameters();
    parts.members.emplace_back(parameters.begin(), parameters.end());
  }
  parts.scales = {{0.0, 3.25}, {0.0, 0.1}};
  return parts;
}

inline Model sample_model_of(nn::NetworkParts parts) {
  Model model;
  model.version = "0.1.0";
  model.method = "dfcl-mer";
  model.seed = 18'446'744'073'709'551'615u;
  model.options = {{"epochs", "20"}, {"alpha", "1.5"}};
  model.study = "[columns]\narm = \"discount\"  # \xc3\xa9\n";
  model.arms = {{"0", "5", "10"}, 0, true};
  model.features = sample_features(1).columns;
  model.id_column = "shop";
  model.missing = {-999, 0.1};
  model.predictors = {{std::make_shared<nn::NetworkPredictor>(std::move(parts)), 1.0}};
  model.multipliers = {{"per_unit 0.1", 0.1, 2.5, 2.5 * 0.1 / 3.25}, {"share_of_max 0.2", 0.3, 1.0 / 3.0, 0.01}};
  model.trained.split.seed = -4;
  model.trained.trial_fingerprint = 0xfedcba9876543210u;
  model.trained.num_units = 1200;
  model.trained.keys = {1, 5, ~std::uint64_t{0}};
  model.record = "[{\"epoch\": 1, \"loss\": 0.5}, {\"epoch\": 2, \"loss\": 0.25}]";
  return model;
}

inline Model sample_model(std::size_t num_members = 2, bool heads = true) {
  return sample_model_of(sample_parts(num_members, heads));
}

// Revenue as an index of efficiencies, with given weights.
inline nn::NetworkParts index_parts(nn::NetworkParts parts, loss::RevenueForm form, float weight = 0.5f) {
  parts.revenue_form = form;
  parts.network.revenue = {.num_arms = 2};
  for (auto& member : parts.members)
    member.assign(nn::OutcomeNetwork<float>(parts.network).network().num_parameters(), weight);
  return parts;
}

inline const nn::NetworkParts& parts_of(const Model& model) {
  return dynamic_cast<const nn::NetworkPredictor&>(*model.predictors.at(0).predictor).parts();
}
inline const forest::ForestPredictor& forest_predictor_of(const Model& model) {
  return dynamic_cast<const forest::ForestPredictor&>(*model.predictors.at(0).predictor);
}

// The same with a small forest on numbers, missing values and categories.
inline Model sample_forest_model(std::size_t trees = 8) {
  Model model = sample_model(2, false);
  model.method = "tsm-forest";
  const data::Features features = sample_features(2000);
  const std::size_t num_units = features.num_units();
  std::vector<std::uint32_t> rows(num_units);
  std::vector<std::uint8_t> arm(num_units);
  std::vector<float> revenue(num_units), cost(num_units), base(num_units, 3.0f);
  for (std::uint32_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream stream(5, core::stream_purpose("sample forest"), unit);
    rows[unit] = unit;
    arm[unit] = static_cast<std::uint8_t>(stream.below(3));
    const bool responds = features.values(unit, 2) == 1.0f || features.values(unit, 0) > 45.0f;
    revenue[unit] = static_cast<float>(stream.poisson(2.0 + (responds ? 2.0 * arm[unit] : 0.0)));
    cost[unit] = static_cast<float>(arm[unit] + 0.3 * stream.normal());
  }
  core::RunContext context(1);
  forest::Forest grown =
      forest::grow_forest({.columns = model.features,
                           .features = features.values.view(),
                           .rows = rows,
                           .seen = {.arm = arm,
                                    .revenue = revenue,
                                    .cost = cost,
                                    .base_revenue = base,
                                    .base_cost = base,
                                    .inverse_propensity = {},
                                    .num_arms = 3,
                                    .control = 0,
                                    .revenue_link = forest::Link::ratio}},
                          {.trees = trees, .min_leaf = 100, .min_leaf_per_arm = 6, .seed = model.seed}, context);
  const nn::OutcomeNetworkOptions& network = parts_of(model).network;
  const learn::Facts facts{network.revenue, network.cost};
  model.predictors = {{std::make_shared<forest::ForestPredictor>(std::move(grown), facts, model.predictors), 1.0}};
  return model;
}

}  // namespace dfcl::model
