// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_pass.h"

#include <algorithm>
#include <utility>

namespace dfcl::allocate {

CellFilter::CellFilter(const CellGrid& grid, std::span<const Cell> cells)
    : cells_(cells.begin(), cells.end()), first_cell_(grid.num_buckets()), inside_(grid.num_buckets()) {
  for (std::size_t index = cells_.size(); index-- > 0;) {
    for (std::size_t bucket = grid.find(cells_[index].end - 1); bucket + 1 > grid.find(cells_[index].begin); --bucket) {
      if (first_cell_[bucket] == 0) touched_.push_back(bucket);
      first_cell_[bucket] = static_cast<std::uint32_t>(index + 1);
      const Cell whole = grid.bucket_cell(bucket);
      inside_[bucket] = cells_[index].begin <= whole.begin && whole.end <= cells_[index].end ? 1 : 0;
    }
  }
}

bool CellFilter::wants(PathPosition position, std::size_t bucket) const {
  if (inside_[bucket] != 0) return true;
  for (std::size_t index = first_cell_[bucket] - 1; index < cells_.size(); ++index) {
    if (position < cells_[index].begin) return false;
    if (position < cells_[index].end) return true;
  }
  return false;
}

PathPass::PathPass(Kind kind, const BucketLayout& layout, std::vector<Cell> cells, int log2_buckets)
    : kind_(kind),
      layout_(std::make_shared<const BucketLayout>(layout)),
      cells_(std::move(cells)),
      log2_buckets_(log2_buckets),
      filter_(std::make_shared<const CellFilter>(layout_->grid, cells_)) {}

PathPass PathPass::build(BucketLayout layout) {
  PathPass pass(Kind::build);
  pass.layout_ = std::make_shared<const BucketLayout>(std::move(layout));
  return pass;
}

PathPass PathPass::refine(const BucketLayout& layout, const Cell& cell, int log2_buckets) {
  return PathPass(Kind::refine, layout, {cell}, log2_buckets);
}

PathPass PathPass::collect(const BucketLayout& layout, std::vector<Cell> cells) {
  return PathPass(Kind::collect, layout, std::move(cells), 0);
}

PathPass PathPass::totals(const BucketLayout& layout, std::vector<Cell> cells) {
  return PathPass(Kind::totals, layout, std::move(cells), 0);
}

BucketLayout PathPass::filled_layout() const {
  if (kind_ == Kind::build) return *layout_;
  return {CellGrid({cells_[0]}, log2_buckets_), layout_->cost, layout_->revenue};
}

PassPart::PassPart(const PathPass& pass, const Rules& rules, const Prices& prices, std::size_t num_arms)
    : pass_(&pass), rules_(&rules), prices_(&prices), num_arms_(num_arms), ends_(rules.control) {
  const bool fills = pass.kind() == PathPass::Kind::build || pass.kind() == PathPass::Kind::refine;
  if (fills) buckets_.emplace(pass.filled_layout(), num_arms);
  if (pass.kind() == PathPass::Kind::arm_spends) arm_costs_.resize(num_arms);
}

void PassPart::add(const Units& units, std::size_t begin, std::size_t end) {
  num_units_ += end - begin;
  for (std::size_t row = begin; row < end; ++row) {
    switch (pass_->kind()) {
      case PathPass::Kind::sample:
        build_hull(units, row, *prices_, hull_);
        sample_.add(hull_);
        break;
      case PathPass::Kind::arm_spends:
        for (std::size_t arm = 0; arm < num_arms_; ++arm) arm_costs_[arm].add(units.cost(row, arm));
        break;
      case PathPass::Kind::build: add_built(units, row, [](std::size_t) {}); break;
      default: add_wanted(units, row);
    }
  }
}

void PassPart::add_wanted(const Units& units, std::size_t row, std::size_t only) {
  const CellGrid& grid = pass_->layout()->grid;
  const CellFilter& filter = *pass_->filter();
  build_hull(units, row, *prices_, hull_);
  for (std::size_t point = 1; point < hull_.size; ++point) {
    const std::size_t bucket = grid.find(hull_.efficiency[point], units.key(row));
    if (!filter.may_want(bucket) || (only != CellGrid::kOutside && bucket != only)) continue;
    if (!filter.wants(position_of(hull_.efficiency[point], units.key(row)), bucket)) continue;
    add_increment(increment_of(hull_, point, units.first_unit + row, units.key(row)));
  }
}

void PassPart::add_increment(const Increment& increment) {
  if (pass_->kind() == PathPass::Kind::refine) {
    buckets_->add(increment, *prices_);
  } else if (pass_->kind() == PathPass::Kind::collect) {
    increments_.push_back(increment);
  } else {
    totals_.take(increment);
  }
}

void PassPart::merge(PassPart&& other) {
  if (pass_->kind() == PathPass::Kind::build) ends_.add(other.ends_.finish());
  if (buckets_) buckets_->merge(*other.buckets_);
  if (increments_.empty()) {
    increments_ = std::move(other.increments_);
  } else {
    increments_.insert(increments_.end(), other.increments_.begin(), other.increments_.end());
  }
  totals_.add(other.totals_);
  sample_.merge(other.sample_);
  for (std::size_t arm = 0; arm < arm_costs_.size(); ++arm) arm_costs_[arm].add(other.arm_costs_[arm]);
  num_units_ += other.num_units_;
}

PathBuckets PassPart::take_buckets() {
  buckets_->finish(*prices_);
  return std::move(*buckets_);
}

}  // namespace dfcl::allocate
