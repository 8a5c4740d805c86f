// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/oracle.h"

#include <algorithm>

namespace dfcl::evaluate {

Oracle::Oracle(const allocate::Problem& truth, core::RunContext& context)
    : num_rows_(static_cast<double>(truth.num_units())) {
  allocate::PlanPath path(truth, allocate::PlanPath::Form::sorted);
  const allocate::PathEnds& ends = path.ends(context);
  const allocate::Prices prices(truth.rules);
  control_revenue_ = ends.control.revenue.value() / num_rows_;
  control_cost_ = ends.control.spend(prices) / num_rows_;
  double cost = ends.least.spend(prices);
  double revenue = ends.least.revenue.value();
  const auto note = [&] {
    cost_.push_back(cost / num_rows_);
    revenue_.push_back(revenue / num_rows_);
  };
  note();
  for (const allocate::Increment& step : path.increments(context)) {
    cost += step.extra_cost(prices);
    revenue += step.extra_revenue();
    note();
  }
}

std::optional<double> Oracle::revenue_at(double cost_per_unit) const {
  // Rounding of sums must not put the cheapest plan below itself.
  if (cost_per_unit < cost_.front() - 1e-9 * (1.0 + std::abs(cost_.front()))) return std::nullopt;
  const auto above = std::upper_bound(cost_.begin(), cost_.end(), cost_per_unit);
  if (above == cost_.end()) return revenue_.back();
  if (above == cost_.begin()) return revenue_.front();
  const auto i = static_cast<std::size_t>(above - cost_.begin());
  const double place = (cost_per_unit - cost_[i - 1]) / (cost_[i] - cost_[i - 1]);
  return revenue_[i - 1] + place * (revenue_[i] - revenue_[i - 1]);
}

std::optional<double> Oracle::share(double true_revenue, double true_cost) const {
  const std::optional<double> best = revenue_at(true_cost);
  if (!best || !(*best > control_revenue_)) return std::nullopt;
  return (true_revenue - control_revenue_) / (*best - control_revenue_);
}

OraclePoint Oracle::point_at(double budget_per_unit, data::BudgetBasis basis) const {
  const double total = basis == data::BudgetBasis::total ? budget_per_unit : budget_per_unit + control_cost_;
  const double cost = std::clamp(total, cost_.front(), cost_.back());
  const double revenue = *revenue_at(cost);
  return {budget_per_unit, cost, revenue, revenue - control_revenue_};
}

OracleFigures Oracle::figures(std::size_t num_points, const std::vector<double>& budgets,
                              data::BudgetBasis basis) const {
  const double least = cost_.front() - (basis == data::BudgetBasis::total ? 0.0 : control_cost_);
  OracleFigures figures;
  for (std::size_t i = 0; i < num_points; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, num_points - 1));
    figures.curve.push_back(point_at(least + place * (cost_.back() - cost_.front()), basis));
  }
  for (const double budget : budgets) figures.at_budgets.push_back(point_at(budget, basis));
  return figures;
}

}  // namespace dfcl::evaluate
