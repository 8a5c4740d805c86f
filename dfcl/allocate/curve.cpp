// SPDX-License-Identifier: Apache-2.0
//
// The curve narrows a summary around all of its points at once: the path is cut into buckets, each bucket that holds a
// point is cut again until what is left can be sorted. Mostly that is two passes: one summary, one sort.
#include <algorithm>
#include <bit>
#include <mutex>

#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::allocate {
namespace {

constexpr int kMostLog2Buckets = 15;

// The plan somewhere on the path.
struct Place {
  double spend = 0.0;
  double revenue = 0.0;
  std::vector<std::int64_t> units;  // per arm

  void add(const PathSummary& summary, std::size_t bucket) {
    spend += summary.sums(bucket).spend;
    revenue += summary.sums(bucket).revenue;
    const std::int32_t* change = summary.arm_change(bucket);
    for (std::size_t arm = 0; arm < units.size(); ++arm) units[arm] += change[arm];
  }
  void take(const Increment& increment) {
    spend += increment.extra_cost();
    revenue += static_cast<double>(increment.revenue_to) - increment.revenue_from;
    --units[increment.arm_from];
    ++units[increment.arm_to];
  }
};

// A bucket that holds points of the curve, and the plan where it begins.
struct Stop {
  std::size_t bucket = 0;  // of the summary it was found in
  Cell cell;
  Place start;
  std::int64_t increments = 0;
  std::size_t first_target = 0, last_target = 0;  // [first, last)
};

// Walks the buckets [begin, end) from a place that it moves to the end; adds the buckets that hold targets. Rounding
// may leave targets beyond the last increment: they stay with the last bucket that has any.
void find_stops(const PathSummary& summary, std::size_t begin, std::size_t end, const std::vector<double>& targets,
                std::size_t first_target, std::size_t last_target, Place& place, std::vector<Stop>& stops) {
  while (end > begin && summary.sums(end - 1).increments == 0) --end;
  std::size_t target = first_target;
  for (std::size_t bucket = begin; bucket < end; ++bucket) {
    const PathSums& sums = summary.sums(bucket);
    if (sums.increments == 0) continue;
    const std::size_t first = target;
    while (target < last_target && (targets[target] < place.spend + sums.spend || bucket + 1 == end)) ++target;
    if (target > first) {
      stops.push_back({bucket, summary.grid().bucket_cell(bucket), place, sums.increments, first, target});
    }
    place.add(summary, bucket);
  }
}

std::vector<Stop> narrow(const PathSummary& summary, const std::vector<Stop>& stops,
                         const std::vector<double>& targets) {
  std::vector<Stop> narrowed;
  const std::size_t per_cell = summary.grid().buckets_per_cell();
  for (std::size_t cell = 0; cell < stops.size(); ++cell) {
    Place place = stops[cell].start;
    find_stops(summary, cell * per_cell, (cell + 1) * per_cell, targets, stops[cell].first_target,
               stops[cell].last_target, place, narrowed);
  }
  return narrowed;
}

// All increments in the buckets of the stops, in path order.
std::vector<Increment> increments_at(UnitPieces& pieces, const Rules& rules, const CellGrid& grid,
                                     const std::vector<Stop>& stops, core::RunContext& context) {
  const Prices prices(rules);
  std::vector<std::uint8_t> wanted(grid.num_buckets());
  for (const Stop& stop : stops) wanted[stop.bucket] = 1;
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
          const std::size_t bucket = grid.find(position_of(hull.efficiency[point], unit));
          if (bucket != CellGrid::kOutside && wanted[bucket] != 0) found.push_back(increment_of(hull, point, unit));
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

// Walks the increments of each stop to its targets.
void walk(const std::vector<Increment>& increments, const std::vector<Stop>& stops, const std::vector<double>& targets,
          const Prices& prices, std::vector<CurvePoint>& points) {
  std::size_t next = 0;
  for (const Stop& stop : stops) {
    Place place = stop.start;
    const std::size_t end = next + static_cast<std::size_t>(stop.increments);
    for (std::size_t target = stop.first_target; target < stop.last_target; ++target) {
      // The last increment of a bucket costs more than what is left, up to rounding.
      while (next + 1 < end && place.spend + increments[next].extra_cost() <= targets[target]) {
        place.take(increments[next++]);
      }
      points[target] = point_at(place, increments[next].efficiency, prices);
    }
    next = end;
  }
}

// The whole path in three cells: the middle one holds nearly all increments, as a sample of the units has it.
std::vector<Cell> cells_of_sample(const Units& units, const Prices& prices) {
  constexpr std::size_t kSample = 16'384;
  constexpr std::size_t kTail = 1000;  // one increment in so many lies in each outer cell
  std::vector<double> efficiency;
  Hull hull;
  for (std::size_t i = 0; i < std::min(kSample, units.size()); ++i) {
    build_hull(units, core::mix_bits(i) % units.size(), prices.least_efficiency, hull);
    efficiency.insert(efficiency.end(), hull.efficiency.begin() + 1, hull.efficiency.begin() + hull.size);
  }
  if (efficiency.empty()) return {Cell{}};
  std::sort(efficiency.begin(), efficiency.end(), std::greater<>());
  const std::size_t tail = efficiency.size() / kTail;
  const PathPosition begin = position_of(efficiency[tail], 0);
  const PathPosition end = position_of(efficiency[efficiency.size() - 1 - tail], 0) + (PathPosition{1} << 32);
  return {{0, begin}, {begin, end}, {end, Cell{}.end}};
}

// More stops make more cells, so fewer buckets each.
int log2_buckets_for(std::size_t num_cells) {
  int log2_buckets = kMostLog2Buckets;
  while (log2_buckets > 4 && (num_cells << log2_buckets) > (std::size_t{1} << kFirstLog2Buckets)) --log2_buckets;
  return log2_buckets;
}

bool too_many_to_sort(const std::vector<Stop>& stops) {
  constexpr std::int64_t kSortAtMost = 2'000'000;
  std::int64_t total = 0;
  bool can_narrow = false;
  for (const Stop& stop : stops) {
    total += stop.increments;
    can_narrow |= stop.cell.width() > 1;
  }
  return can_narrow && total > kSortAtMost;
}

void check_num_points(std::size_t num_points) {
  if (num_points >= 2) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "number of points of the curve",
                     .found = std::to_string(num_points),
                     .expected = "2 or more"});
}

}  // namespace

