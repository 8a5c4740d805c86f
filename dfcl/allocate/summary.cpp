// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/summary.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {

CellGrid::CellGrid(std::vector<Cell> cells, int log2_buckets) : cells_(std::move(cells)), log2_buckets_(log2_buckets) {
  for (const Cell& cell : cells_) {
    int bits = 0;  // of the cell's width
    while (bits < kPositionBits && (PathPosition{1} << bits) < cell.width()) ++bits;
    shifts_.push_back(std::max(0, bits - log2_buckets_));
  }
}

std::size_t CellGrid::cells_before(PathPosition position) const {
  const auto after = std::upper_bound(cells_.begin(), cells_.end(), position,
                                      [](PathPosition place, const Cell& cell) { return place < cell.begin; });
  return static_cast<std::size_t>(after - cells_.begin());
}

Cell CellGrid::bucket_cell(std::size_t bucket) const {
  const std::size_t index = bucket >> log2_buckets_;
  const PathPosition width = PathPosition{1} << shifts_[index];
  const PathPosition begin = cells_[index].begin + (bucket & (buckets_per_cell() - 1)) * width;
  return {begin, std::min(begin + width, cells_[index].end)};
}

PathSummary::PathSummary(CellGrid cell_grid, std::size_t arms_followed)
    : grid_(std::move(cell_grid)), arms_followed_(arms_followed) {
  sums_.resize(grid_.num_buckets());
  arm_change_.resize(sums_.size() * arms_followed_);
}

void PathSummary::add(const Hull& hull, std::size_t unit) {
  for (std::size_t point = 1; point < hull.size; ++point) {
    const std::size_t bucket = grid_.find(position_of(hull.efficiency[point], unit));
    if (bucket == CellGrid::kOutside) continue;
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
