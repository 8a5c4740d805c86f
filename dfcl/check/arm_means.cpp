// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/arm_means.h"

#include <array>
#include <cmath>
#include <limits>

#include "dfcl/core/distributions.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::check {
namespace {

double cost_factor(const data::Trial& trial, std::size_t arm) {
  return trial.cost_facts.is_known() ? trial.cost_facts.per_arm[arm] : 1.0;
}

std::vector<ArmTotals> totals_of(const data::Trial& trial, const RowGroups& order, core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  return core::sum_chunks(
      context, trial.num_units(), chunk_size_of(trial.num_units()), std::vector<ArmTotals>(num_arms),
      [&](std::size_t begin, std::size_t end) {
        std::vector<ArmTotals> part(num_arms);
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t row = order.place(i);
          ArmTotals& arm = part[trial.arm[row]];
          const double weight = data::row_weight(trial, row);
          ++arm.units;
          arm.with_revenue += trial.revenue[row] != 0.0f ? 1 : 0;
          arm.weight += weight;
          arm.outcome[0] += weight * static_cast<double>(trial.revenue[row]);
          arm.outcome[1] += weight * estimated_cost(trial, row);
        }
        return part;
      },
      [](std::vector<ArmTotals>& total, const std::vector<ArmTotals>& part) {
        for (std::size_t arm = 0; arm < total.size(); ++arm) {
          total[arm].units += part[arm].units;
          total[arm].with_revenue += part[arm].with_revenue;
          total[arm].weight += part[arm].weight;
          for (std::size_t k = 0; k < kOutcomes; ++k) total[arm].outcome[k] += part[arm].outcome[k];
        }
      });
}

// Adds the groups [begin, end) to the spreads of the arms.
std::vector<ArmSpread> spread_of_chunk(const data::Trial& trial, const RowGroups& groups,
                                       const std::vector<ArmTotals>& totals, std::size_t begin, std::size_t end) {
  const std::size_t num_arms = trial.arms.size();
  std::vector<ArmSpread> spreads(num_arms);
  std::vector<std::array<double, kOutcomes>> parts(num_arms);
  std::vector<bool> seen(num_arms);
  for (std::size_t group = begin; group < end; ++group) {
    std::fill(parts.begin(), parts.end(), std::array<double, kOutcomes>{});
    std::fill(seen.begin(), seen.end(), false);
    for (std::size_t i = 0; i < groups.size_of(group); ++i) {
      const std::size_t row = groups.row(group, i);
      const std::size_t arm = trial.arm[row];
      const double weight = data::row_weight(trial, row) / totals[arm].weight;
      seen[arm] = true;
      parts[arm][0] += weight * (static_cast<double>(trial.revenue[row]) - totals[arm].outcome[0] / totals[arm].weight);
      parts[arm][1] += weight * (estimated_cost(trial, row) - totals[arm].outcome[1] / totals[arm].weight);
    }
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (!seen[arm]) continue;
      ++spreads[arm].groups;
      for (std::size_t k = 0; k < kOutcomes; ++k) {
        spreads[arm].square[k] += parts[arm][k] * parts[arm][k];
        spreads[arm].product[k] += parts[arm][k] * parts[trial.arms.control][k];
      }
    }
  }
  return spreads;
}

std::vector<ArmSpread> spreads_of(const data::Trial& trial, const RowGroups& groups,
                                  const std::vector<ArmTotals>& totals, core::RunContext& context) {
  return core::sum_chunks(
      context, groups.size(), chunk_size_of(groups.size()), std::vector<ArmSpread>(totals.size()),
      [&](std::size_t begin, std::size_t end) { return spread_of_chunk(trial, groups, totals, begin, end); },
      [](std::vector<ArmSpread>& total, const std::vector<ArmSpread>& part) {
        for (std::size_t arm = 0; arm < total.size(); ++arm) {
          total[arm].groups += part[arm].groups;
          for (std::size_t k = 0; k < kOutcomes; ++k) {
            total[arm].square[k] += part[arm].square[k];
            total[arm].product[k] += part[arm].product[k];
          }
        }
      });
}

