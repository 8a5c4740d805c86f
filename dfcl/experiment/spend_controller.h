// SPDX-License-Identifier: Apache-2.0
//
// Keeps spend to the budget when costs are not what was predicted: from each day's spend it learns how much a unit of
// predicted cost really costs, and spreads what is left of the week's budget over the days that are left. The answer
// is the spend to plan for, in predicted cost; the solver turns it into the day's multiplier. A few numbers of state.
#pragma once

#include <cstddef>

namespace dfcl::experiment {

class SpendController {
 public:
  // is_on = false: every day plans for the daily budget as if predictions were right.
  SpendController(bool is_on, std::size_t days_a_week = 7) : is_on_(is_on), days_a_week_(days_a_week) {}

  // The spend to plan for today, given what may be spent. days_left: of the week, today included.
  double target(double daily_budget, std::size_t days_left) {
    if (!is_on_) return daily_budget;
    if (days_left == days_a_week_) carried_ = 0.0;  // a new week
    const double left = daily_budget * static_cast<double>(days_left) + carried_;
    const double wanted = left / static_cast<double>(days_left);
    return wanted > 0.0 ? wanted / cost_ratio_ : 0.0;
  }

  // What today's plan was predicted to spend, and what it spent.
  void observe(double daily_budget, double predicted, double spent) {
    if (!is_on_) return;
    carried_ += daily_budget - spent;
    if (predicted > 0.0 && spent > 0.0) cost_ratio_ += kRate * (spent / predicted - cost_ratio_);
  }

  double cost_ratio() const { return cost_ratio_; }

 private:
  // Of the newest day; a half forgets a wrong day in two and lags a steady drift by two.
  static constexpr double kRate = 0.5;
  bool is_on_;
  std::size_t days_a_week_;
  double cost_ratio_ = 1.0;  // real cost of a unit of predicted cost
  double carried_ = 0.0;     // of this week's budget, not yet spent (below 0: overspent)
};

}  // namespace dfcl::experiment
