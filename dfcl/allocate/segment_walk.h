// SPDX-License-Identifier: Apache-2.0
//
// Budgets of segments inside a total, spent along the path: each increment is taken that its segment and the total can
// still pay. Whoever walks, over units in memory (solve_segments.cpp) or elsewhere (segment_paths.h), spends from these
// purses and ends with the same figures. Memory: 6 KiB per segment.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dfcl/allocate/totals.h"

namespace dfcl::allocate {

// A budget that is being spent. Far from its end float64 tells what fits; near it the exact sum does.
struct Purse {
  double budget = kNoBudget;
  Totals exact;
  double spend = 0.0;       // float64, a little off after many steps
  double slack = 0.0;       // how far off
  double cut = 0.0;         // efficiency of the first increment that did not fit; 0: none
  std::size_t offered = 0;  // increments since the cut

  void settle(const Prices& prices);
  bool fits(const Increment& increment, const Prices& prices) const;
  void pay(const Increment& increment, const Prices& prices) {
    exact.take(increment);
    spend += increment.extra_cost(prices);
  }
  // False for what costs more than is left for sure.
  bool may_pay(double cost) const { return cost <= budget - spend + slack; }
};

struct SegmentWalk {
  Purse total;
  std::vector<Purse> segments;
  std::vector<Totals> at_cut = {};  // per segment: what it had taken where it or the total was cut

  // The total, with all that the segments have paid. False where a purse cannot pay that.
  bool open(double budget, const Prices& prices);
  // Where an increment after a cut is looked at: enough of them were offered to the total, or to its segment.
  bool total_is_done() { return total.cut > 0.0 && ++total.offered > kFillIncrements; }
  bool segment_is_done(std::size_t segment) {
    return segments[segment].cut > 0.0 && ++segments[segment].offered > kFillIncrements;
  }
  // Takes what both can pay; else notes which of them was cut, and returns false.
  bool take(const Increment& increment, std::size_t segment, const Prices& prices);
  // The same where the total can pay for sure and is not counted yet.
  bool take_in_segment(const Increment& increment, std::size_t segment, const Prices& prices);
  // Call it at the end of the path.
  void finish();

  double total_price(const Prices& prices) const;
  // Of cost in a segment: where it or the total was cut.
  double price(std::size_t segment, const Prices& prices) const;
  // The dual value at these prices of sum(r - f*c), f the least efficiency.
  double dual(const Prices& prices) const;

 private:
  void cut_segment(std::size_t segment, double efficiency);
  void cut_total(double efficiency);
};

// Everything about a plan but its arms, its budget, its least spend and what control costs.
void describe_walk(const SegmentWalk& walk, const Rules& rules, std::size_t num_arms,
                   const std::function<bool()>& could_spend_more, Solution& solution);

}  // namespace dfcl::allocate
