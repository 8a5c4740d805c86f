// SPDX-License-Identifier: Apache-2.0
//
// Budgets of segments inside a total are nested, so walking the path and taking each increment that its segment and the
// total can still pay is the LP optimum up to the increments at the cuts. The bound is the dual value at the
// efficiencies where the segments and the total were cut.
#include <algorithm>
#include <cmath>

#include "dfcl/allocate/solve.h"

namespace dfcl::allocate {
namespace {

// A budget that is being spent. Far from its end float64 tells what fits; near it the exact sum does.
struct Purse {
  double budget = kNoBudget;
  Totals exact;
  double spend = 0.0;       // float64, a little off after many steps
  double slack = 0.0;       // how far off
  double cut = 0.0;         // efficiency of the first increment that did not fit; 0: none
  std::size_t offered = 0;  // increments since the cut

  void settle(const Prices& prices) {
    spend = exact.spend(prices);
    slack = 1e-9 * (std::abs(spend) + (std::isfinite(budget) ? std::abs(budget) : 0.0));
  }
  bool fits(const Increment& increment, const Prices& prices) {
    const double after = spend + increment.extra_cost(prices);
    if (after < budget - slack) return true;
    if (after > budget + slack) return false;
    Totals trial = exact;
    trial.take(increment);
    return trial.spend(prices) <= budget;
  }
  void pay(const Increment& increment, const Prices& prices) {
    exact.take(increment);
    spend += increment.extra_cost(prices);
  }
  // Notes an increment that did not fit, or that came after one.
  void pass(const Increment& increment) {
    if (cut == 0.0) cut = increment.efficiency;
  }
};

struct Walk {
  Purse total;
  std::vector<Purse> segments;
};

// Takes what both purses can pay, in path order.
void walk_path(std::span<const Increment> path, const Segments& segments, const Prices& prices,
               std::vector<std::uint8_t>& arm, Walk& walk) {
  std::vector<bool> passed(arm.size());
  for (const Increment& increment : path) {
    Purse& segment = walk.segments[segments.of_unit[increment.unit]];
    if (walk.total.cut > 0.0 && ++walk.total.offered > kFillIncrements) break;
    if (segment.cut > 0.0 && ++segment.offered > kFillIncrements) continue;
    if (passed[increment.unit]) continue;
    const bool segment_fits = segment.fits(increment, prices);
    if (segment_fits && walk.total.fits(increment, prices)) {
      segment.pay(increment, prices);
      walk.total.pay(increment, prices);
      arm[increment.unit] = increment.arm_to;
      continue;
    }
    (segment_fits ? walk.total : segment).pass(increment);
    passed[increment.unit] = true;
  }
}

// The dual of max sum(r - f*c) at the prices of the cuts, less the plan's own value: f is the least efficiency.
double gap_of(std::span<const Increment> path, const Problem& problem, const Walk& walk, const Prices& prices,
              double least_net, const Solution& solution) {
  const double least_efficiency = prices.least_efficiency;
  const double total_price = std::max(walk.total.cut, least_efficiency);
  double dual = walk.total.cut > 0.0 ? (total_price - least_efficiency) * walk.total.budget : 0.0;
  std::vector<double> price(walk.segments.size());
  for (std::size_t s = 0; s < price.size(); ++s) {
    price[s] = std::max(walk.segments[s].cut, total_price);
    if (price[s] > total_price) dual += (price[s] - total_price) * walk.segments[s].budget;
  }
  dual += least_net;  // sum of r - p*c at the starts of the hulls
  for (const Increment& increment : path) {
    const double p = price[problem.segments.of_unit[increment.unit]];
    if (increment.efficiency <= p) continue;
    dual += increment.extra_revenue() - p * increment.extra_cost(prices);
  }
  return std::max(0.0, dual - (solution.revenue - least_efficiency * solution.spend));
}

// The purses with the cheapest plan paid; false where one of them cannot pay it.
bool open_purses(const Problem& problem, double budget, const std::vector<std::uint8_t>& least_arm, Walk& walk) {
  walk.total.budget = budget;
  walk.segments.resize(problem.segments.budgets.size());
  for (std::size_t s = 0; s < walk.segments.size(); ++s) walk.segments[s].budget = problem.segments.budgets[s];
  for (std::size_t unit = 0; unit < least_arm.size(); ++unit) {
    const std::uint8_t arm = least_arm[unit];
    walk.total.exact.add(arm, problem.cost(unit, arm), problem.revenue(unit, arm));
    walk.segments[problem.segments.of_unit[unit]].exact.add(arm, problem.cost(unit, arm), problem.revenue(unit, arm));
  }
  const Prices prices(problem.rules);
  walk.total.settle(prices);
  bool can_pay = walk.total.spend <= budget;
  for (Purse& segment : walk.segments) {
    segment.settle(prices);
    can_pay &= segment.spend <= segment.budget;
  }
  return can_pay;
}

// Sum of r - p*c over the cheapest plan, p the price of the unit's segment.
double net_of_least(const Problem& problem, const std::vector<std::uint8_t>& least_arm, const Walk& walk,
                    double total_price) {
  double sum = 0.0;
  for (std::size_t unit = 0; unit < least_arm.size(); ++unit) {
    const double p = std::max(total_price, walk.segments[problem.segments.of_unit[unit]].cut);
    sum += static_cast<double>(problem.revenue(unit, least_arm[unit])) - p * problem.cost(unit, least_arm[unit]);
  }
  return sum;
}

}  // namespace

Solution solve_segments(const Problem& problem, double budget, core::RunContext& context) {
  UnitsInMemory pieces(all_units(problem));
  const Prices prices(problem.rules);
  const WholePath whole = sort_whole_path(pieces, problem.rules, context);
  const std::span<const Increment> path = whole.path.increments();
  std::vector<std::uint8_t> least_arm(problem.num_units());
  assign(all_units(problem), problem.rules, {0, {}}, least_arm.data(), context);
  Walk walk;
  Solution solution;
  solution.budget = budget;
  describe_control(whole.ends.control, prices, solution);
  const bool can_pay = open_purses(problem, budget, least_arm, walk);
  solution.least_spend = walk.total.spend;
  if (!can_pay) {
    solution.status = Status::cannot_be_met;
    return solution;
  }
  solution.arm = least_arm;
  walk_path(path, problem.segments, prices, solution.arm, walk);

  Totals totals;
  for (std::size_t unit = 0; unit < problem.num_units(); ++unit) {
    totals.add(solution.arm[unit], problem.cost(unit, solution.arm[unit]), problem.revenue(unit, solution.arm[unit]));
  }
  solution.spend = totals.spend(prices);
  solution.revenue = totals.revenue.value();
  solution.value = prices.value(solution.revenue, solution.spend);
  const double total_price = std::max(walk.total.cut, prices.least_efficiency);
  const double scale = prices.profit ? prices.margin : 1.0;
  const double least_net = net_of_least(problem, least_arm, walk, total_price);
  solution.gap = scale * gap_of(path, problem, walk, prices, least_net, solution);
  solution.bound = solution.value + solution.gap;
  solution.multiplier = walk.total.cut > 0.0 ? prices.multiplier(walk.total.cut) : 0.0;
  bool segment_binds = false;
  for (const Purse& segment : walk.segments) {
    solution.segment_spend.push_back(segment.exact.spend(prices));
    solution.segment_multiplier.push_back(scale * std::max(0.0, segment.cut - total_price));
    segment_binds |= segment.cut > 0.0;
  }
  solution.units_per_arm = totals.units_per_arm(problem.num_arms());
  if (walk.total.cut > 0.0 || segment_binds) {
    solution.status = Status::optimal;
    solution.binding = walk.total.cut > 0.0 ? Binding::budget : Binding::segment_budgets;
  } else {
    solution.status = std::isinf(budget) ? Status::no_budget : Status::not_binding;
    solution.binding = Binding::best_arms;
    explain_unspent(problem.rules, whole.ends, solution);
  }
  return solution;
}

}  // namespace dfcl::allocate
