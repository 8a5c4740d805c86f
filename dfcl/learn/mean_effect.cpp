// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/mean_effect.h"

#include <algorithm>
#include <cmath>

namespace dfcl::learn {
namespace {

void mix(const MeanEffect::Outcome& mean, double weight, std::size_t control, core::MatrixView<float> out) {
  if (mean.effect.empty() || weight == 0.0) return;
  for (std::size_t row = 0; row < out.rows; ++row) {
    const auto base = static_cast<double>(out(row, control));
    for (std::size_t arm = 0; arm < out.cols; ++arm) {
      if (arm == control) continue;
      const double effect = static_cast<double>(out(row, arm)) - base;
      out(row, arm) = static_cast<float>(mean.form.bounded(base + (1.0 - weight) * effect + weight * mean.effect[arm]));
    }
  }
}

void shrink(const MeanEffect::Outcome& mean, double weight, core::MatrixView<float> errors) {
  if (mean.effect.empty()) return;
  for (std::size_t i = 0; i < errors.size(); ++i)
    errors.data[i] = static_cast<float>((1.0 - weight) * static_cast<double>(errors.data[i]));
}

}  // namespace

bool is_per_arm(const std::vector<double>& numbers, std::size_t num_arms) {
  constexpr double kMost = 1e30;  // what no training comes near, and what leaves predictions finite
  return (numbers.empty() || numbers.size() == num_arms) &&
         std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::abs(number) <= kMost; });
}

bool is_sound(const MeanEffect& mean, std::size_t num_arms) {
  return mean.weight >= 0.0 && mean.weight <= 1.0 && is_per_arm(mean.revenue.effect, num_arms) &&
         is_per_arm(mean.cost.effect, num_arms);
}

double OutcomeForm::bounded(double value) const {
  if (kind == loss::OutcomeKind::binary) return std::clamp(value, 0.0, 1.0);
  return kind == loss::OutcomeKind::non_negative || non_negative ? std::max(0.0, value) : value;
}

OutcomeForm outcome_form(const OutcomeFacts& facts) { return {facts.kind, facts.non_negative}; }

void mix_mean_effect(const MeanEffect& mean, std::size_t control, Outcomes out) {
  mix(mean.revenue, mean.weight, control, out.revenue);
  mix(mean.cost, mean.weight, control, out.cost);
}

void mix_mean_effect_errors(const MeanEffect& mean, Outcomes errors) {
  shrink(mean.revenue, mean.weight, errors.revenue);
  shrink(mean.cost, mean.weight, errors.cost);
}

}  // namespace dfcl::learn
