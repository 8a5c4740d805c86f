// SPDX-License-Identifier: Apache-2.0
//
// The best that could be had, where the truth is known (simulated trials): the path of the true expected outcomes. A
// plan is measured against the oracle at the plan's own true spend, so that overspending earns no credit. Memory: 16
// bytes an increment.
#pragma once

#include <optional>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/data/budgets.h"
#include "dfcl/evaluate/evaluation.h"

namespace dfcl::evaluate {

class Oracle {
 public:
  // truth: the true expected outcomes under the rules and limits that plans keep to.
  Oracle(const allocate::Problem& truth, core::RunContext& context);

  // The most revenue per unit that this cost per unit buys (the LP optimum); none below the cheapest plan.
  std::optional<double> revenue_at(double cost_per_unit) const;
  // The share of the oracle's increment over control that a plan gets, at the plan's own spend.
  std::optional<double> share(double true_revenue, double true_cost) const;
  // budget_per_unit: in the basis, as in the point.
  OraclePoint point_at(double budget_per_unit, data::BudgetBasis basis) const;
  OracleFigures figures(std::size_t num_points, const std::vector<double>& budgets, data::BudgetBasis basis) const;

 private:
  double num_rows_;
  double control_revenue_;  // per unit, as all below
  double control_cost_;
  std::vector<double> cost_;     // along the path, rising
  std::vector<double> revenue_;  // along the path
};

}  // namespace dfcl::evaluate
