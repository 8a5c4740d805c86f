// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/drm_loss.h"

#include <algorithm>
#include <cmath>

namespace dfcl::loss {
namespace {

constexpr double kLeastRevenue = 1e-6;
constexpr std::size_t kPerGroup = 3;
constexpr std::size_t kPerStep = 2 * kPerGroup;

// Weighted means of the two groups of a step, and the step's loss.
struct Step {
  double total[2];          // sum of w e^s: lower arm, upper arm
  double revenue[2];        // R_g
  double cost[2];           // C_g
  double ratio = 0.0;       // C / R
  double by_revenue = 0.0;  // d ratio / dR
  double by_cost = 0.0;     // d ratio / dC
};

// A step with an empty group has no loss and no gradient.
Step step_of(std::span<const double> totals) {
  Step step{};
  for (std::size_t group = 0; group < 2; ++group) {
    const double* const sums = totals.data() + group * kPerGroup;
    if (!(sums[0] > 0.0)) return step;
    step.total[group] = sums[0];
    step.revenue[group] = sums[1] / sums[0];
    step.cost[group] = sums[2] / sums[0];
  }
  const double revenue = step.revenue[1] - step.revenue[0];
  const double cost = step.cost[1] - step.cost[0];
  const bool is_safe = std::abs(revenue) >= kLeastRevenue;
  const double safe = is_safe ? revenue : std::copysign(kLeastRevenue, revenue);
  step.ratio = cost / safe;
  step.by_cost = 1.0 / safe;
  step.by_revenue = is_safe ? -cost / (safe * safe) : 0.0;
  return step;
}

}  // namespace

template <class T>
DrmLoss<T>::DrmLoss(std::size_t num_arms) : num_arms_(num_arms) {}

template <class T>
void DrmLoss<T>::add_totals(const Rows<T>& rows, std::span<double> totals) const {
  totals[0] += static_cast<double>(rows.num_rows());
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    const std::size_t arm = rows.arm[row];
    // The row is in the upper group of the step below its arm and in the lower group of the step above.
    for (std::size_t column = arm == 0 ? 0 : arm - 1; column <= arm && column + 1 < num_arms_; ++column) {
      const double score = std::tanh(static_cast<double>(rows.revenue(row, column)));
      const double mass = static_cast<double>(rows.weight[row]) * std::exp(score);
      double* const sums = totals.data() + 1 + column * kPerStep + (arm > column ? kPerGroup : 0);
      sums[0] += mass;
      sums[1] += mass * static_cast<double>(rows.observed_revenue[row]);
      sums[2] += mass * static_cast<double>(rows.observed_cost[row]);
    }
  }
}

template <class T>
double DrmLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                                Gradient<T> gradient) const {
  const std::size_t num_steps = num_arms_ - 1;
  const double per_step = 1.0 / static_cast<double>(num_steps);
  const double factor = scale * totals[0] * per_step;  // totals[0] = N: see the header
  double ratios = 0.0;
  for (std::size_t column = 0; column < num_steps; ++column) {
    const Step step = step_of(totals.subspan(1 + column * kPerStep, kPerStep));
    ratios += step.ratio;
    if (step.by_cost == 0.0) continue;
    for (std::size_t row = 0; row < rows.num_rows(); ++row) {
      const std::size_t arm = rows.arm[row];
      if (arm != column && arm != column + 1) continue;
      const std::size_t group = arm - column;
      const double score = std::tanh(static_cast<double>(rows.revenue(row, column)));
      const double share = static_cast<double>(rows.weight[row]) * std::exp(score) / step.total[group];
      const double cost = static_cast<double>(rows.observed_cost[row]) - step.cost[group];
      const double revenue = static_cast<double>(rows.observed_revenue[row]) - step.revenue[group];
      const double slope = share * (step.by_cost * cost + step.by_revenue * revenue) * (1.0 - score * score);
      gradient.revenue(row, column) += static_cast<T>(factor * (group == 1 ? slope : -slope));
    }
  }
  return static_cast<double>(rows.num_rows()) * per_step * ratios;
}

template class DrmLoss<float>;
template class DrmLoss<double>;

}  // namespace dfcl::loss
