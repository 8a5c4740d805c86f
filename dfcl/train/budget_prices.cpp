// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/budget_prices.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/allocate/allocate.h"

namespace dfcl::train {
namespace {

// Budgets below this share of the range of spends are priced there: the first increments of a path can cost next to
// nothing, and their prices mean nothing.
constexpr double kLeastShare = 0.01;
constexpr double kUsualShares[] = {0.05, 0.1, 0.2, 0.3, 0.45, 0.6};

}  // namespace

std::vector<double> mean_costs(const data::Trial& trial) {
  std::vector<double> sums(trial.arms.size());
  std::vector<double> counts(trial.arms.size());
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    sums[trial.arm[unit]] += static_cast<double>(trial.cost[unit]);
    counts[trial.arm[unit]] += 1.0;
  }
  for (std::size_t arm = 0; arm < sums.size(); ++arm) sums[arm] /= std::max(1.0, counts[arm]);
  return sums;
}

std::vector<UnitBudget> unit_budgets(const data::Study& study, const data::Trial& trial) {
  const std::vector<double> means = mean_costs(trial);
  const double most = *std::max_element(means.begin(), means.end());
  const auto num_units = static_cast<double>(trial.num_units());
  std::vector<UnitBudget> budgets;
  for (const double amount : study.budgets.per_unit) budgets.push_back({fmt::format("per_unit {}", amount), amount});
  for (const double amount : study.budgets.total)
    budgets.push_back({fmt::format("total {}", amount), amount / num_units});
  for (const double share : study.budgets.share_of_max) {
    budgets.push_back({fmt::format("share_of_max {}", share), share * most});
  }
  if (!budgets.empty()) return budgets;
  // Where control is the costliest, other arms save: budgets start at the cheapest.
  const double control = means[trial.arms.control];
  const double least = control < most ? control : *std::min_element(means.begin(), means.end());
  for (const double share : kUsualShares) {
    const double amount = least + share * (most - least);
    budgets.push_back({fmt::format("per_unit {:.6g}", amount), amount});
  }
  return budgets;
}

std::vector<double> budget_multipliers(core::MatrixView<const float> revenue, core::MatrixView<const float> cost,
                                       const std::vector<UnitBudget>& budgets, core::RunContext& context) {
  const allocate::Problem problem{.revenue = revenue, .cost = cost};
  const auto num_units = static_cast<double>(revenue.rows);
  const allocate::SpendRange range = allocate::spend_range(problem, context);
  const double smallest = range.least + kLeastShare * (range.most - range.least);
  std::vector<double> multipliers;
  for (const UnitBudget& budget : budgets) {
    multipliers.push_back(
        allocate::allocate(problem, std::max(smallest, budget.per_unit * num_units), context).multiplier);
  }
  return multipliers;
}

}  // namespace dfcl::train
