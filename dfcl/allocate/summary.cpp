// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/summary.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {

std::optional<std::size_t> find_cell(const std::vector<Cell>& cells, PathPosition position) {
  const auto after = std::upper_bound(cells.begin(), cells.end(), position,
                                      [](PathPosition place, const Cell& cell) { return place < cell.begin; });
  if (after == cells.begin()) return std::nullopt;
  const Cell& cell = *(after - 1);
  if (((position - cell.begin) >> cell.log2_width) != 0) return std::nullopt;
  return static_cast<std::size_t>(after - 1 - cells.begin());
}

PathSummary::PathSummary(std::vector<Cell> cells, int log2_buckets, std::size_t arms_followed)
    : cells_(std::move(cells)), log2_buckets_(log2_buckets), arms_followed_(arms_followed) {
  sums_.resize(cells_.size() << log2_buckets_);
  arm_change_.resize(sums_.size() * arms_followed_);
}

void PathSummary::add(const Hull& hull, std::size_t unit) {
  for (std::size_t point = 1; point < hull.size; ++point) {
    const PathPosition position = position_of(hull.efficiency[point], unit);
    const std::optional<std::size_t> cell = find_cell(cells_, position);
    if (!cell) continue;
    const int shift = cells_[*cell].log2_width - log2_buckets_;
    const PathPosition offset = position - cells_[*cell].begin;
    const std::size_t bucket =
        (*cell << log2_buckets_) + static_cast<std::size_t>(shift > 0 ? offset >> shift : offset);
    const HullPoint& from = hull.points[point - 1];
    const HullPoint& to = hull.points[point];
    sums_[bucket].add({static_cast<double>(to.cost) - from.cost, static_cast<double>(to.revenue) - from.revenue, 1});
    if (arms_followed_ > 0) {
      --arm_change_[bucket * arms_followed_ + from.arm];
      ++arm_change_[bucket * arms_followed_ + to.arm];
    }
  }
}

void PathSummary::merge(const PathSummary& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].add(other.sums_[i]);
  for (std::size_t i = 0; i < arm_change_.size(); ++i) arm_change_[i] += other.arm_change_[i];
}

Cell PathSummary::bucket_cell(std::size_t cell, std::size_t bucket) const {
  const int log2_width = std::max(0, cells_[cell].log2_width - log2_buckets_);
  return {cells_[cell].begin + (static_cast<PathPosition>(bucket) << log2_width), log2_width};
}

Summarised summarise(UnitPieces& pieces, const Rules& rules, const PathSummary& empty, core::RunContext& context) {
  const Prices prices(rules);
  Summarised start{.summary = empty};
  start.least_units.resize(pieces.num_arms());
  std::vector<Summarised> parts(kParts, start);
  pieces.for_each([&](const Units& units) {
    context.pool.run(kParts, [&](std::size_t index) {
      context.check_cancelled();
      Summarised& part = parts[index];
      Hull hull;
      const std::size_t end = part_begin(units.size(), index + 1);
      for (std::size_t row = part_begin(units.size(), index); row < end; ++row) {
        build_hull(units, row, prices.least_efficiency, hull);
        const HullPoint& first = hull.points[0];
        part.least.add(first.cost, first.revenue);
        add_control(units, row, rules.control, part.control);
        part.absolute_cost += std::abs(static_cast<double>(first.cost));
        ++part.least_units[first.arm];
        part.summary.add(hull, units.first_unit + row);
        ++part.num_units;
      }
    });
  });
  Summarised& total = parts[0];
  for (std::size_t index = 1; index < kParts; ++index) {
    const Summarised& part = parts[index];
    total.summary.merge(part.summary);
    total.least.add(part.least);
    total.control.add(part.control);
    total.absolute_cost += part.absolute_cost;
    total.num_units += part.num_units;
    for (std::size_t arm = 0; arm < total.least_units.size(); ++arm) total.least_units[arm] += part.least_units[arm];
  }
  return std::move(total);
}

}  // namespace dfcl::allocate
