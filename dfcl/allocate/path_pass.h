// SPDX-License-Identifier: Apache-2.0
//
// What one pass over the units looks for, and what it finds in some of them. Findings merge: any cut of the units, over
// threads, batches or machines, and any order of merging give the same findings and, saved, the same bytes. So a path
// can be cut at a budget wherever the units are (bucketed_form.h asks, path_scans.h passes): a pass in bytes goes out,
// a PassPart in bytes comes back from each part of the units. Bytes are checked as hostile input. Memory: 64 bytes and
// 4 x arms a bucket, 48 bytes a collected increment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/allocate/path_buckets.h"

namespace dfcl::allocate {

// Which increments lie in some cells of the path; a table over the buckets of a grid tells most of them fast.
class CellFilter {
 public:
  // cells rise without overlap; the grid covers the whole path.
  CellFilter(const CellGrid& grid, std::span<const Cell> cells);

  bool may_want(std::size_t bucket) const { return first_cell_[bucket] != 0; }
  bool wants(PathPosition position, std::size_t bucket) const;
  // Buckets that a cell touches.
  std::span<const std::size_t> touched() const { return touched_; }

 private:
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> first_cell_;  // per bucket: the first cell that touches it, plus 1
  std::vector<std::uint8_t> inside_;       // per bucket: it lies inside that cell
  std::vector<std::size_t> touched_;
};

class PathPass {
 public:
  enum class Kind : std::uint8_t {
    sample,      // of efficiencies: a few thousand units will do
    arm_spends,  // costs of all units in each arm
    build,       // ends of the path, and all increments in buckets
    refine,      // the increments of one cell in buckets
    collect,     // the increments of some cells
    totals,      // what the increments of some cells add up to
  };

  static PathPass sample() { return PathPass(Kind::sample); }
  static PathPass arm_spends() { return PathPass(Kind::arm_spends); }
  static PathPass build(BucketLayout layout);
  // layout: of the whole path, as it was built.
  static PathPass refine(const BucketLayout& layout, const Cell& cell, int log2_buckets);
  static PathPass collect(const BucketLayout& layout, std::vector<Cell> cells);
  static PathPass totals(const BucketLayout& layout, std::vector<Cell> cells);

  Kind kind() const { return kind_; }
  const BucketLayout* layout() const { return layout_.get(); }  // null: none is needed
  std::span<const Cell> cells() const { return cells_; }
  const CellFilter* filter() const { return filter_.get(); }
  // Of what the pass fills: the layout, or that of the cell to refine.
  BucketLayout filled_layout() const;

  std::string to_bytes() const;
  // Throws Error of kind data.
  static PathPass from_bytes(std::string_view bytes);

 private:
  explicit PathPass(Kind kind) : kind_(kind) {}
  PathPass(Kind kind, const BucketLayout& layout, std::vector<Cell> cells, int log2_buckets);

  Kind kind_;
  std::shared_ptr<const BucketLayout> layout_;
  std::vector<Cell> cells_;
  int log2_buckets_ = 0;  // refine only
  std::shared_ptr<const CellFilter> filter_;
};

// What a pass found. The pass and the prices must outlive it.
class PassPart {
 public:
  PassPart(const PathPass& pass, const Rules& rules, const Prices& prices, std::size_t num_arms);

  // The units of these rows.
  void add(const Units& units, std::size_t begin, std::size_t end);
  // One unit of a pass over cells. only: of all its buckets, the one for which it is looked at; kOutside: all.
  void add_wanted(const Units& units, std::size_t row, std::size_t only = CellGrid::kOutside);
  // One unit of a building pass; calls on_bucket(bucket) for each of its increments.
  template <class OnBucket>
  void add_built(const Units& units, std::size_t row, OnBucket&& on_bucket) {
    build_hull(units, row, *prices_, hull_);
    ends_.add(units, row, hull_);
    buckets_->add(hull_, units.key(row), on_bucket);
  }
  // Of the same pass; the other is emptied.
  void merge(PassPart&& other);

  std::string to_bytes();
  // Of the same pass. Throws Error of kind data.
  void merge_bytes(std::string_view bytes);

  const PathEnds& ends() { return ends_.finish(); }
  PathBuckets take_buckets();  // finished
  std::vector<Increment> take_increments() { return std::move(increments_); }
  const Totals& totals() const { return totals_; }
  const PathSample& sample() const { return sample_; }
  const std::vector<ExactSum>& arm_costs() const { return arm_costs_; }
  std::size_t num_units() const { return num_units_; }  // that were looked at

 private:
  void add_increment(const Increment& increment);
  void save(core::ByteWriter& bytes);
  void load(core::ByteReader& bytes);
  void load_increments(core::ByteReader& bytes);

  const PathPass* pass_;
  const Rules* rules_;
  const Prices* prices_;
  std::size_t num_arms_;
  Hull hull_;
  PathEndsBuilder ends_;
  std::optional<PathBuckets> buckets_;  // build and refine
  std::vector<Increment> increments_;
  Totals totals_;
  PathSample sample_;
  std::vector<ExactSum> arm_costs_;
  std::size_t num_units_ = 0;
};

}  // namespace dfcl::allocate
