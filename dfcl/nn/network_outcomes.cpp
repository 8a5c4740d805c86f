// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_outcomes.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::nn {

void PartsCheck::require(bool good, const char* what) const {
  if (good) return;
  throw core::Error({.kind = core::ErrorKind::file,
                     .what = std::string("a model whose parts do not fit each other: ") + what,
                     .where = where_});
}

void PartsCheck::require_arms(const learn::Origin& outcomes) const {
  const std::size_t num_arms = schema_.arms.size();
  const bool is_index = outcomes.revenue_form != loss::RevenueForm::outcome;
  require(outcomes.facts.revenue.num_arms == (is_index ? num_arms - 1 : num_arms), "revenue");
  require(outcomes.facts.cost.num_arms == num_arms, "cost");
}

void PartsCheck::require_features(const Preprocessing& preprocessing) const {
  const std::vector<data::FeatureColumn>& features = schema_.features;
  require(!features.empty() && preprocessing.num_features() == features.size(), "features");
  for (const NumberInput& number : preprocessing.numbers()) require(!features[number.feature].categorical, "numbers");
  for (const std::uint32_t feature : preprocessing.indicators()) require(!features[feature].categorical, "indicators");
  for (const CategoryInput& category : preprocessing.categories()) {
    const data::FeatureColumn& column = features[category.feature];
    require(column.categorical && category.position.size() == column.levels.size() + 1, "categories");
  }
}

void PartsCheck::require_parameters(const std::vector<std::vector<float>>& networks, double num_parameters,
                                    const char* none) const {
  require(!networks.empty(), none);
  for (const std::vector<float>& network : networks) {
    require(static_cast<double>(network.size()) == num_parameters, "number of parameters");
    require(std::ranges::all_of(network, [](float value) { return std::isfinite(value); }), "weights");
  }
}

void PartsCheck::require_scales(const learn::Origin& outcomes) const {
  for (const learn::OutcomeScale* outcome : {&outcomes.scales.revenue, &outcomes.scales.cost})
    require(std::isfinite(outcome->center) && std::isfinite(outcome->scale) && outcome->scale > 0.0, "scales");
  const double scale = outcomes.efficiency_cost_scale;
  require(std::isfinite(scale) && scale > 0.0, "scale of efficiencies");
}

void add_predictions(loss::RevenueForm form, double efficiency_cost_scale, core::MatrixView<float> scores,
                     core::MatrixView<const float> costs, std::size_t num_rows, std::size_t num_units, double* revenue,
                     double* cost) {
  const std::size_t num_arms = costs.cols;
  std::vector<float> index(num_arms);
  for (std::size_t row = 0; row < num_rows; ++row) {
    std::span<const float> revenues = scores.row(row);
    if (form != loss::RevenueForm::outcome) {
      for (float& score : scores.row(row))
        score = static_cast<float>(loss::efficiency_of(form, static_cast<double>(score), efficiency_cost_scale));
      loss::set_revenue_from_efficiencies<float>(scores.row(row), costs.row(row), index);
      revenues = index;
    }
    const std::size_t first = row % num_units * num_arms;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      revenue[first + arm] += static_cast<double>(revenues[arm]);
      cost[first + arm] += static_cast<double>(costs.row(row)[arm]);
    }
  }
}

void set_means(const learn::Scales& scales, double count, const double* revenue, const double* cost,
               learn::Outcomes out) {
  for (std::size_t i = 0; i < out.revenue.size(); ++i) {
    out.revenue.data[i] = static_cast<float>(scales.revenue.center + scales.revenue.scale * (revenue[i] / count));
    out.cost.data[i] = static_cast<float>(scales.cost.center + scales.cost.scale * (cost[i] / count));
  }
}

}  // namespace dfcl::nn
