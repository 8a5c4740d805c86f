// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/dpm_loss.h"

#include "dfcl/loss/efficiency.h"

namespace dfcl::loss {

template <class T>
double DpmLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale,
                                Gradient<T> gradient) const {
  const std::size_t num_steps = rows.num_arms() - 1;
  double sum = 0.0;
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const std::size_t arm = rows.arm[row];
    const double r = static_cast<double>(rows.observed_revenue[row]);
    const double c = cost_scale_ * static_cast<double>(rows.observed_cost[row]);
    const double weight = static_cast<double>(rows.weight[row]);
    // The step below the arm counts, the step above it counts against.
    for (std::size_t step = arm == 0 ? 0 : arm - 1; step <= arm && step < num_steps; ++step) {
      const double part = step < arm ? weight : -weight;
      const double q = logistic(static_cast<double>(rows.revenue(row, step)));
      sum += part * (c * q * q - r * q);
      gradient.revenue(row, step) += static_cast<T>(scale * part * (2.0 * c * q - r) * q * (1.0 - q));
    }
  }
  return sum;
}

template class DpmLoss<float>;
template class DpmLoss<double>;

}  // namespace dfcl::loss
