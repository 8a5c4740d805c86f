// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/influence.h"

#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/estimators/projection.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 16'384;

// Sums of a plan by chosen arm.
struct ChosenSums {
  double units = 0.0;
  double weight = 0.0;
  double revenue = 0.0;
  double cost = 0.0;
};

std::vector<ChosenSums> chosen_sums(const Rewards& rewards, std::span<const std::uint8_t> plan,
                                    core::RunContext& context) {
  const std::size_t num_arms = rewards.rows().num_arms();
  return core::sum_chunks(
      context, plan.size(), kChunkRows, std::vector<ChosenSums>(num_arms),
      [&](std::size_t begin, std::size_t end) {
        std::vector<ChosenSums> part(num_arms);
        for (std::size_t row = begin; row < end; ++row) {
          ChosenSums& sums = part[plan[row]];
          const Contribution contribution = rewards.of(row, plan[row]);
          sums.units += rewards.rows().sample_weight(row);
          sums.weight += contribution.weight;
          sums.revenue += contribution.revenue;
          sums.cost += contribution.cost;
        }
        return part;
      },
      [](std::vector<ChosenSums>& total, const std::vector<ChosenSums>& part) {
        for (std::size_t arm = 0; arm < part.size(); ++arm) {
          total[arm].units += part[arm].units;
          total[arm].weight += part[arm].weight;
          total[arm].revenue += part[arm].revenue;
          total[arm].cost += part[arm].cost;
        }
      });
}

// The influence of a row is its sample weight x offset + factor x (contribution - center x its weight), all by chosen
// arm.
struct Slope {
  double offset_revenue = 0.0;
  double offset_cost = 0.0;
  double factor = 1.0;
  double center_revenue = 0.0;
  double center_cost = 0.0;
};

// Means over all who received the arm, which stand in where nobody received it who should have it.
Slope stand_in(const Rewards& rewards, std::size_t arm) {
  const TrialRows& rows = rewards.rows();
  double weight = 0.0;
  double revenue = 0.0;
  double cost = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.arm[row] != arm) continue;
    weight += rows.total_weight(row);
    revenue += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
    cost += rows.total_weight(row) * rewards.observed_cost(row);
  }
  return {revenue / weight, cost / weight, 0.0, 0.0, 0.0};
}

std::vector<Slope> slopes_of(const Rewards& rewards, const std::vector<ChosenSums>& chosen) {
  std::vector<Slope> slopes(chosen.size());
  if (rewards.is_mean()) return slopes;
  const auto num_rows = static_cast<double>(rewards.rows().size());
  ChosenSums all;
  for (const ChosenSums& arm : chosen) {
    all.weight += arm.weight;
    all.revenue += arm.revenue;
    all.cost += arm.cost;
  }
  for (std::size_t arm = 0; arm < chosen.size(); ++arm) {
    const ChosenSums& sums = rewards.estimator() == Estimator::hajek ? all : chosen[arm];
    if (!(sums.weight > 0.0)) {
      if (chosen[arm].units > 0.0) slopes[arm] = stand_in(rewards, arm);
      continue;
    }
    slopes[arm].center_revenue = sums.revenue / sums.weight;
    slopes[arm].center_cost = sums.cost / sums.weight;
    slopes[arm].factor = num_rows / sums.weight;
    if (rewards.estimator() == Estimator::hajek) continue;
    slopes[arm].factor = chosen[arm].units / sums.weight;
    slopes[arm].offset_revenue = slopes[arm].center_revenue;
    slopes[arm].offset_cost = slopes[arm].center_cost;
  }
  return slopes;
}

}  // namespace

PlanEstimate estimate_of(const Rewards& rewards, std::span<const std::uint8_t> plan, core::RunContext& context) {
  const std::vector<ChosenSums> chosen = chosen_sums(rewards, plan, context);
  const auto num_rows = static_cast<double>(rewards.rows().size());
  PlanEstimate estimate;
  double weight = 0.0;
  for (std::size_t arm = 0; arm < chosen.size(); ++arm) {
    const ChosenSums& sums = chosen[arm];
    if (rewards.estimator() != Estimator::stratified) {
      estimate = {estimate.revenue + sums.revenue, estimate.cost + sums.cost};
      weight += sums.weight;
    } else if (sums.units > 0.0) {
      const Slope seen = sums.weight > 0.0 ? Slope{sums.revenue / sums.weight, sums.cost / sums.weight, 0.0, 0.0, 0.0}
                                           : stand_in(rewards, arm);
      const double share = sums.units / num_rows;
      estimate.revenue += share * seen.offset_revenue;
      estimate.cost += share * seen.offset_cost;
    }
  }
  if (rewards.estimator() == Estimator::stratified) return estimate;
  const double divisor = rewards.is_mean() ? num_rows : weight;
  return {estimate.revenue / divisor, estimate.cost / divisor};
}

PlanSeries influence_of(const Rewards& rewards, std::span<const std::uint8_t> plan, core::RunContext& context) {
  const TrialRows& rows = rewards.rows();
  const std::vector<Slope> slopes = slopes_of(rewards, chosen_sums(rewards, plan, context));
  PlanSeries by_row{Series(rows.size()), Series(rows.size())};
  core::for_each_chunk(context, rows.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const Slope& slope = slopes[plan[row]];
      const Contribution own = rewards.of(row, plan[row]);
      const double times = rows.sample_weight(row);
      by_row.revenue[row] =
          times * slope.offset_revenue + slope.factor * (own.revenue - slope.center_revenue * own.weight);
      by_row.cost[row] = times * slope.offset_cost + slope.factor * (own.cost - slope.center_cost * own.weight);
    }
  });
  // Centre by the arm received, whose size is held fixed; with propensities over all rows.
  std::vector<double> revenue(rows.num_arms()), cost(rows.num_arms()), units(rows.num_arms());
  const auto stratum = [&](std::size_t row) { return rows.has_propensity ? std::size_t{0} : rows.arm[row]; };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    revenue[stratum(row)] += by_row.revenue[row];
    cost[stratum(row)] += by_row.cost[row];
    units[stratum(row)] += rows.sample_weight(row);
  }
  PlanSeries series{Series(rows.num_groups()), Series(rows.num_groups())};
  const auto num_rows = static_cast<double>(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t s = stratum(row);
    const double times = rows.sample_weight(row);
    series.revenue[rows.group(row)] += (by_row.revenue[row] - times * (revenue[s] / units[s])) / num_rows;
    series.cost[rows.group(row)] += (by_row.cost[row] - times * (cost[s] / units[s])) / num_rows;
  }
  project_on_scores(rows, series, context);
  return series;
}

}  // namespace dfcl::evaluate
