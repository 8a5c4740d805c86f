// SPDX-License-Identifier: Apache-2.0
#include "fd_slopes.h"

#include <algorithm>

#include "dfcl/allocate/allocate.h"

namespace dfcl::bench {
namespace {

// phi of eq. 5 or 5b for revenue, rows x arms. Worked out once: no gradient goes through it.
core::Matrix<double> revenue_estimates(const loss::Rows<float>& rows, loss::Baseline baseline) {
  core::Matrix<double> estimates(rows.num_rows(), rows.num_arms());
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    double mean = 0.0;
    for (const float value : rows.revenue.row(row)) mean += static_cast<double>(value);
    mean /= static_cast<double>(rows.num_arms());
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
      const bool robust = baseline == loss::Baseline::doubly_robust;
      const double nuisance = robust ? static_cast<double>(rows.nuisance_revenue(row, arm)) : 0.0;
      const double expected = baseline == loss::Baseline::mean ? mean : nuisance;
      const double residual = static_cast<double>(rows.observed_revenue[row]) - expected;
      const bool seen = rows.arm[row] == arm;
      estimates(row, arm) = nuisance + (seen ? static_cast<double>(rows.weight[row]) * residual : 0.0);
    }
  }
  return estimates;
}

std::vector<std::uint8_t> plan_of(const allocate::Problem& problem, double budget_total, core::RunContext& context) {
  allocate::Solution solution = allocate::allocate(problem, budget_total, context);
  if (!solution.has_plan()) solution = allocate::allocate(problem, solution.least_spend, context);
  return std::move(solution.arm);
}

template <class T>
core::Matrix<T> zeros(std::size_t rows, std::size_t cols) {
  core::Matrix<T> matrix(rows, cols);
  std::fill_n(matrix.data(), rows * cols, T(0));
  return matrix;
}

}  // namespace

FdSlopes fd_slopes(const loss::Rows<float>& rows, const std::vector<double>& budgets_per_unit, loss::Baseline baseline,
                   const loss::FdOptions& options, core::RunContext& context) {
  const core::Matrix<double> estimates = revenue_estimates(rows, baseline);
  const loss::PlanValue<float> value = [&](const loss::Rows<float>& moved) {
    context.check_cancelled();
    const allocate::Problem problem{.revenue = moved.revenue, .cost = moved.cost};
    double sum = 0.0;
    for (const double budget_per_unit : budgets_per_unit) {
      const std::vector<std::uint8_t> plan =
          plan_of(problem, budget_per_unit * static_cast<double>(moved.num_rows()), context);
      for (std::size_t row = 0; row < plan.size(); ++row) sum += estimates(row, plan[row]);
    }
    return sum / static_cast<double>(budgets_per_unit.size());
  };
  FdSlopes slopes{zeros<float>(rows.num_rows(), rows.num_arms()), zeros<float>(rows.num_rows(), rows.num_arms()), 0.0};
  const loss::FdLoss<float> differences(options, value);
  slopes.loss = differences.add_gradient(rows, {}, 1.0, {slopes.revenue.view(), slopes.cost.view()}) /
                static_cast<double>(rows.num_rows());
  return slopes;
}

}  // namespace dfcl::bench
