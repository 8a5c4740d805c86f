// SPDX-License-Identifier: Apache-2.0
//
// Sums by unit and group over some days, and what they say of the groups' means. The same units come back day after
// day in other groups, so their days are not independent: standard errors are over units (clusters), not over days.
// Memory: 20 bytes x units x groups.
#pragma once

#include <cstdint>
#include <vector>

#include "dfcl/launch/moments.h"

namespace dfcl::launch {

class GroupSums {
 public:
  GroupSums(std::size_t num_units, std::size_t num_groups);

  void add(std::size_t unit, std::size_t group, double revenue, double cost) {
    Cell& cell = cells_[group * num_units_ + unit];
    cell.revenue += revenue;
    cell.cost += cost;
    ++cell.days;
  }
  void clear();

  struct Totals {
    std::size_t unit_days = 0;
    double revenue = 0.0;
    double spend = 0.0;
  };
  Totals totals(std::size_t group) const;
  // Revenue per unit and day.
  Interval mean_revenue(std::size_t group, double level) const;
  // Mean of a over mean of b, minus 1.
  Interval relative_gain(std::size_t a, std::size_t b, double level) const;

 private:
  struct Cell {
    double revenue = 0.0;
    double cost = 0.0;
    std::uint32_t days = 0;
  };
  // What unit adds to the error of the group's mean.
  double influence(const Cell& cell, double mean, double unit_days) const {
    return (cell.revenue - mean * static_cast<double>(cell.days)) / unit_days;
  }

  std::size_t num_units_;
  std::vector<Cell> cells_;  // groups x units
};

}  // namespace dfcl::launch
