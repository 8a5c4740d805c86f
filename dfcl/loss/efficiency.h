// SPDX-License-Identifier: Apache-2.0
//
// From the scores of DRM, DRP and DPM to efficiencies (revenue per cost of a step j -> j+1 between neighbouring arms),
// and from efficiencies and predicted costs to a prediction that any allocator takes. Such a prediction is an index: it
// ranks and allocates, its levels mean nothing. A few operations a number.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace dfcl::loss {

inline double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// DRM knows ranks only: the weight that its softmax gives, so that efficiencies are positive and in the order of the
// scores.
inline double drm_efficiency(double score) { return std::exp(std::tanh(score)); }
// cost_scale is what the loss multiplied costs by; efficiencies come out per unit of cost before that.
inline double drp_efficiency(double score, double cost_scale) { return cost_scale * logistic(score); }
inline double dpm_efficiency(double score, double cost_scale) { return 2.0 * cost_scale * logistic(score); }

// What a loss takes for predicted revenue: revenue, or the scores of a method that learns efficiencies, one for each
// step between neighbouring arms.
enum class RevenueForm : std::uint8_t { outcome, drm_scores, drp_scores, dpm_scores };

inline double efficiency_of(RevenueForm form, double score, double cost_scale) {
  switch (form) {
    case RevenueForm::drm_scores: return drm_efficiency(score);
    case RevenueForm::drp_scores: return drp_efficiency(score, cost_scale);
    case RevenueForm::dpm_scores: return dpm_efficiency(score, cost_scale);
    case RevenueForm::outcome: break;
  }
  return score;
}

// revenue_0 = 0 and revenue_{j+1} = revenue_j + e_j (cost_{j+1} - cost_j), for one unit. cost and revenue have one
// number for each arm, efficiency one fewer.
template <class T>
void set_revenue_from_efficiencies(std::span<const T> efficiency, std::span<const T> cost, std::span<T> revenue) {
  double level = 0.0;
  revenue[0] = T(0);
  for (std::size_t step = 0; step < efficiency.size(); ++step) {
    level +=
        static_cast<double>(efficiency[step]) * (static_cast<double>(cost[step + 1]) - static_cast<double>(cost[step]));
    revenue[step + 1] = static_cast<T>(level);
  }
}

}  // namespace dfcl::loss
