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
#include <optional>
#include <vector>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

// The positions [begin, begin + 2^log2_width).
struct Cell {
  PathPosition begin = 0;
  int log2_width = kPositionBits;
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
  // Cells in path order, without overlap. arms_followed = 0: units per arm are not followed.
  PathSummary(std::vector<Cell> cells, int log2_buckets, std::size_t arms_followed = 0);

  void add(const Hull& hull, std::size_t unit);
  void merge(const PathSummary& other);  // of the same cells

  const std::vector<Cell>& cells() const { return cells_; }
  std::size_t num_buckets() const { return std::size_t{1} << log2_buckets_; }  // a cell
  const PathSums& sums(std::size_t cell, std::size_t bucket) const { return sums_[cell * num_buckets() + bucket]; }
  // Change of the units of each arm.
  const std::int32_t* arm_change(std::size_t cell, std::size_t bucket) const {
    return arm_change_.data() + (cell * num_buckets() + bucket) * arms_followed_;
  }
  // The cell that a bucket is.
  Cell bucket_cell(std::size_t cell, std::size_t bucket) const;

 private:
  std::vector<Cell> cells_;
  int log2_buckets_;
  std::size_t arms_followed_;
  std::vector<PathSums> sums_;             // cells x buckets
  std::vector<std::int32_t> arm_change_;   // cells x buckets x arms
};

// The index of the cell that holds the position, if one does.
std::optional<std::size_t> find_cell(const std::vector<Cell>& cells, PathPosition position);

// The first bucket of the whole path: 64 buckets to a doubling of the efficiency.
inline constexpr int kFirstLog2Buckets = 17;

struct Summarised {
  PathSummary summary;
  Totals least = {};  // every unit at the start of its hull
  Totals control = {};
  double absolute_cost = 0.0;             // sum of |cost| at the start, for bounds on rounding
  std::vector<std::int64_t> least_units = {};  // per arm, at the start
  std::size_t num_units = 0;
};
// One pass over all units.
Summarised summarise(UnitPieces& pieces, const Rules& rules, const PathSummary& empty, core::RunContext& context);

}  // namespace dfcl::allocate