// The variance of an arm's mean; NaN with fewer than two groups.
double variance_of(const ArmSpread& spread, std::size_t k) {
  if (spread.groups < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(spread.groups);
  return spread.square[k] * count / (count - 1.0);
}

Interval interval_of(double value, double variance, double degrees) {
  if (!std::isfinite(variance) || !(degrees >= 1.0)) return {value};
  return core::t_interval(value, std::sqrt(variance), degrees, 0.95);
}

Difference difference_of(double value, const ArmSpread& arm, const ArmSpread& control, std::size_t k) {
  const double v1 = variance_of(arm, k);
  const double v0 = variance_of(control, k);
  const double variance = std::max(0.0, v1 + v0 - 2.0 * arm.product[k]);
  if (!std::isfinite(v1 + v0)) return {interval_of(value, v1 + v0, 0.0), 1.0};
  if (variance == 0.0) return {{value, value, value}, value == 0.0 ? 1.0 : 0.0};
  // Welch and Satterthwaite.
  const double degrees = std::max(
      1.0, (v1 + v0) * (v1 + v0) /
               (v1 * v1 / static_cast<double>(arm.groups - 1) + v0 * v0 / static_cast<double>(control.groups - 1)));
  return {interval_of(value, variance, degrees), core::f_upper(value * value / variance, 1.0, degrees)};
}

}  // namespace

double estimated_cost(const data::Trial& trial, std::size_t row) {
  const auto cost = static_cast<double>(trial.cost[row]);
  switch (trial.cost_facts.kind) {
    case data::CostKind::price: return 1.0;
    case data::CostKind::rate: return static_cast<double>(trial.revenue[row]);
    case data::CostKind::price_if: return trial.cost_facts.is_paid(trial.arm[row], cost) ? 1.0 : 0.0;
    case data::CostKind::observed: break;
  }
  return cost;
}

std::vector<ArmSummary> arm_means(const data::Trial& trial, const RowGroups& groups, core::RunContext& context) {
  const std::vector<ArmTotals> totals = totals_of(trial, groups, context);
  return arm_summaries(trial, totals, spreads_of(trial, groups, totals, context));
}

std::vector<ArmSummary> arm_summaries(const data::Trial& trial, std::vector<ArmTotals> totals,
                                      std::vector<ArmSpread> spreads) {
  std::size_t num_units = 0;
  for (const ArmTotals& arm : totals) num_units += arm.units;
  const std::size_t control = trial.arms.control;
  for (std::size_t arm = 0; arm < totals.size(); ++arm) {
    const double factor = cost_factor(trial, arm);
    totals[arm].outcome[1] *= factor;
    spreads[arm].square[1] *= factor * factor;
    spreads[arm].product[1] *= factor * cost_factor(trial, control);
  }
  const auto mean = [&](std::size_t arm, std::size_t k) { return totals[arm].outcome[k] / totals[arm].weight; };
  const bool is_price = trial.cost_facts.kind == data::CostKind::price;  // a fact has no interval
  std::vector<ArmSummary> summaries(totals.size());
  for (std::size_t arm = 0; arm < totals.size(); ++arm) {
    ArmSummary& summary = summaries[arm];
    summary.label = trial.arms.labels[arm];
    summary.num_units = totals[arm].units;
    summary.num_with_revenue = totals[arm].with_revenue;
    summary.num_clusters = trial.has_clusters() ? spreads[arm].groups : 0;
    summary.share = static_cast<double>(totals[arm].units) / static_cast<double>(num_units);
    const double degrees = static_cast<double>(spreads[arm].groups) - 1.0;
    summary.revenue = interval_of(mean(arm, 0), variance_of(spreads[arm], 0), degrees);
    summary.cost = interval_of(mean(arm, 1), variance_of(spreads[arm], 1), degrees);
    if (is_price) summary.cost = {trial.cost_facts.per_arm[arm]};
    if (arm == control) continue;
    summary.revenue_difference = difference_of(mean(arm, 0) - mean(control, 0), spreads[arm], spreads[control], 0);
    summary.cost_difference = difference_of(mean(arm, 1) - mean(control, 1), spreads[arm], spreads[control], 1);
    if (is_price) {
      const double difference = trial.cost_facts.per_arm[arm] - trial.cost_facts.per_arm[control];
      summary.cost_difference = {{difference}, difference == 0.0 ? 1.0 : 0.0};
    }
  }
  return summaries;
}

}  // namespace dfcl::check
