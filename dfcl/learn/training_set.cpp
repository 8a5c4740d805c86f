// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/training_set.h"

namespace dfcl::learn {

SeenUnits seen_units(const TrainingSet& set, std::span<const std::uint32_t> rows, const core::RunContext& context) {
  SeenUnits seen{core::Column<std::uint8_t>(context.scratch()), core::Column<float>(context.scratch()),
                 core::Column<float>(context.scratch()), core::Column<float>(context.scratch()),
                 core::Column<std::uint32_t>(context.scratch())};
  for (const std::uint32_t row : rows) {
    seen.arm.push_back(set.arm[row]);
    seen.revenue.push_back(set.scaled_revenue[row]);
    seen.cost.push_back(set.scaled_cost[row]);
    seen.weight.push_back(set.weight[row]);
    if (!set.cluster.empty()) seen.cluster.push_back(set.cluster[row]);
  }
  return seen;
}

Predicted predict_scaled(const Predictor& predictor, const TrainingSet& set, std::span<const std::uint32_t> rows,
                         core::RunContext& context) {
  Predicted predicted{core::Matrix<float>(context.scratch(), rows.size(), set.num_arms()),
                      core::Matrix<float>(context.scratch(), rows.size(), set.num_arms())};
  if (!rows.empty())  // no rows would mean all
    predictor.predict_scaled(set.tile(rows), set.scales, {predicted.revenue.view(), predicted.cost.view()}, context);
  return predicted;
}

}  // namespace dfcl::learn
