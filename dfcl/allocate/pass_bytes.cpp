// SPDX-License-Identifier: Apache-2.0
//
// Passes and their findings as bytes. Both begin with eight letters and end with a checksum.
#include <algorithm>
#include <cmath>

#include "dfcl/allocate/path_pass.h"

namespace dfcl::allocate {
namespace {

constexpr std::uint64_t kPassLetters = 0x3173736170666364u;  // "dcfpass1"
constexpr std::uint64_t kPartLetters = 0x3174726170666364u;  // "dcfpart1"
constexpr std::size_t kIncrementBytes = 42;

bool over_cells(PathPass::Kind kind) { return kind >= PathPass::Kind::refine; }

}  // namespace

std::string PathPass::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kPassLetters);
  bytes.write(kind_);
  if (layout_ != nullptr) layout_->save(bytes);
  if (over_cells(kind_)) {
    bytes.write(static_cast<std::int32_t>(log2_buckets_));
    bytes.write_count(cells_.size());
    for (const Cell& cell : cells_) {
      bytes.write(cell.begin);
      bytes.write(cell.end);
    }
  }
  return std::move(bytes).seal();
}

PathPass PathPass::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "a pass over the units");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kPassLetters, "these bytes are no pass");
  const auto kind = static_cast<Kind>(bytes.read<std::uint8_t>());
  bytes.require(kind <= Kind::totals, "a pass of no kind");
  if (kind == Kind::sample || kind == Kind::arm_spends) {
    bytes.end();
    return PathPass(kind);
  }
  BucketLayout layout = BucketLayout::load(bytes);
  bytes.require(layout.grid.cells().front().begin == 0 && layout.grid.cells().back().end == kPathEnd,
                "a layout that does not cover the path");
  for (std::size_t i = 1; i < layout.grid.cells().size(); ++i) {
    bytes.require(layout.grid.cells()[i].begin == layout.grid.cells()[i - 1].end, "a layout with gaps");
  }
  if (kind == Kind::build) {
    bytes.end();
    return build(std::move(layout));
  }
  const auto log2_buckets = bytes.read<std::int32_t>();
  bytes.require(log2_buckets >= 0 && log2_buckets <= 20, "too many buckets");
  std::vector<Cell> cells(bytes.read_count(2 * sizeof(PathPosition)));
  PathPosition end = 0;
  for (Cell& cell : cells) {
    cell.begin = bytes.read<PathPosition>();
    cell.end = bytes.read<PathPosition>();
    bytes.require(cell.begin >= end && cell.begin < cell.end && cell.end <= kPathEnd, "cells that overlap");
    end = cell.end;
  }
  bytes.require(kind != Kind::refine || cells.size() == 1, "one cell is refined at a time");
  bytes.end();
  return PathPass(kind, layout, std::move(cells), log2_buckets);
}

std::string PassPart::to_bytes() {
  core::ByteWriter bytes;
  bytes.write(kPartLetters);
  bytes.write(core::hash_text(pass_->to_bytes()));
  bytes.write_count(num_arms_);
  bytes.write_count(num_units_);
  save(bytes);
  return std::move(bytes).seal();
}

void PassPart::save(core::ByteWriter& bytes) {
  switch (pass_->kind()) {
    case PathPass::Kind::sample:
      std::sort(sample_.leading.begin(), sample_.leading.end());
      bytes.write(sample_.largest_cost);
      bytes.write(sample_.largest_revenue);
      bytes.write_count(sample_.leading.size());
      for (const std::uint64_t leading : sample_.leading) bytes.write(leading);
      return;
    case PathPass::Kind::arm_spends:
      for (const ExactSum& sum : arm_costs_) sum.save(bytes);
      return;
    case PathPass::Kind::build:
      ends_.finish().save(bytes, num_arms_);
      buckets_->save(bytes);
      return;
    case PathPass::Kind::refine: buckets_->save(bytes); return;
    case PathPass::Kind::totals: totals_.save(bytes, num_arms_); return;
    case PathPass::Kind::collect:
      std::sort(increments_.begin(), increments_.end(), before);
      bytes.write_count(increments_.size());
      for (const Increment& increment : increments_) {
        bytes.write(increment.efficiency);
        bytes.write(increment.key);
        bytes.write(increment.previous);
        for (const float number :
             {increment.cost_from, increment.cost_to, increment.revenue_from, increment.revenue_to}) {
          bytes.write(number);
        }
        bytes.write(increment.arm_from);
        bytes.write(increment.arm_to);
      }
  }
}

void PassPart::merge_bytes(std::string_view text) {
  core::ByteReader bytes(text, "findings of a pass");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kPartLetters, "these bytes are no findings of a pass");
  bytes.require(bytes.read<std::uint64_t>() == core::hash_text(pass_->to_bytes()), "findings of another pass");
  bytes.require(bytes.read<std::uint64_t>() == num_arms_, "findings for other arms");
  PassPart other(*pass_, *rules_, *prices_, num_arms_);
  other.num_units_ = bytes.read<std::uint64_t>();
  bytes.require(other.num_units_ < 0x80000000u && num_units_ + other.num_units_ < 0x80000000u, "2^31 units or more");
  other.load(bytes);
  bytes.end();
  merge(std::move(other));
}

void PassPart::load(core::ByteReader& bytes) {
  switch (pass_->kind()) {
    case PathPass::Kind::sample:
      sample_.largest_cost = bytes.read<float>();
      sample_.largest_revenue = bytes.read<float>();
      bytes.require(sample_.largest_cost >= 0.0f && std::isfinite(sample_.largest_cost) &&
                        sample_.largest_revenue >= 0.0f && std::isfinite(sample_.largest_revenue),
                    "a sample that cannot be");
      sample_.leading.resize(bytes.read_count(sizeof(std::uint64_t)));
      for (std::uint64_t& leading : sample_.leading) {
        leading = bytes.read<std::uint64_t>();
        bytes.require(leading > 0 && leading < 0x7ff0000000000000u, "an efficiency that is none");
      }
      return;
    case PathPass::Kind::arm_spends:
      for (ExactSum& sum : arm_costs_) sum = ExactSum::load(bytes);
      return;
    case PathPass::Kind::build:
      ends_.add(PathEnds::load(bytes, num_arms_));
      bytes.require(ends_.finish().num_units == num_units_, "sums of other units");
      buckets_->load(bytes);
      return;
    case PathPass::Kind::refine: buckets_->load(bytes); return;
    case PathPass::Kind::totals: totals_ = Totals::load(bytes, num_arms_); return;
    case PathPass::Kind::collect: load_increments(bytes);
  }
}

void PassPart::load_increments(core::ByteReader& bytes) {
  increments_.resize(bytes.read_count(kIncrementBytes));
  for (Increment& increment : increments_) {
    increment.efficiency = bytes.read<double>();
    increment.key = bytes.read<std::uint64_t>();
    increment.previous = bytes.read<double>();
    for (float* number : {&increment.cost_from, &increment.cost_to, &increment.revenue_from, &increment.revenue_to}) {
      *number = bytes.read<float>();
      bytes.require(std::isfinite(*number), "a number that is not finite");
    }
    increment.unit = kUnitElsewhere;
    increment.arm_from = bytes.read<std::uint8_t>();
    increment.arm_to = bytes.read<std::uint8_t>();
    bytes.require(std::isfinite(increment.efficiency) && increment.efficiency > 0.0 &&
                      increment.previous > increment.efficiency && increment.arm_from < num_arms_ &&
                      increment.arm_to < num_arms_,
                  "an increment that cannot be");
  }
}

}  // namespace dfcl::allocate
