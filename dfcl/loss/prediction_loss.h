// SPDX-License-Identifier: Apache-2.0
//
// The prediction loss: how far the predicted outcomes of the arm received lie from what was observed, weighted so that
// the trial stands for all arms. It is what two-stage learning minimises alone and what decision losses are added to.
// Cost: a few nanoseconds a row, no memory.
//
// A row's loss is (w / M) [ l_r(r, rh_t) + l_c(c, ch_t) ], with w = 1 / probability of the arm t received, so that its
// mean over rows equals, in expectation, the mean over all rows and arms. For each outcome its own l:
//   real          (r - rh)^2                              d/d rh = 2 (rh - r)             (eq. 4)
//   non_negative  rh - r log rh, the Poisson deviance     d/d rh = 1 - r / rh             (eq. 4b)
//   binary        -r log rh - (1 - r) log(1 - rh)         d/d rh = (rh - r) / (rh (1 - rh))
// Through the exponential and the logistic output the last two give w (rh - r) / M, without the divisions.
// The deviance is a quasi-likelihood: it asks for the right mean, not for Poisson counts. Squared error lets the
// largest units decide everything.
//
// Numerical safety: a non-negative outcome's prediction counts as at least 1e-7, a probability as within 1e-7 and
// 1 - 1e-7, in value and gradient alike; the gradient there is not zero, so a prediction that got lost can come back.
#pragma once

#include "dfcl/loss/loss.h"
#include "dfcl/loss/outcome_kind.h"
#include "dfcl/loss/prediction_measure.h"

namespace dfcl::loss {

struct PredictionOptions {
  OutcomeKind revenue = OutcomeKind::real;
  OutcomeKind cost = OutcomeKind::real;
  // false: losses of efficiencies, whose Rows::revenue holds scores, train only the cost head by eq. 4.
  bool use_revenue = true;
  bool use_cost = true;
};

template <class T>
class PredictionLoss final : public Loss<T> {
 public:
  explicit PredictionLoss(const PredictionOptions& options) : options_(options) {}
  const PredictionOptions& options() const { return options_; }
  double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                      Gradient<T> gradient) const override;
  // Of the loss by the prediction itself, not through a link: 2, r / rh^2 and r / rh^2 + (1 - r) / (1 - rh)^2, times
  // w / M.
  bool add_curvature(const Rows<T>& rows, double scale, Gradient<T> curvature) const override;

 private:
  PredictionOptions options_;
};

extern template class PredictionLoss<float>;
extern template class PredictionLoss<double>;

}  // namespace dfcl::loss
