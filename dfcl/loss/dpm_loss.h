// SPDX-License-Identifier: Apache-2.0
//
// DPM, marginal efficiencies of ordered arms: learns for each step between neighbouring arms what one more unit of cost
// earns, and raises a unit's level while that is above the multiplier. A published competitor; right only where the
// ratios of a unit fall with the level. Cost: two exponentials a row.
//
// Rows::revenue holds the raw score f_j of each step j -> j+1, rows x (arms - 1); q_j = sigmoid(f_j). With t the arm
// received and K the last arm (eq. 14),
//   loss = w [ c (q_{t-1}^2 1[t > 0] - q_t^2 1[t < K]) - r (q_{t-1} 1[t > 0] - q_t 1[t < K]) ]
//   d loss / df_{t-1} = w (2 c q - r) q (1 - q),  d loss / df_t = minus the same with q_t.
// In expectation it is the sum over steps of q_j^2 dc_j - q_j dr_j, least at q_j = dr_j / (2 dc_j): half the ratio,
// hence ratios must lie within (0, 2). Costs are multiplied by cost_scale to bring them there; efficiency.h undoes it.
#pragma once

#include "dfcl/loss/loss.h"

namespace dfcl::loss {

template <class T>
class DpmLoss final : public Loss<T> {
 public:
  explicit DpmLoss(double cost_scale) : cost_scale_(cost_scale) {}
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;

 private:
  double cost_scale_;
};

extern template class DpmLoss<float>;
extern template class DpmLoss<double>;

}  // namespace dfcl::loss
