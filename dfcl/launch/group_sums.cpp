// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/group_sums.h"

#include <algorithm>
#include <cmath>

namespace dfcl::launch {

GroupSums::GroupSums(std::size_t num_units, std::size_t num_groups)
    : num_units_(num_units), cells_(num_units * num_groups) {}

void GroupSums::clear() { std::fill(cells_.begin(), cells_.end(), Cell{}); }

GroupSums::Totals GroupSums::totals(std::size_t group) const {
  Totals totals;
  for (std::size_t unit = 0; unit < num_units_; ++unit) {
    const Cell& cell = cells_[group * num_units_ + unit];
    totals.unit_days += cell.days;
    totals.revenue += cell.revenue;
    totals.spend += cell.cost;
  }
  return totals;
}

Interval GroupSums::mean_revenue(std::size_t group, double level) const {
  const Totals sums = totals(group);
  const auto unit_days = static_cast<double>(sums.unit_days);
  const double mean = sums.revenue / unit_days;
  double squares = 0.0;
  for (std::size_t unit = 0; unit < num_units_; ++unit) {
    const double part = influence(cells_[group * num_units_ + unit], mean, unit_days);
    squares += part * part;
  }
  const auto clusters = static_cast<double>(num_units_);
  return core::t_interval(mean, std::sqrt(squares * clusters / (clusters - 1.0)), clusters - 1.0, level);
}

Interval GroupSums::relative_gain(std::size_t a, std::size_t b, double level) const {
  const Totals sums_a = totals(a), sums_b = totals(b);
  const auto days_a = static_cast<double>(sums_a.unit_days), days_b = static_cast<double>(sums_b.unit_days);
  const double mean_a = sums_a.revenue / days_a, mean_b = sums_b.revenue / days_b;
  double squares = 0.0;
  for (std::size_t unit = 0; unit < num_units_; ++unit) {
    const double part_a = influence(cells_[a * num_units_ + unit], mean_a, days_a);
    const double part_b = influence(cells_[b * num_units_ + unit], mean_b, days_b);
    const double part = part_a / mean_b - mean_a * part_b / (mean_b * mean_b);
    squares += part * part;
  }
  const auto clusters = static_cast<double>(num_units_);
  return core::t_interval(mean_a / mean_b - 1.0, std::sqrt(squares * clusters / (clusters - 1.0)), clusters - 1.0,
                          level);
}

}  // namespace dfcl::launch
