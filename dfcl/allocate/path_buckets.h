// SPDX-License-Identifier: Apache-2.0
//
// The path in buckets of efficiency: how many increments fall into each, and what they add up to, exactly. Buckets of
// different units can be merged, so units can stream from disk in bounded memory or come from many machines: add a
// batch, merge, and cut the bucket of interest into buckets again until what is left can be sorted. A path is cut into
// cells and each cell into buckets of equal width in PathPosition, so that a million equal units are told apart by
// their keys. Memory: 64 bytes a bucket and 4 x arms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

// The positions [begin, end).
struct Cell {
  PathPosition begin = 0;
  PathPosition end = kPathEnd;

  PathPosition width() const { return end - begin; }
};

// Cells in path order, without overlap, each cut into 2^log2_buckets buckets that are numbered through. A bucket is
// found by a table over the leading bits of the efficiency.
class CellGrid {
 public:
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);

  CellGrid(std::vector<Cell> cells, int log2_buckets);
  std::size_t num_buckets() const { return cells_.size() << log2_buckets_; }
  const std::vector<Cell>& cells() const { return cells_; }
  int log2_buckets() const { return log2_buckets_; }
  Cell bucket_cell(std::size_t bucket) const;
  // The bucket that holds the position, or kOutside.
  std::size_t find(double efficiency, std::uint64_t key) const {
    const auto leading = static_cast<std::uint64_t>(position_of(efficiency, 0) >> 64);
    if (leading > table_begin_) {
      const std::uint64_t place = (leading - table_begin_) >> table_shift_;
      const Fast& fast = fast_[table_[std::min<std::uint64_t>(place, table_.size() - 1)]];
      if (leading - fast.begin < fast.width) return fast.first_bucket + ((leading - fast.begin) >> fast.shift);
    }
    return find(position_of(efficiency, key));
  }
  std::size_t find(PathPosition position) const {
    const auto cell =
        std::partition_point(cells_.begin(), cells_.end(), [&](const Cell& before) { return before.end <= position; });
    if (cell == cells_.end() || position < cell->begin) return kOutside;
    const auto index = static_cast<std::size_t>(cell - cells_.begin());
    return (index << log2_buckets_) + static_cast<std::size_t>((position - cell->begin) >> shifts_[index]);
  }

 private:
  // A cell whose buckets the efficiency alone tells apart.
  struct Fast {
    std::uint64_t begin = 0;
    std::uint64_t width = 0;  // 0: there is no such cell
    std::size_t first_bucket = 0;
    int shift = 0;
  };
  std::vector<Cell> cells_;
  std::vector<int> shifts_;  // per cell: bits of a bucket's width
  int log2_buckets_;
  std::uint64_t table_begin_ = 0;
  int table_shift_ = 0;
  std::vector<std::uint16_t> table_;  // the cell in which the place begins
  std::vector<Fast> fast_;            // per cell
};

// Float32 numbers as whole multiples of a power of two: exact for nearly all that are within 2^-29 and 2^10 of a usual
// size.
class FixedScale {
 public:
  explicit FixedScale(float largest_usual);
  static constexpr unsigned kMostPlace = 224;
  static FixedScale of_place(unsigned place);
  // False where the number is no such multiple.
  bool to_whole(float number, std::int64_t& whole) const {
    const double scaled = static_cast<double>(number) * factor_;
    if (!(std::abs(scaled) < 0x1p62)) return false;
    whole = static_cast<std::int64_t>(scaled);
    return static_cast<double>(whole) == scaled;
  }
  unsigned place() const { return place_; }  // of 1, in bits above 2^-149

 private:
  FixedScale() = default;

  unsigned place_ = 0;
  double factor_ = 1.0;
};

// What the increments of a bucket add up to.
struct alignas(64) BucketSums {
  SignedWide cost = 0;  // on the scale of costs
  SignedWide revenue = 0;
  double spend = 0.0;  // rounded, known when all is merged: tells where to look, never what a plan spends
  double least_cost = std::numeric_limits<double>::infinity();
  std::int64_t increments = 0;
};

// How a path is cut and counted.
struct BucketLayout {
  CellGrid grid;
  FixedScale cost;
  FixedScale revenue;

  void save(core::ByteWriter& bytes) const;
  // Throws Error where cells overlap, or there are more buckets than any of our layouts has.
  static BucketLayout load(core::ByteReader& bytes);
};

// What some units say of the path.
struct PathSample {
  std::vector<std::uint64_t> leading;  // parts of the positions of their increments, in any order
  float largest_cost = 0.0f;
  float largest_revenue = 0.0f;

  void add(const Hull& hull);
  void merge(const PathSample& other);
};
// The whole path, in cells of about as many increments each, as a sample has it. Any sample gives the same plans; a
// poor one takes more passes to find them.
BucketLayout layout_of(PathSample sample, int log2_buckets);
// The same, with as many buckets as so many units need.
BucketLayout layout_of_sample(const Units& units, const Prices& prices);

class PathBuckets {
 public:
  PathBuckets(BucketLayout layout, std::size_t num_arms);

