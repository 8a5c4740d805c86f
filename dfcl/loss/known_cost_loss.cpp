// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/known_cost_loss.h"

#include <algorithm>

namespace dfcl::loss {

template <class T>
double KnownCostLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                                      Gradient<T> gradient) const {
  const std::size_t num_arms = rows.num_arms();
  core::Matrix<T> cost(rows.num_rows(), num_arms);
  core::Matrix<T> slope(rows.num_rows(), num_arms);  // d loss / d cost
  std::vector<float> observed(rows.num_rows());
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      cost(row, arm) = static_cast<T>(
          rule_.cost(arm, static_cast<double>(rows.revenue(row, arm)), static_cast<double>(rows.cost(row, arm))));
      slope(row, arm) = T(0);
    }
    observed[row] = static_cast<float>(rule_.observed(rows.arm[row], static_cast<double>(rows.observed_cost[row])));
  }
  Rows<T> known = rows;
  known.cost = std::as_const(cost).view();
  known.observed_cost = observed;
  const double sum = inner_->add_gradient(known, totals, scale, {gradient.revenue, slope.view()});
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      gradient.revenue(row, arm) += static_cast<T>(rule_.per_revenue[arm]) * slope(row, arm);
      gradient.cost(row, arm) += static_cast<T>(rule_.per_outcome[arm]) * slope(row, arm);
    }
  }
  return sum;
}

template class KnownCostLoss<float>;
template class KnownCostLoss<double>;

}  // namespace dfcl::loss
