// SPDX-License-Identifier: Apache-2.0
//
// Keeps spend to the budget when costs are not what was predicted: from each day's spend it learns how much a unit of
// predicted cost really costs, now and on each day of the week (a model may be wrong about Sundays), and spreads what
// is left of the week's budget over the days that are left. The answer is the spend to plan for, in predicted cost; the
// solver turns it into the day's multiplier. A few numbers of state.
#pragma once

#include <array>
#include <cstddef>

namespace dfcl::launch {

class SpendController {
 public:
  // is_on = false: every day plans for the daily budget as if predictions were right.
  explicit SpendController(bool is_on) : is_on_(is_on) { day_ratio_.fill(1.0); }

  // The spend to plan for today, given what may be spent. weekday: 0 to 6; days_left: of the week, today included.
  double target(double daily_budget, std::size_t weekday, std::size_t days_left) {
    if (!is_on_) return daily_budget;
    if (weekday == 0) carried_ = 0.0;  // a new week
    const double left = daily_budget * static_cast<double>(days_left) + carried_;
    const double wanted = left / static_cast<double>(days_left);
    return wanted > 0.0 ? wanted / (cost_ratio_ * day_ratio_[weekday]) : 0.0;
  }

  // What today's plan was predicted to spend, and what it spent.
  void observe(double daily_budget, std::size_t weekday, double predicted, double spent) {
    if (!is_on_) return;
    carried_ += daily_budget - spent;
    if (!(predicted > 0.0) || !(spent > 0.0)) return;
    const double ratio = spent / predicted;
    const double expected = cost_ratio_;
    cost_ratio_ += kRate * (ratio / day_ratio_[weekday] - cost_ratio_);
    day_ratio_[weekday] += kDayRate * (ratio / expected - day_ratio_[weekday]);
  }

 private:
  // Of the newest day: a quarter lags a steady drift by three days, and one odd day does not mislead the next.
  static constexpr double kRate = 0.25;
  // Of the newest week, for its weekday: there are few, so each counts for less.
  static constexpr double kDayRate = 0.3;
  bool is_on_;
  double cost_ratio_ = 1.0;            // real cost of a unit of predicted cost
  std::array<double, 7> day_ratio_{};  // the same on each weekday, against the others
  double carried_ = 0.0;               // of this week's budget, not yet spent (below 0: overspent)
};

}  // namespace dfcl::launch
