// SPDX-License-Identifier: Apache-2.0
//
// Spend and revenue by stretch of the path: what a pass over any number of units leaves behind. Summaries of different
// units can be merged, so units can stream from disk in bounded memory or come from many machines. Each stretch of
// interest (a cell) is cut into buckets of equal width in PathPosition; narrowing one bucket at a time
// finds any place of the path in a few passes, also among a million equal units. 24 bytes a bucket, and 4 x arms
// where the units per arm are followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

// The positions [begin, end).
struct Cell {
  PathPosition begin = 0;
  PathPosition end = PathPosition{1} << kPositionBits;

  PathPosition width() const { return end - begin; }
};

// Cells in path order, without overlap, each cut into 2^log2_buckets buckets that are numbered through.
class CellGrid {
 public:
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);

  CellGrid(std::vector<Cell> cells, int log2_buckets);
  std::size_t num_cells() const { return cells_.size(); }
  std::size_t buckets_per_cell() const { return std::size_t{1} << log2_buckets_; }
  std::size_t num_buckets() const { return cells_.size() << log2_buckets_; }
  Cell bucket_cell(std::size_t bucket) const;
  // The bucket that holds the position, or kOutside.
  std::size_t find(PathPosition position) const {
    std::size_t cell = cells_.size();
    if (cell <= kFewCells) {
      while (cell > 0 && position < cells_[cell - 1].begin) --cell;
    } else {
      cell = cells_before(position);
    }
    if (cell == 0 || position >= cells_[cell - 1].end) return kOutside;
    const auto offset = static_cast<std::size_t>((position - cells_[cell - 1].begin) >> shifts_[cell - 1]);
    return ((cell - 1) << log2_buckets_) + offset;
  }

 private:
  static constexpr std::size_t kFewCells = 4;
  std::size_t cells_before(PathPosition position) const;

  std::vector<Cell> cells_;
  std::vector<int> shifts_;  // per cell: bits of a bucket's width
  int log2_buckets_;
};

// What the increments of some stretch add up to.
struct PathSums {
  double spend = 0.0;
  double revenue = 0.0;
  std::int64_t increments = 0;

  void add(const PathSums& other) {
    spend += other.spend;
    revenue += other.revenue;
    increments += other.increments;
  }
};

class PathSummary {
 public:
  // arms_followed = 0: units per arm are not followed.
  explicit PathSummary(CellGrid cell_grid, std::size_t arms_followed = 0);

  void add(const Hull& hull, std::size_t unit);
  void merge(const PathSummary& other);  // of the same grid

  const CellGrid& grid() const { return grid_; }
  const PathSums& sums(std::size_t bucket) const { return sums_[bucket]; }
  // Change of the units of each arm.
  const std::int32_t* arm_change(std::size_t bucket) const { return arm_change_.data() + bucket * arms_followed_; }

 private:
  CellGrid grid_;
  std::size_t arms_followed_;
  std::vector<PathSums> sums_;            // per bucket
  std::vector<std::int32_t> arm_change_;  // buckets x arms
};

// Cuts the whole path into 64 buckets to a doubling of the efficiency.
inline constexpr int kFirstLog2Buckets = 17;

struct Summarised {
  PathSummary summary;
  Totals least = {};  // every unit at the start of its hull
  Totals control = {};
  double absolute_cost = 0.0;                  // sum of |cost| at the start, for bounds on rounding
  std::vector<std::int64_t> least_units = {};  // per arm, at the start
  std::size_t num_units = 0;
};
// One pass over all units.
Summarised summarise(UnitPieces& pieces, const Rules& rules, const PathSummary& empty, core::RunContext& context);

}  // namespace dfcl::allocate