Curve allocate_curve(const Problem& problem, std::size_t num_points, core::RunContext& context) {
  validate(problem);
  require_path_only(problem, "allocate_curve");
  check_num_points(num_points);
  const Prices prices(problem.rules);
  const std::size_t num_arms = problem.num_arms();
  UnitsInMemory pieces(all_units(problem));
  const int log2_buckets = std::clamp(static_cast<int>(std::bit_width(problem.num_units())) - 2, 4, kMostLog2Buckets);
  CellGrid grid(cells_of_sample(all_units(problem), prices), log2_buckets);
  Summarised whole = summarise(pieces, problem.rules, PathSummary(grid, num_arms), context);
  const Place start{whole.least.cost.value(), whole.least.revenue.value(), whole.least_units};
  Place end = start;
  for (std::size_t bucket = 0; bucket < grid.num_buckets(); ++bucket) end.add(whole.summary, bucket);
  std::vector<double> targets(num_points);
  for (std::size_t i = 0; i < num_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(num_points - 1);
    targets[i] = start.spend + share * (end.spend - start.spend);
  }
  Curve curve;
  curve.control_revenue = whole.control.revenue.value();
  curve.control_cost = whole.control.cost.value();
  curve.points.assign(num_points, point_at(end, 0.0, prices));  // the last stays so
  Place place = start;
  std::vector<Stop> stops;
  find_stops(whole.summary, 0, grid.num_buckets(), targets, 0, num_points - 1, place, stops);
  while (too_many_to_sort(stops)) {
    std::vector<Cell> cells;
    for (const Stop& stop : stops) cells.push_back(stop.cell);
    grid = CellGrid(std::move(cells), log2_buckets_for(stops.size()));
    stops = narrow(summarise(pieces, problem.rules, PathSummary(grid, num_arms), context).summary, stops, targets);
  }
  walk(increments_at(pieces, problem.rules, grid, stops, context), stops, targets, prices, curve.points);
  return curve;
}

}  // namespace dfcl::allocate
