// SPDX-License-Identifier: Apache-2.0
//
// The path in buckets of efficiency: how many increments fall into each, and what they add up to, exactly. Buckets of
// different units can be merged, so units can stream from disk in bounded memory or come from many machines: add a
// batch, merge, and cut the bucket of interest into buckets again until what is left can be sorted. A path is cut into
// cells and each cell into buckets of equal width in PathPosition, so that a million equal units are told apart by
// their keys. Memory: 64 bytes a bucket and 4 x arms.
#pragma once

#include <algorithm>
#include <bit>
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
  Cell bucket_cell(std::size_t bucket) const;
  // The bucket that holds the position, or kOutside.
  std::size_t find(PathPosition position) const {
    std::size_t cell = table_[table_place(static_cast<std::uint64_t>(position >> 64))];
    while (cell < cells_.size() && position >= cells_[cell].end) ++cell;
    if (cell == cells_.size() || position < cells_[cell].begin) return kOutside;
    return (cell << log2_buckets_) + static_cast<std::size_t>((position - cells_[cell].begin) >> shifts_[cell]);
  }

 private:
  std::size_t table_place(std::uint64_t leading) const {
    if (leading <= table_begin_) return 0;
    return static_cast<std::size_t>(
        std::min<std::uint64_t>((leading - table_begin_) >> table_shift_, table_.size() - 1));
  }

  std::vector<Cell> cells_;
  std::vector<int> shifts_;  // per cell: bits of a bucket's width
  int log2_buckets_;
  std::uint64_t table_begin_ = 0;
  int table_shift_ = 0;
  std::vector<std::uint16_t> table_;  // the first cell that does not end before the place
};

// Float32 numbers as whole ones of 128 bits: exact for those within 2^-59 and 2^8 of a usual size, which sum up to 2^34
// times.
class FixedScale {
 public:
  explicit FixedScale(float largest_usual);
  // Adds to - from; false, and nothing, where one of them is beyond the scale.
  bool add_change(float from, float to, SignedWide& sum) const {
    SignedWide whole_from = 0;
    SignedWide whole_to = 0;
    if (!to_whole(from, whole_from) || !to_whole(to, whole_to)) return false;
    sum += whole_to - whole_from;
    return true;
  }
  unsigned place() const { return place_; }  // of 1, in bits above 2^-149

 private:
  bool to_whole(float number, SignedWide& whole) const {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t exponent = (bits >> 23) & 255u;
    const std::int64_t mantissa = (bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u);
    const std::uint32_t above = (exponent != 0 ? exponent - 1 : 0) - place_;
    const std::int64_t sign = -static_cast<std::int64_t>(bits >> 31);
    whole = static_cast<SignedWide>((mantissa ^ sign) - sign) << (above & 127u);
    return above <= kMostAbove || mantissa == 0;
  }
  static constexpr std::uint32_t kMostAbove = 68;  // + 24 of the number + 35 of the sum
  std::uint32_t place_ = 0;
};

// What the increments of a bucket add up to.
struct alignas(64) BucketSums {
  SignedWide cost = 0;  // on the scale of costs
  SignedWide revenue = 0;
  double spend = 0.0;  // rounded: tells where to look, never what a plan spends
  double least_cost = std::numeric_limits<double>::infinity();
  std::int64_t increments = 0;
};

// How a path is cut and counted.
struct BucketLayout {
  CellGrid grid;
  FixedScale cost;
  FixedScale revenue;
};

// The whole path, in cells of about as many increments each, as a sample of the units has it. Any sample gives the same
// plans; a poor one takes more passes to find them.
BucketLayout layout_of_sample(const Units& units, const Prices& prices);

class PathBuckets {
 public:
  PathBuckets(BucketLayout layout, std::size_t num_arms);

  // Adds what falls into the cells; returns the bucket, or CellGrid::kOutside.
  std::size_t add(const Increment& increment, double extra_cost);
  void merge(const PathBuckets& other);  // of the same layout
  // Call it after the last merge, before totals_before.
  void finish();

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
  void add_bucket(std::size_t bucket, Totals& totals) const;

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
