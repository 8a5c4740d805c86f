// SPDX-License-Identifier: Apache-2.0
//
// DRM, direct ranking: learns only the order in which units deserve the budget, by the cost per revenue of the units it
// ranks high. A published competitor. Needs totals over the whole batch before any gradient, so it takes two rounds
// over the tiles, and small batches bias it. Cost: an exponential and a hyperbolic tangent for each row, score and
// round.
//
// Rows::revenue holds the raw score f of each step j -> j+1 between neighbouring arms, rows x (arms - 1); one column
// for a binary trial. s = tanh f. Inside a group g of rows (those of arm j, those of arm j+1) p_i = w_i e^{s_i} / sum_g
// w e^s, a softmax of s; |s| <= 1, so nothing overflows. R = sum_{arm j+1} p r - sum_{arm j} p r, C the same of costs;
// loss = C / R, averaged over the steps (eq. 12).
//   d loss / df_i = (+-) p_i [ (c_i - C_g) / R - (C / R^2)(r_i - R_g) ] (1 - s_i^2),  + for arm j+1, - for arm j
// with C_g, R_g the group's own weighted means.
// The loss of a batch is one number; each of its N rows is given that number, so that the mean over rows is the loss.
// Weak points, by construction: where R passes zero the loss jumps between signs (|R| counts as at least 1e-6, without
// a gradient through it there), and a score is a rank, not an efficiency.
#pragma once

#include "dfcl/loss/loss.h"

namespace dfcl::loss {

template <class T>
class DrmLoss final : public Loss<T> {
 public:
  explicit DrmLoss(std::size_t num_arms);
  // The rows, then for each step and its lower and upper group: sums of w e^s, of w e^s r, of w e^s c.
  std::size_t num_totals() const override { return 1 + 6 * (num_arms_ - 1); }
  void add_totals(const Rows<T>& rows, std::span<double> totals) const override;
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;

 private:
  std::size_t num_arms_;
};

extern template class DrmLoss<float>;
extern template class DrmLoss<double>;

}  // namespace dfcl::loss
