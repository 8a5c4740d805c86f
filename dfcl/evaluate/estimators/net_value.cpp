// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/net_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunk = 16'384;

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

// phi_ij = m_ij + 1[t_i = j] w_i (y_i - m_ij) (eq. 5b), times the sample weight.
double reward(const RewardUnits& units, std::size_t unit, std::size_t arm, double multiplier) {
  const double nuisance = static_cast<double>(units.nuisance_revenue(unit, arm)) -
                          multiplier * static_cast<double>(units.nuisance_cost(unit, arm));
  if (units.arm[unit] != arm) return units.sample_weight(unit) * nuisance;
  const double outcome = static_cast<double>(units.revenue[unit]) - multiplier * static_cast<double>(units.cost[unit]);
  return units.sample_weight(unit) * nuisance + static_cast<double>(units.weight[unit]) * (outcome - nuisance);
}

template <class OfUnit>
ValueSums sums_of_units(const RewardUnits& units, OfUnit&& of_unit, core::RunContext& context) {
  return core::sum_chunks(
      context, units.size(), kChunk, ValueSums{},
      [&](std::size_t begin, std::size_t end) {
        ValueSums part;
        for (std::size_t unit = begin; unit < end; ++unit) part.add_group(of_unit(unit), units.sample_weight(unit));
        return part;
      },
      [](ValueSums& all, const ValueSums& part) { all.add(part); });
}

template <class OfUnit>
ValueSums sums_of_clusters(const RewardUnits& units, OfUnit&& of_unit, core::RunContext& context) {
  struct Value {
    std::uint32_t cluster, unit;
    double value;
  };
  std::vector<Value> values(units.size());
  core::for_each_chunk(context, values.size(), kChunk, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit)
      values[unit] = {units.cluster[unit], static_cast<std::uint32_t>(unit), of_unit(unit)};
  });
  std::stable_sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return a.cluster < b.cluster; });
  ValueSums sums;
  for (std::size_t begin = 0; begin < values.size();) {
    double sum = 0.0;
    double size = 0.0;
    std::size_t end = begin;
    for (; end < values.size() && values[end].cluster == values[begin].cluster; ++end) {
      sum += values[end].value;
      size += units.sample_weight(values[end].unit);
    }
    sums.add_group(sum, size);
    begin = end;
  }
  return sums;
}

template <class OfUnit>
ValueSums sums_of(const RewardUnits& units, OfUnit&& of_unit, core::RunContext& context) {
  return units.cluster.empty() ? sums_of_units(units, of_unit, context) : sums_of_clusters(units, of_unit, context);
}

}  // namespace

void ValueSums::add_group(double value, double num_units) {
  units += num_units;
  groups += 1.0;
  sum += value;
  squares += value * value;
  cross += value * num_units;
  sizes += num_units * num_units;
}

void ValueSums::add(const ValueSums& other) {
  units += other.units;
  groups += other.groups;
  sum += other.sum;
  squares += other.squares;
  cross += other.cross;
  sizes += other.sizes;
}

Estimate ValueSums::mean() const {
  if (units == 0.0) return {};
  const double mean = sum / units;
  if (groups < 2.0) return {mean, std::numeric_limits<double>::infinity()};
  // Deviations of a group's units add up before they are squared: the sum of (S - mean n)^2.
  const double deviations = std::max(0.0, squares - 2.0 * mean * cross + mean * mean * sizes);
  return {mean, std::sqrt(deviations * groups / (groups - 1.0)) / units};
}

ValueSums net_value(const RewardUnits& units, const Scores& scores, std::span<const double> multipliers,
                    core::RunContext& context) {
  const auto share = 1.0 / static_cast<double>(multipliers.size());
  return sums_of(
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

ValueSums net_value_difference(const RewardUnits& units, const Scores& a, const Scores& b,
                               std::span<const double> multipliers, core::RunContext& context) {
  const auto share = 1.0 / static_cast<double>(multipliers.size());
  return sums_of(
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
