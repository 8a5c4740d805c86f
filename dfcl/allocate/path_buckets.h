// SPDX-License-Identifier: Apache-2.0
//
// The path in buckets of efficiency: how many increments fall into each, and what they add up to, exactly. Buckets of
// different units can be merged, so units can stream from disk in bounded memory or come from many machines: add a
// batch, merge, and cut the bucket of interest into buckets again until what is left can be sorted. A path is cut into
// cells and each cell into buckets of equal width in PathPosition, so that a million equal units are told apart by
// their keys. Memory: 176 bytes a bucket and 4 x arms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

// The positions [begin, end).
struct Cell {
  PathPosition begin = 0;
  PathPosition end = kPathEnd;

  PathPosition width() const { return end - begin; }
};

// Cells in path order, without overlap, each cut into 2^log2_buckets buckets that are numbered through.
class CellGrid {
 public:
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);

  CellGrid(std::vector<Cell> cells, int log2_buckets);
  std::size_t num_buckets() const { return cells_.size() << log2_buckets_; }
  Cell bucket_cell(std::size_t bucket) const;
  // The bucket that holds the position, or kOutside.
  std::size_t find(PathPosition position) const {
    std::size_t cell = cells_.size();
    while (cell > 0 && position < cells_[cell - 1].begin) --cell;
    if (cell == 0 || position >= cells_[cell - 1].end) return kOutside;
    const auto offset = static_cast<std::size_t>((position - cells_[cell - 1].begin) >> shifts_[cell - 1]);
    return ((cell - 1) << log2_buckets_) + offset;
  }

 private:
  std::vector<Cell> cells_;
  std::vector<int> shifts_;  // per cell: bits of a bucket's width
  int log2_buckets_;
};

// The whole path in three cells: the middle one holds nearly all increments, as a sample of the units has it. Any
// sample gives the same plans; a poor one takes more passes to find them.
CellGrid grid_of_sample(const Units& units, const Prices& prices);

// What the increments of a bucket add up to.
struct BucketSums {
  ExactSum cost;
  ExactSum revenue;
  double spend = 0.0;  // rounded: tells where to look, never what a plan spends
  std::int64_t increments = 0;
};

class PathBuckets {
 public:
  PathBuckets(CellGrid cell_grid, std::size_t num_arms);

  // Adds what falls into the cells; returns the bucket, or CellGrid::kOutside.
  std::size_t add(const Increment& increment);
  void merge(const PathBuckets& other);  // of the same grid
  // Call it after the last merge, before totals_before.
  void finish();

  const CellGrid& grid() const { return grid_; }
  const BucketSums& sums(std::size_t bucket) const { return sums_[bucket]; }
  // Of the increments in all buckets before this one.
  Totals totals_before(std::size_t bucket) const;

 private:
  static constexpr std::size_t kCheckpoint = 1024;
  void add_bucket(std::size_t bucket, Totals& totals) const;

  CellGrid grid_;
  std::size_t num_arms_;
  std::vector<BucketSums> sums_;
  std::vector<std::int32_t> arm_change_;  // buckets x arms: change of the units of each arm
  std::vector<Totals> checkpoints_;       // before every kCheckpoint-th bucket
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