  // Adds the increments of a unit that fall into the cells; calls on_bucket(bucket) for each, CellGrid::kOutside too.
  template <class OnBucket>
  void add(const Hull& hull, std::uint64_t key, OnBucket&& on_bucket) {
    Whole from = whole_of(hull.points[0]);
    for (std::size_t point = 1; point < hull.size; ++point) {
      const Whole to = whole_of(hull.points[point]);
      const std::size_t bucket = layout_.grid.find(hull.efficiency[point], key);
      on_bucket(bucket);
      if (bucket != CellGrid::kOutside) add_change(bucket, hull.points[point - 1], hull.points[point], from, to);
      from = to;
    }
  }
  // The same for one increment.
  void add(const Increment& increment, const Prices& prices);
  void merge(const PathBuckets& other);  // of the same layout
  // Call it after the last merge, before totals_before; then spends are known.
  void finish(const Prices& prices);

  // What lies in the buckets, about 72 bytes for each that is not empty; the same bytes for the same increments,
  // whatever they were merged from.
  void save(core::ByteWriter& bytes) const;
  // Of the same layout and number of arms. Throws Error.
  void load(core::ByteReader& bytes);

  const BucketLayout& layout() const { return layout_; }
  const CellGrid& grid() const { return layout_.grid; }
  const BucketSums& sums(std::size_t bucket) const { return sums_[bucket]; }
  // Of the increments in all buckets before this one.
  Totals totals_before(std::size_t bucket) const;

 private:
  static constexpr std::size_t kCheckpoint = 256;
  // What the scales cannot hold.
  struct Odd {
    ExactSum cost, revenue;
  };
  struct Whole {
    std::int64_t cost = 0;
    std::int64_t revenue = 0;
    bool fits = false;
  };
  Whole whole_of(const HullPoint& point) const {
    Whole whole;
    const bool cost_fits = layout_.cost.to_whole(static_cast<float>(point.cost), whole.cost);
    whole.fits = layout_.revenue.to_whole(point.revenue, whole.revenue) && cost_fits;
    return whole;
  }
  void add_change(std::size_t bucket, const HullPoint& from, const HullPoint& to, const Whole& whole_from,
                  const Whole& whole_to) {
    BucketSums& sums = sums_[bucket];
    if (whole_from.fits && whole_to.fits) {
      sums.cost += whole_to.cost - whole_from.cost;
      sums.revenue += whole_to.revenue - whole_from.revenue;
    } else {
      add_odd(bucket, from, to);
    }
    sums.least_cost = std::min(sums.least_cost, to.cost - from.cost);
    ++sums.increments;
    --arm_change_[bucket * num_arms_ + from.arm];
    ++arm_change_[bucket * num_arms_ + to.arm];
  }
  void add_odd(std::size_t bucket, const HullPoint& from, const HullPoint& to);
  void add_bucket(std::size_t bucket, Totals& totals) const;
  double rounded_spend(std::size_t bucket, const Prices& prices) const;

  BucketLayout layout_;
  std::size_t num_arms_;
  std::vector<BucketSums> sums_;
  std::vector<std::int32_t> arm_change_;  // buckets x arms: change of the units of each arm
  std::unordered_map<std::size_t, Odd> odd_;
  std::vector<Totals> checkpoints_;  // before every kCheckpoint-th bucket
};

// Which units have an increment in a bucket: what makes any budget fast once the path is in buckets. About 4.3 bytes an
// increment and 64 bytes a bucket.
class BucketUnits {
 public:
  explicit BucketUnits(std::size_t num_buckets) : last_(num_buckets, kNone) {}

  void add(std::size_t bucket, std::uint32_t unit) {
    std::uint32_t& last = last_[bucket];
    if (last == kNone || block(last).size == kBlockUnits) last = new_block(last);
    Block& open = block(last);
    open.units[open.size++] = unit;
  }
  template <class Body>
  void for_each(std::size_t bucket, Body&& body) const {
    for (std::uint32_t index = last_[bucket]; index != kNone; index = block(index).previous) {
      const Block& filled = block(index);
      for (std::uint32_t i = 0; i < filled.size; ++i) body(filled.units[i]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kBlockUnits = 30;
  static constexpr std::size_t kSlabBlocks = 2048;
  struct Block {
    std::uint32_t previous;
    std::uint32_t size;
    std::uint32_t units[kBlockUnits];
  };
  Block& block(std::uint32_t index) { return slabs_[index / kSlabBlocks][index % kSlabBlocks]; }
  const Block& block(std::uint32_t index) const { return slabs_[index / kSlabBlocks][index % kSlabBlocks]; }
  std::uint32_t new_block(std::uint32_t previous) {
    if (num_blocks_ % kSlabBlocks == 0) slabs_.emplace_back(new Block[kSlabBlocks]);
    Block& made = block(num_blocks_);
    made.previous = previous;
    made.size = 0;
    return num_blocks_++;
  }

  std::vector<std::uint32_t> last_;  // per bucket
  std::vector<std::unique_ptr<Block[]>> slabs_;
  std::uint32_t num_blocks_ = 0;
};

}  // namespace dfcl::allocate
