// SPDX-License-Identifier: Apache-2.0
//
// DRP, direct efficiency of a binary trial: learns the incremental revenue per incremental cost of each unit without
// predicting either. A published competitor; cheap and convex in the score, but for two arms and ratios within (0, 1)
// only. Cost: an exponential and a logarithm a row.
//
// Rows::revenue holds the raw score s, one column. With D = mean over treated - mean over control,
// loss = -D[ r s - c softplus(s) ] (eq. 13). With w = 1 / probability of the arm received, a row's part of D is
// +w times its term for arm 1 and -w for arm 0:
//   d loss / ds = -(+-w) (r - c sigmoid(s)),  least where sigmoid(s) = incremental revenue / incremental cost.
// Costs are multiplied by cost_scale so that ratios come to lie within (0, 1); efficiency.h undoes it.
#pragma once

#include "dfcl/loss/loss.h"

namespace dfcl::loss {

template <class T>
class DrpLoss final : public Loss<T> {
 public:
  explicit DrpLoss(double cost_scale) : cost_scale_(cost_scale) {}
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;

 private:
  double cost_scale_;
};

extern template class DrpLoss<float>;
extern template class DrpLoss<double>;

}  // namespace dfcl::loss
