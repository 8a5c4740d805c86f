// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/segment_walk.h"

#include <algorithm>
#include <cmath>

#include "dfcl/allocate/solve.h"

namespace dfcl::allocate {

void Purse::settle(const Prices& prices) {
  spend = exact.spend(prices);
  slack = 1e-9 * (std::abs(spend) + (std::isfinite(budget) ? std::abs(budget) : 0.0));
}

bool Purse::fits(const Increment& increment, const Prices& prices) const {
  const double after = spend + increment.extra_cost(prices);
  if (after < budget - slack) return true;
  if (after > budget + slack) return false;
  Totals trial = exact;
  trial.take(increment);
  return trial.spend(prices) <= budget;
}

bool SegmentWalk::open(double budget, const Prices& prices) {
  total.budget = budget;
  total.exact = {};
  at_cut.resize(segments.size());
  bool can_pay = true;
  for (Purse& segment : segments) {
    segment.settle(prices);
    total.exact.add(segment.exact);
    can_pay &= segment.spend <= segment.budget;
  }
  total.settle(prices);
  return can_pay && total.spend <= budget;
}

bool SegmentWalk::take(const Increment& increment, std::size_t segment, const Prices& prices) {
  if (!segments[segment].fits(increment, prices)) {
    cut_segment(segment, increment.efficiency);
    return false;
  }
  if (!total.fits(increment, prices)) {
    cut_total(increment.efficiency);
    return false;
  }
  segments[segment].pay(increment, prices);
  total.pay(increment, prices);
  return true;
}

bool SegmentWalk::take_in_segment(const Increment& increment, std::size_t segment, const Prices& prices) {
  if (!segments[segment].fits(increment, prices)) {
    cut_segment(segment, increment.efficiency);
    return false;
  }
  segments[segment].pay(increment, prices);
  return true;
}

void SegmentWalk::cut_segment(std::size_t segment, double efficiency) {
  if (segments[segment].cut > 0.0) return;
  segments[segment].cut = efficiency;
  if (total.cut == 0.0) at_cut[segment] = segments[segment].exact;
}

void SegmentWalk::cut_total(double efficiency) {
  if (total.cut > 0.0) return;
  total.cut = efficiency;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s].cut == 0.0) at_cut[s] = segments[s].exact;
  }
}

void SegmentWalk::finish() {
  for (std::size_t s = 0; s < segments.size() && total.cut == 0.0; ++s) {
    if (segments[s].cut == 0.0) at_cut[s] = segments[s].exact;
  }
}

double SegmentWalk::total_price(const Prices& prices) const { return std::max(total.cut, prices.least_efficiency); }

double SegmentWalk::price(std::size_t segment, const Prices& prices) const {
  return std::max(segments[segment].cut, total_price(prices));
}

double SegmentWalk::dual(const Prices& prices) const {
  const double of_total = total_price(prices);
  double sum = total.cut > 0.0 ? (of_total - prices.least_efficiency) * total.budget : 0.0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const double own = price(s, prices);
    if (own > of_total) sum += (own - of_total) * segments[s].budget;
    sum += at_cut[s].revenue.value() - own * at_cut[s].spend(prices);
  }
  return sum;
}

void describe_walk(const SegmentWalk& walk, const Rules& rules, std::size_t num_arms,
                   const std::function<bool()>& could_spend_more, Solution& solution) {
  const Prices prices(rules);
  solution.spend = walk.total.exact.spend(prices);
  solution.revenue = walk.total.exact.revenue.value();
  solution.value = prices.value(solution.revenue, solution.spend);
  const double scale = prices.profit ? prices.margin : 1.0;
  const double own = solution.revenue - prices.least_efficiency * solution.spend;
  solution.gap = scale * std::max(0.0, walk.dual(prices) - own);
  solution.bound = solution.value + solution.gap;
  solution.multiplier = walk.total.cut > 0.0 ? prices.multiplier(walk.total.cut) : 0.0;
  bool segment_binds = false;
  for (const Purse& segment : walk.segments) {
    solution.segment_spend.push_back(segment.exact.spend(prices));
    solution.segment_multiplier.push_back(scale * std::max(0.0, segment.cut - walk.total_price(prices)));
    segment_binds |= segment.cut > 0.0;
  }
  solution.units_per_arm = walk.total.exact.units_per_arm(num_arms);
  if (walk.total.cut > 0.0 || segment_binds) {
    solution.status = Status::optimal;
    solution.binding = walk.total.cut > 0.0 ? Binding::budget : Binding::segment_budgets;
    return;
  }
  solution.status = std::isinf(walk.total.budget) ? Status::no_budget : Status::not_binding;
  solution.binding = Binding::best_arms;
  explain_unspent(rules, could_spend_more, solution);
}

}  // namespace dfcl::allocate
