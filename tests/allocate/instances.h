// SPDX-License-Identifier: Apache-2.0
//
// Random problems, and answers to them from code that shares nothing with the solver: all plans are tried.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/random.h"

namespace dfcl::allocate {

// A problem that owns its matrices.
struct Instance {
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  core::Matrix<std::uint8_t> eligible;  // empty: all
  core::Matrix<float> second;           // empty: none
  std::vector<std::uint32_t> segment;
  Problem options;  // everything but the matrices

  Instance() = default;
  Instance(std::size_t units, std::size_t arms) : revenue(units, arms), cost(units, arms) {}

  Problem problem() const {
    Problem result = options;
    result.revenue = revenue.view();
    result.cost = cost.view();
    if (eligible.rows() > 0) result.eligible = eligible.view();
    if (second.rows() > 0) result.second.cost = second.view();
    result.segments.of_unit = segment;
    return result;
  }
};

// Small whole or half numbers, so that ties, equal arms, zero and negative costs are common.
inline Instance small_instance(core::RandomStream& stream) {
  const std::size_t units = 2 + stream.below(5);
  const std::size_t arms = 1 + stream.below(5);
  Instance instance(units, arms);
  const bool negative_costs = stream.bernoulli(0.3);
  const bool free_control = stream.bernoulli(0.5);
  const bool halves = stream.bernoulli(0.3);
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t arm = 0; arm < arms; ++arm) {
      const float scale = halves ? 0.5f : 1.0f;
      instance.revenue(unit, arm) = scale * (static_cast<float>(stream.below(14)) - 3.0f);
      instance.cost(unit, arm) = scale * (static_cast<float>(stream.below(8)) - (negative_costs ? 3.0f : 0.0f));
      if (free_control && arm == 0) instance.cost(unit, arm) = 0.0f;
    }
    if (unit > 0 && stream.bernoulli(0.25)) {  // equal units
      for (std::size_t arm = 0; arm < arms; ++arm) {
        instance.revenue(unit, arm) = instance.revenue(unit - 1, arm);
        instance.cost(unit, arm) = instance.cost(unit - 1, arm);
      }
    }
  }
  instance.options.rules.control = stream.below(static_cast<std::uint32_t>(arms));
  return instance;
}

inline void add_eligibility(Instance& instance, core::RandomStream& stream, double share = 0.7) {
  instance.eligible = core::Matrix<std::uint8_t>(instance.revenue.rows(), instance.revenue.cols());
  for (std::size_t unit = 0; unit < instance.revenue.rows(); ++unit) {
    for (std::size_t arm = 0; arm < instance.revenue.cols(); ++arm) {
      instance.eligible(unit, arm) = stream.bernoulli(share) ? 1 : 0;
    }
    instance.eligible(unit, stream.below(static_cast<std::uint32_t>(instance.revenue.cols()))) = 1;
  }
}

// Concave responses with noise: no ties.
inline Instance smooth_instance(std::size_t units, std::size_t arms, std::uint64_t seed) {
  Instance instance(units, arms);
  for (std::size_t unit = 0; unit < units; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("smooth instance"), unit);
    const double size = stream.uniform(0.5, 2.0);
    double cost = 0.0;
    for (std::size_t arm = 0; arm < arms; ++arm) {
      instance.cost(unit, arm) = static_cast<float>(cost);
      instance.revenue(unit, arm) = static_cast<float>(size * std::sqrt(cost) + stream.uniform(-0.1, 0.1));
      cost += stream.uniform(0.1, 1.0);
    }
  }
  return instance;
}

// The totals of a plan, summed plainly.
struct PlanTotals {
  double revenue = 0.0;
  double cost = 0.0;
  double second = 0.0;
  std::vector<double> segment_cost;
  std::vector<std::int64_t> units;
};

inline PlanTotals totals_of(const Problem& problem, const std::vector<std::uint8_t>& arm) {
  PlanTotals totals;
  totals.units.resize(problem.num_arms());
  totals.segment_cost.resize(problem.segments.budgets.size());
  for (std::size_t unit = 0; unit < arm.size(); ++unit) {
    totals.revenue += static_cast<double>(problem.revenue(unit, arm[unit]));
    totals.cost += static_cast<double>(problem.cost(unit, arm[unit]));
    if (problem.second.cost.data != nullptr) totals.second += static_cast<double>(problem.second.cost(unit, arm[unit]));
    if (!totals.segment_cost.empty()) {
      totals.segment_cost[problem.segments.of_unit[unit]] += static_cast<double>(problem.cost(unit, arm[unit]));
    }
    ++totals.units[arm[unit]];
  }
  return totals;
}

inline double value_of(const Problem& problem, const PlanTotals& totals) {
  return problem.rules.objective == Objective::profit ? problem.rules.margin * totals.revenue - totals.cost
                                                      : totals.revenue;
}

inline bool is_feasible(const Problem& problem, const std::vector<std::uint8_t>& arm, double budget) {
  const PlanTotals totals = totals_of(problem, arm);
  if (totals.cost > budget || totals.second > problem.second.budget) return false;
  for (std::size_t segment = 0; segment < totals.segment_cost.size(); ++segment) {
    if (totals.segment_cost[segment] > problem.segments.budgets[segment]) return false;
  }
  for (std::size_t j = 0; j < totals.units.size(); ++j) {
    if (!problem.max_units.empty() && totals.units[j] > problem.max_units[j]) return false;
    if (!problem.min_units.empty() && totals.units[j] < problem.min_units[j]) return false;
  }
  for (std::size_t unit = 0; unit < arm.size(); ++unit) {
    if (problem.eligible.data != nullptr && problem.eligible(unit, arm[unit]) == 0) return false;
  }
  return true;
}

// The best value over all plans, of revenue - price x cost where a price is given; none if no plan is feasible.
struct BruteForce {
  std::optional<double> best;
  double least_spend = std::numeric_limits<double>::infinity();
};

inline BruteForce brute_force(const Problem& problem, double budget, double price = 0.0) {
  BruteForce result;
  std::vector<std::uint8_t> arm(problem.num_units(), 0);
  while (true) {
    if (is_feasible(problem, arm, std::numeric_limits<double>::infinity())) {
      const PlanTotals totals = totals_of(problem, arm);
      result.least_spend = std::min(result.least_spend, totals.cost);
      const double value = value_of(problem, totals) - price * totals.cost;
      if (totals.cost <= budget && (!result.best || value > *result.best)) result.best = value;
    }
    std::size_t unit = 0;
    while (unit < arm.size() && ++arm[unit] == problem.num_arms()) arm[unit++] = 0;
    if (unit == arm.size()) return result;
  }
}

}  // namespace dfcl::allocate
