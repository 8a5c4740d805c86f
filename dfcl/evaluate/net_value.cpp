// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/net_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunk = 16'384;

struct Moments {
  double sum = 0.0;
  double squares = 0.0;
};

std::size_t best_arm(const Scores& scores, std::size_t unit, double multiplier) {
  std::size_t best = 0;
  double most = 0.0;
  for (std::size_t arm = 0; arm < scores.revenue.cols; ++arm) {
    const double score =
        static_cast<double>(scores.revenue(unit, arm)) - multiplier * static_cast<double>(scores.cost(unit, arm));
    if (arm == 0 || score > most) {
      most = score;
      best = arm;
    }
  }
  return best;
}

// phi_ij = m_ij + 1[t_i = j] w_i (y_i - m_ij) (eq. 5b).
double reward(const RewardUnits& units, std::size_t unit, std::size_t arm, double multiplier) {
  const double nuisance = static_cast<double>(units.nuisance_revenue(unit, arm)) -
                          multiplier * static_cast<double>(units.nuisance_cost(unit, arm));
  if (units.arm[unit] != arm) return nuisance;
  const double outcome = static_cast<double>(units.revenue[unit]) - multiplier * static_cast<double>(units.cost[unit]);
  return nuisance + static_cast<double>(units.weight[unit]) * (outcome - nuisance);
}

template <class OfUnit>
Estimate estimate(std::size_t num_units, OfUnit&& of_unit, core::RunContext& context) {
  if (num_units == 0) return {};
  const Moments total = core::sum_chunks(
      context, num_units, kChunk, Moments{},
      [&](std::size_t begin, std::size_t end) {
        Moments part;
        for (std::size_t unit = begin; unit < end; ++unit) {
          const double value = of_unit(unit);
          part.sum += value;
          part.squares += value * value;
        }
        return part;
      },
      [](Moments& all, const Moments& part) {
        all.sum += part.sum;
        all.squares += part.squares;
      });
  const auto count = static_cast<double>(num_units);
  const double mean = total.sum / count;
  const double variance = std::max(0.0, total.squares / count - mean * mean);
  return {mean, std::sqrt(variance / count)};
}

// Deviations of a cluster's units add up before they are squared.
template <class OfUnit>
Estimate estimate_by_cluster(std::span<const std::uint32_t> cluster, OfUnit&& of_unit, core::RunContext& context) {
  std::vector<std::pair<std::uint32_t, double>> values(cluster.size());
  core::for_each_chunk(context, values.size(), kChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) values[unit] = {cluster[unit], of_unit(unit)};
  });
  double mean = 0.0;
  for (const auto& [_, value] : values) mean += value / static_cast<double>(values.size());
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  double squares = 0.0;
  for (std::size_t begin = 0; begin < values.size();) {
    double sum = 0.0;
    std::size_t end = begin;
    for (; end < values.size() && values[end].first == values[begin].first; ++end) sum += values[end].second - mean;
    squares += sum * sum;
    begin = end;
  }
  return {mean, std::sqrt(squares) / static_cast<double>(values.size())};
}

template <class OfUnit>
Estimate estimate_of(const RewardUnits& units, OfUnit&& of_unit, core::RunContext& context) {
  return units.cluster.empty() ? estimate(units.size(), of_unit, context)
                               : estimate_by_cluster(units.cluster, of_unit, context);
}

}  // namespace

Estimate net_value(const RewardUnits& units, const Scores& scores, std::span<const double> multipliers,
                   core::RunContext& context) {
  const auto share = 1.0 / static_cast<double>(multipliers.size());
  return estimate_of(
      units,
      [&](std::size_t unit) {
        double value = 0.0;
        for (const double multiplier : multipliers) {
          value += reward(units, unit, best_arm(scores, unit, multiplier), multiplier);
        }
        return value * share;
      },
      context);
}

Estimate net_value_difference(const RewardUnits& units, const Scores& a, const Scores& b,
                              std::span<const double> multipliers, core::RunContext& context) {
  const auto share = 1.0 / static_cast<double>(multipliers.size());
  return estimate_of(
      units,
      [&](std::size_t unit) {
        double difference = 0.0;
        for (const double multiplier : multipliers) {
          const std::size_t arm_a = best_arm(a, unit, multiplier);
          const std::size_t arm_b = best_arm(b, unit, multiplier);
          if (arm_a == arm_b) continue;
          difference += reward(units, unit, arm_a, multiplier) - reward(units, unit, arm_b, multiplier);
        }
        return difference * share;
      },
      context);
}

}  // namespace dfcl::evaluate
