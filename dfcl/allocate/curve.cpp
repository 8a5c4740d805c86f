// SPDX-License-Identifier: Apache-2.0
//
// The curve narrows a summary around all of its points at once: first 64 buckets to a doubling of the efficiency, then
// each bucket that holds a point is cut again until what is left can be sorted.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

// The plan somewhere on the path.
struct Place {
  double spend = 0.0;
  double revenue = 0.0;
  std::vector<std::int64_t> units;  // per arm

  void add(const PathSummary& summary, std::size_t cell, std::size_t bucket) {
    spend += summary.sums(cell, bucket).spend;
    revenue += summary.sums(cell, bucket).revenue;
    const std::int32_t* change = summary.arm_change(cell, bucket);
    for (std::size_t arm = 0; arm < units.size(); ++arm) units[arm] += change[arm];
  }
  void take(const Increment& increment) {
    spend += increment.extra_cost();
    revenue += static_cast<double>(increment.revenue_to) - increment.revenue_from;
    --units[increment.arm_from];
    ++units[increment.arm_to];
  }
};

// A cell that holds at least one point, and the plan where it begins.
struct PlacedCell {
  Cell cell;
  Place start;
  std::int64_t increments = 0;
  std::size_t first_target = 0, last_target = 0;  // [first, last)
};

// The buckets that hold targets, cut out of the cells that did. Targets beyond a cell's last increment stay with its
// last bucket that has any: rounding alone puts them there.
std::vector<PlacedCell> narrow(const PathSummary& summary, const std::vector<PlacedCell>& cells,
                               const std::vector<double>& targets) {
  std::vector<PlacedCell> narrowed;
  for (std::size_t index = 0; index < cells.size(); ++index) {
    Place place = cells[index].start;
    std::size_t target = cells[index].first_target;
    std::size_t last_filled = 0;
    for (std::size_t bucket = 0; bucket < summary.num_buckets(); ++bucket) {
      if (summary.sums(index, bucket).increments > 0) last_filled = bucket;
    }
    for (std::size_t bucket = 0; bucket <= last_filled && target < cells[index].last_target; ++bucket) {
      const PathSums& sums = summary.sums(index, bucket);
      if (sums.increments == 0) continue;
      const std::size_t first = target;
      while (target < cells[index].last_target &&
             (targets[target] < place.spend + sums.spend || bucket == last_filled)) {
        ++target;
      }
      if (target > first) narrowed.push_back({summary.bucket_cell(index, bucket), place, sums.increments, first, target});
      place.add(summary, index, bucket);
    }
  }
  return narrowed;
}

std::vector<Cell> plain_cells(const std::vector<PlacedCell>& placed) {
  std::vector<Cell> cells;
  for (const PlacedCell& cell : placed) cells.push_back(cell.cell);
  return cells;
}

// All increments inside the cells, in path order.
std::vector<Increment> increments_in(UnitPieces& pieces, const Rules& rules, const std::vector<Cell>& cells,
                                     core::RunContext& context) {
  const Prices prices(rules);
  std::mutex mutex;
  std::vector<Increment> all;
  pieces.for_each([&](const Units& units) {
    context.pool.run(kParts, [&](std::size_t part) {
      context.check_cancelled();
      Hull hull;
      std::vector<Increment> found;
      for (std::size_t row = part_begin(units.size(), part); row < part_begin(units.size(), part + 1); ++row) {
        build_hull(units, row, prices.least_efficiency, hull);
        const std::size_t unit = units.first_unit + row;
        for (std::size_t point = 1; point < hull.size; ++point) {
          if (find_cell(cells, position_of(hull.efficiency[point], unit))) {
            found.push_back(increment_of(hull, point, unit));
          }
        }
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), found.begin(), found.end());
    });
  });
  sort_path(all, context);
  return all;
}

CurvePoint point_at(const Place& place, double efficiency, const Prices& prices) {
  return {place.spend, prices.value(place.revenue, place.spend), place.revenue,
          efficiency > 0.0 ? prices.multiplier(efficiency) : 0.0, place.units};
}

// Walks the increments of each cell to its targets.
void walk(const std::vector<Increment>& increments, const std::vector<PlacedCell>& cells,
          const std::vector<double>& targets, const Prices& prices, std::vector<CurvePoint>& points) {
  std::size_t next = 0;
  for (const PlacedCell& cell : cells) {
    Place place = cell.start;
    const std::size_t end = next + static_cast<std::size_t>(cell.increments);
    for (std::size_t target = cell.first_target; target < cell.last_target; ++target) {
      while (next < end && place.spend + increments[next].extra_cost() <= targets[target]) {
        place.take(increments[next++]);
      }
      // After the last of a cell the path goes on in a later one; its last increment is as near as can be told.
      const double efficiency = next < increments.size() ? increments[std::min(next, end - 1)].efficiency : 0.0;
      points[target] = point_at(place, efficiency, prices);
    }
    next = end;
  }
}

// How finely to cut: more points make more cells, so fewer buckets each.
int log2_buckets_for(std::size_t num_cells) {
  int log2_buckets = 12;
  while (log2_buckets > 4 && (num_cells << log2_buckets) > (std::size_t{1} << kFirstLog2Buckets)) --log2_buckets;
  return log2_buckets;
}

}  // namespace

Curve allocate_curve(const Problem& problem, std::size_t num_points, core::RunContext& context) {
  validate(problem);
  require_path_only(problem, "allocate_curve");
  if (num_points < 2) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "number of points of the curve",
                       .found = std::to_string(num_points),
                       .expected = "2 or more"});
  }
  const Prices prices(problem.rules);
  const std::size_t num_arms = problem.num_arms();
  UnitsInMemory pieces(all_units(problem));
  Summarised whole =
      summarise(pieces, problem.rules, PathSummary({Cell{}}, kFirstLog2Buckets, num_arms), context);
  const Place start{whole.least.cost.value(), whole.least.revenue.value(), whole.least_units};
  Place end = start;
  std::int64_t num_increments = 0;
  for (std::size_t bucket = 0; bucket < whole.summary.num_buckets(); ++bucket) {
    end.add(whole.summary, 0, bucket);
    num_increments += whole.summary.sums(0, bucket).increments;
  }
  std::vector<double> targets(num_points);
  for (std::size_t i = 0; i < num_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(num_points - 1);
    targets[i] = start.spend + share * (end.spend - start.spend);
  }
  Curve curve;
  curve.control_revenue = whole.control.revenue.value();
  curve.control_cost = whole.control.cost.value();
  curve.points.assign(num_points, point_at(end, 0.0, prices));
  if (num_increments == 0) return curve;
  // The last point is the end itself.
  std::vector<PlacedCell> cells = {{Cell{}, start, num_increments, 0, num_points - 1}};
  cells = narrow(whole.summary, cells, targets);
  const auto still_many = [&] {
    std::int64_t total = 0;
    bool can_narrow = false;
    for (const PlacedCell& cell : cells) {
      total += cell.increments;
      can_narrow |= cell.cell.log2_width > 0;
    }
    constexpr std::int64_t kSortAtMost = 1'000'000;
    return can_narrow && total > kSortAtMost;
  };
  while (still_many()) {
    const PathSummary empty(plain_cells(cells), log2_buckets_for(cells.size()), num_arms);
    cells = narrow(summarise(pieces, problem.rules, empty, context).summary, cells, targets);
  }
  walk(increments_in(pieces, problem.rules, plain_cells(cells), context), cells, targets, prices, curve.points);
  return curve;
}

}  // namespace dfcl::allocate
