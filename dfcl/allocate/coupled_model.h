// SPDX-License-Identifier: Apache-2.0
//
// A problem with several constraints as one list of limits: total cost, second cost, segment costs, upper and lower
// limits of the units of an arm. Each unit and arm uses up a few of them. What is maximised is the gain
// m*(r - f*c): revenue, profit, or revenue net of the least return per cost; or minus the cost alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/allocate/hull.h"
#include "dfcl/allocate/plan_sums.h"
#include "dfcl/allocate/price_box.h"

namespace dfcl::allocate {

enum class Goal : std::uint8_t {
  value,        // what the problem's rules say
  least_spend,  // the cheapest plan within the limits
};

class CoupledModel {
 public:
  // The limits of a problem. Scales are 1 until they are measured.
  CoupledModel(const Problem& problem, double budget, Goal goal = Goal::value);
  // The same kinds of limits over some of the units, with other amounts; scales are those of the whole.
  CoupledModel(const CoupledModel& whole, const Problem& units, std::vector<double> limits);
  // Takes typical uses and gains from these units, in their order. One pass.
  void measure_scales(const Problem& units);

  std::size_t num_units() const { return problem_.num_units(); }
  std::size_t num_arms() const { return problem_.num_arms(); }
  std::size_t num_limits() const { return limit_.size(); }
  const Problem& problem() const { return problem_; }
  bool may_get(std::size_t unit, std::size_t arm) const {
    return problem_.eligible.data == nullptr || problem_.eligible(unit, arm) != 0;
  }
  double cost(std::size_t unit, std::size_t arm) const {
    return problem_.rules.price.empty() ? static_cast<double>(problem_.cost(unit, arm)) : problem_.rules.price[arm];
  }
  double gain(std::size_t unit, std::size_t arm) const {
    return revenue_gain() * static_cast<double>(problem_.revenue(unit, arm)) - cost_loss() * cost(unit, arm);
  }
  double gain_of_totals(double revenue, double spend) const { return revenue_gain() * revenue - cost_loss() * spend; }
  double gain_of_sums(const PlanSums& sums) const;
  // gain = revenue_gain x revenue - cost_loss x cost
  double revenue_gain() const { return revenue_weight_ * scale_; }
  double cost_loss() const { return scale_ * floor_; }
  // Use of limit k must not exceed this.
  const std::vector<double>& limits() const { return limit_; }
  // The limits less what these units use up.
  std::vector<double> limits_beside(const PlanSums& sums) const;
  // Typical use per unit, > 0: the unit in which limits are compared.
  const std::vector<double>& scales() const { return typical_use_; }
  // Mean difference between a unit's best and worst gain, > 0.
  double gain_spread() const { return gain_spread_; }

  // Per limit.
  PriceBox price_box(const std::vector<double>& multipliers, const std::vector<double>& widths) const;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t total = kNone;
  std::size_t second = kNone;
  std::vector<std::size_t> upper, lower;  // per arm
  std::vector<std::size_t> segment;       // per segment

  // Calls body(limit, use) for what a unit uses up with an arm.
  template <class Body>
  void for_each_use(std::size_t unit, std::size_t arm, Body&& body) const {
    const double paid = cost(unit, arm);
    if (total != kNone) body(total, paid);
    if (second != kNone) body(second, static_cast<double>(problem_.second.cost(unit, arm)));
    if (!segment.empty() && segment[problem_.segments.of_unit[unit]] != kNone) {
      body(segment[problem_.segments.of_unit[unit]], paid);
    }
    if (!upper.empty() && upper[arm] != kNone) body(upper[arm], 1.0);
    if (!lower.empty() && lower[arm] != kNone) body(lower[arm], -1.0);
  }
  // The gain less the price of what is used up.
  double score(std::size_t unit, std::size_t arm, const std::vector<double>& multipliers) const {
    double result = gain(unit, arm);
    for_each_use(unit, arm, [&](std::size_t limit, double use) { result -= multipliers[limit] * use; });
    return result;
  }

 private:
  std::size_t add_limit(double limit);

  const Problem& problem_;
  double revenue_weight_ = 1.0;
  double scale_;
  double floor_;
  std::vector<double> limit_;
  std::vector<double> typical_use_;
  double gain_spread_ = 1.0;
};

}  // namespace dfcl::allocate
