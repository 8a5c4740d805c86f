// SPDX-License-Identifier: Apache-2.0
//
// Small trials for the tests of forests, with room to change anything before growing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/forest/forest.h"
#include "dfcl/forest/predict.h"

namespace dfcl::forest {

struct MadeTrial {
  std::vector<data::FeatureColumn> columns;
  core::Matrix<float> features;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, base_revenue, base_cost;
  std::vector<float> inverse_propensity;
  std::vector<std::uint32_t> key;
  std::size_t num_arms = 3;
  Link revenue_link = Link::difference;
  Link cost_link = Link::difference;

  MadeTrial(std::size_t num_units, std::size_t num_features, std::size_t arms)
      : features(num_units, num_features),
        arm(num_units),
        revenue(num_units),
        cost(num_units),
        base_revenue(num_units),
        base_cost(num_units),
        num_arms(arms) {
    for (std::size_t feature = 0; feature < num_features; ++feature)
      columns.push_back({.name = fmt::format("x{}", feature), .categorical = false, .levels = {}});
    for (std::uint32_t unit = 0; unit < num_units; ++unit) rows.push_back(unit);
  }

  SeenOutcomes seen() const {
    return {.arm = arm,
            .revenue = revenue,
            .cost = cost,
            .base_revenue = base_revenue,
            .base_cost = base_cost,
            .inverse_propensity = inverse_propensity,
            .num_arms = num_arms,
            .control = 0,
            .revenue_link = revenue_link,
            .cost_link = cost_link};
  }
  ForestData data() const {
    return {.columns = columns, .features = features.view(), .rows = rows, .seen = seen(), .key = key};
  }
  ForestUnits units() const {
    return {.features = features.view(), .rows = {}, .base_revenue = base_revenue, .base_cost = base_cost};
  }
};

// Uniform features, arms in turn by chance, revenue = effect(x, arm) + noise x a normal number, cost = arm + noise.
inline MadeTrial made_trial(std::size_t num_units, std::size_t num_features, std::size_t num_arms, std::uint64_t seed,
                            const std::function<double(std::span<const float>, std::size_t)>& effect,
                            double noise = 1.0) {
  MadeTrial trial(num_units, num_features, num_arms);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("made trial"), unit);
    for (float& value : trial.features.row(unit)) value = static_cast<float>(random.uniform(-1.0, 1.0));
    trial.arm[unit] = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(num_arms)));
    trial.revenue[unit] =
        static_cast<float>(effect(trial.features.row(unit), trial.arm[unit]) + noise * random.normal());
    trial.cost[unit] = static_cast<float>(static_cast<double>(trial.arm[unit]) + 0.5 * noise * random.normal());
  }
  return trial;
}

struct Predicted {
  core::Matrix<float> revenue, cost;
  double effect(std::size_t unit, std::size_t arm) const {
    return static_cast<double>(revenue(unit, arm)) - static_cast<double>(revenue(unit, 0));
  }
};

inline Predicted predicted(const Forest& forest, const ForestUnits& units, core::RunContext& context,
                           ArmRules revenue_rules = {}, ArmRules cost_rules = {}) {
  Predicted result{core::Matrix<float>(units.size(), forest.num_arms),
                   core::Matrix<float>(units.size(), forest.num_arms)};
  ForestRunner(forest, revenue_rules, cost_rules).predict(units, result.revenue.view(), result.cost.view(), context);
  return result;
}

}  // namespace dfcl::forest
