// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/budget_prices.h"

#include <algorithm>
#include <numeric>

#include "dfcl/allocate/allocate.h"

namespace dfcl::train {
namespace {

// Budgets below this share of the range of spends are priced there: the first increments of a path can cost next to
// nothing, and their prices mean nothing.
constexpr double kLeastShare = 0.01;

// What all units earn or cost that a unit stands for, of mean weight 1.
core::Matrix<float> weighed(core::MatrixView<const float> values, std::span<const float> sample) {
  const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
  core::Matrix<float> result(values.rows, values.cols);
  for (std::size_t unit = 0; unit < values.rows; ++unit) {
    const double weight = static_cast<double>(sample[unit]) / mean;
    for (std::size_t arm = 0; arm < values.cols; ++arm)
      result(unit, arm) = static_cast<float>(weight * static_cast<double>(values(unit, arm)));
  }
  return result;
}

}  // namespace

double control_cost_per_unit(core::MatrixView<const float> cost, std::size_t control) {
  double sum = 0.0;
  for (std::size_t unit = 0; unit < cost.rows; ++unit) sum += static_cast<double>(cost.row(unit)[control]);
  return sum / std::max(1.0, static_cast<double>(cost.rows));
}

std::vector<double> budget_multipliers(core::MatrixView<const float> revenue, core::MatrixView<const float> cost,
                                       std::size_t control, const std::vector<data::Budget>& budgets,
                                       core::RunContext& context, std::span<const float> sample) {
  if (!sample.empty()) {
    const core::Matrix<float> earned = weighed(revenue, sample), spent = weighed(cost, sample);
    return budget_multipliers(earned.view(), spent.view(), control, budgets, context);
  }
  const allocate::Problem problem{.revenue = revenue, .cost = cost};
  const auto num_units = static_cast<double>(revenue.rows);
  const allocate::SpendRange range = allocate::spend_range(problem, context);
  const double smallest = range.least + kLeastShare * (range.most - range.least);
  std::vector<double> multipliers;
  const double control_cost = control_cost_per_unit(cost, control);
  for (const data::Budget& budget : budgets) {
    const double total = budget.total_per_unit(control_cost) * num_units;
    multipliers.push_back(allocate::allocate(problem, std::max(smallest, total), context).multiplier);
  }
  return multipliers;
}

}  // namespace dfcl::train
