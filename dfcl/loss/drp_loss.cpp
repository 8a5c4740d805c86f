// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/drp_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/loss/efficiency.h"

namespace dfcl::loss {

template <class T>
double DrpLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale,
                                Gradient<T> gradient) const {
  if (rows.num_arms() != 2) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "method drp is for two arms",
                       .found = fmt::format("{} arms", rows.num_arms()),
                       .expected = "2",
                       .hint = "use dpm for ordered arms"});
  }
  double sum = 0.0;
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const double s = static_cast<double>(rows.revenue(row, 0));
    const double r = static_cast<double>(rows.observed_revenue[row]);
    const double c = cost_scale_ * static_cast<double>(rows.observed_cost[row]);
    const double weight = static_cast<double>(rows.weight[row]);
    const double part = rows.arm[row] == 1 ? weight : -weight;
    const double softplus = std::max(s, 0.0) + std::log1p(std::exp(-std::abs(s)));
    sum -= part * (r * s - c * softplus);
    gradient.revenue(row, 0) -= static_cast<T>(scale * part * (r - c * logistic(s)));
  }
  return sum;
}

template class DrpLoss<float>;
template class DrpLoss<double>;

}  // namespace dfcl::loss
