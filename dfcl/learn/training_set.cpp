// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/training_set.h"

namespace dfcl::learn {

SeenUnits learned_units(const TrainingSet& set, std::span<const std::uint32_t> rows, const core::RunContext& context) {
  SeenUnits seen{core::Column<std::uint8_t>(context.scratch()),  core::Column<float>(context.scratch()),
                 core::Column<float>(context.scratch()),         core::Column<float>(context.scratch()),
                 core::Column<std::uint32_t>(context.scratch()), core::Column<float>(context.scratch())};
  for (const std::uint32_t row : rows) {
    seen.arm.push_back(set.arm[row]);
    seen.revenue.push_back(set.scaled_revenue[row]);
    seen.cost.push_back(set.scaled_cost[row]);
    seen.weight.push_back(set.weight[row]);
    if (!set.cluster.empty()) seen.cluster.push_back(set.cluster[row]);
    if (!set.sample.empty()) seen.sample.push_back(set.sample[row]);
  }
  return seen;
}

SeenUnits seen_units(const TrainingSet& set, std::span<const std::uint32_t> rows, const core::RunContext& context) {
  SeenUnits seen = learned_units(set, rows, context);
  for (std::size_t i = 0; i < rows.size(); ++i)
    seen.cost[i] = static_cast<float>(set.cost_rule.observed(seen.arm[i], static_cast<double>(seen.cost[i])));
  return seen;
}

Predicted predict_learned(const Predictor& predictor, const TrainingSet& set, std::span<const std::uint32_t> rows,
                          core::RunContext& context) {
  Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), set.num_arms()),
                      core::Matrix<float>(context.scratch(), rows.size(), set.num_arms())};
  if (!rows.empty())  // no rows would mean all
    predictor.predict_scaled(set.tile(rows), set.scales, {predicted.revenue.view(), predicted.cost.view()}, context);
  return predicted;
}

void apply_rule(const loss::CostRule& rule, Predicted& predicted) {
  if (!rule.is_known()) return;
  for (std::size_t row = 0; row < predicted.cost.rows(); ++row) {
    for (std::size_t arm = 0; arm < predicted.cost.cols(); ++arm) {
      float& cost = predicted.cost(row, arm);
      cost = static_cast<float>(
          rule.cost(arm, static_cast<double>(predicted.revenue(row, arm)), static_cast<double>(cost)));
    }
  }
}

Predicted predict_scaled(const Predictor& predictor, const TrainingSet& set, std::span<const std::uint32_t> rows,
                         core::RunContext& context) {
  Predicted predicted = predict_learned(predictor, set, rows, context);
  apply_rule(set.cost_rule, predicted);
  return predicted;
}

}  // namespace dfcl::learn
