// SPDX-License-Identifier: Apache-2.0
//
// FD, plain finite differences: every prediction is moved by a step, one at a time, and the whole decision is made
// again. Slow by design, 2 x rows x arms + 1 values of the plan: it is what IFD is measured against and an oracle, not
// a way to train, and it refuses more than kMostFdRows rows. Mostly zero, because a single step seldom changes a plan
// (eq. 11). Memory: a copy of the predictions.
#pragma once

#include <functional>

#include "dfcl/loss/loss.h"

namespace dfcl::loss {

inline constexpr std::size_t kMostFdRows = 4096;

// The worth of the plan that these predictions lead to, summed over the rows. This room sees no solver, so the caller
// brings it: solve under the budget with the predictions in `rows`, add up the rewards of the arms chosen.
template <class T>
using PlanValue = std::function<double(const Rows<T>& rows)>;

struct FdOptions {
  double step = 0.1;             // of a prediction, scaled units
  bool gradient_to_cost = true;  // false: differences by revenue only, half the work
};

// The loss is -value; d loss / d x = -(value(x + step) - value(x)) / step for each entry x of the predictions. The rows
// of a call are taken as the whole problem, so give it a batch at once.
template <class T>
class FdLoss final : public Loss<T> {
 public:
  FdLoss(const FdOptions& options, PlanValue<T> value);
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;

 private:
  FdOptions options_;
  PlanValue<T> value_;
};

extern template class FdLoss<float>;
extern template class FdLoss<double>;

// With the multiplier fixed each unit decides alone: the brute-force difference quotient (V(a + step e_arm) - V(a)) /
// step of V = reward of the arg-max of the scores, for one unit and arm. At a step just beyond the one that flips the
// decision (upwards for an arm that loses, downwards for the winner) it is the entry of eq. 8.
double fd_score_slope(std::span<const double> score, std::span<const double> reward, std::size_t arm, double step);

}  // namespace dfcl::loss
