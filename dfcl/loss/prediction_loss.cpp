// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/prediction_loss.h"

#include <algorithm>

namespace dfcl::loss {
namespace {

template <class T>
T curvature_at(OutcomeKind kind, T observed, T predicted) {
  if (kind == OutcomeKind::real) return T(2);
  if (kind == OutcomeKind::non_negative) {
    const T safe = std::max(predicted, T(kLeastPrediction));
    return observed / (safe * safe);
  }
  const T safe = std::clamp(predicted, T(kLeastPrediction), T(1) - T(kLeastPrediction));
  return observed / (safe * safe) + (T(1) - observed) / ((T(1) - safe) * (T(1) - safe));
}

// One outcome of a tile; predicted and gradient are rows x arms.
template <class Measure, class T>
double add_outcome(const Rows<T>& rows, core::MatrixView<const T> predicted, std::span<const float> observed, T scale,
                   core::MatrixView<T> gradient) {
  double sum = 0.0;
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const std::size_t arm = rows.arm[row];
    const Point<T> point = Measure::at(static_cast<T>(observed[row]), predicted(row, arm));
    const T weight = static_cast<T>(rows.weight[row]);
    gradient(row, arm) += scale * weight * point.slope;
    sum += static_cast<double>(weight * point.value);
  }
  return sum;
}

template <class T>
double add_outcome(OutcomeKind kind, const Rows<T>& rows, core::MatrixView<const T> predicted,
                   std::span<const float> observed, T scale, core::MatrixView<T> gradient) {
  switch (kind) {
    case OutcomeKind::real: return add_outcome<SquaredError<T>>(rows, predicted, observed, scale, gradient);
    case OutcomeKind::non_negative: return add_outcome<PoissonDeviance<T>>(rows, predicted, observed, scale, gradient);
    case OutcomeKind::binary: return add_outcome<CrossEntropy<T>>(rows, predicted, observed, scale, gradient);
  }
  return 0.0;  // no other kind
}

}  // namespace

template <class T>
double PredictionLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale,
                                       Gradient<T> gradient) const {
  const double per_arm = 1.0 / static_cast<double>(rows.num_arms());
  const T factor = static_cast<T>(scale * per_arm);
  double sum = 0.0;
  if (options_.use_revenue) {
    sum += add_outcome(options_.revenue, rows, rows.revenue, rows.observed_revenue, factor, gradient.revenue);
  }
  if (options_.use_cost) {
    sum += add_outcome(options_.cost, rows, rows.cost, rows.observed_cost, factor, gradient.cost);
  }
  return per_arm * sum;
}

template <class T>
bool PredictionLoss<T>::add_curvature(const Rows<T>& rows, double scale, Gradient<T> curvature) const {
  const T factor = static_cast<T>(scale / static_cast<double>(rows.num_arms()));
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const std::size_t arm = rows.arm[row];
    const T weight = factor * static_cast<T>(rows.weight[row]);
    if (options_.use_revenue) {
      curvature.revenue(row, arm) +=
          weight * curvature_at(options_.revenue, static_cast<T>(rows.observed_revenue[row]), rows.revenue(row, arm));
    }
    if (options_.use_cost) {
      curvature.cost(row, arm) +=
          weight * curvature_at(options_.cost, static_cast<T>(rows.observed_cost[row]), rows.cost(row, arm));
    }
  }
  return true;
}

template class PredictionLoss<float>;
template class PredictionLoss<double>;

}  // namespace dfcl::loss
