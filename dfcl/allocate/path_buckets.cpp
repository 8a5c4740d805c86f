// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::allocate {

CellGrid::CellGrid(std::vector<Cell> cells, int log2_buckets) : cells_(std::move(cells)), log2_buckets_(log2_buckets) {
  constexpr std::size_t kTable = 1024;
  for (const Cell& cell : cells_) {
    int bits = 0;  // of the cell's width
    while (bits < kPositionBits && (PathPosition{1} << bits) < cell.width()) ++bits;
    shifts_.push_back(std::max(0, bits - log2_buckets_));
  }
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    Fast fast;
    if (shifts_[cell] >= 64 && static_cast<std::uint64_t>(cells_[cell].begin) == 0) {
      fast = {static_cast<std::uint64_t>(cells_[cell].begin >> 64),
              static_cast<std::uint64_t>(cells_[cell].width() >> 64), cell << log2_buckets_, shifts_[cell] - 64};
    }
    fast_.push_back(fast);
  }
  // Over all cells but the outermost, which are wide and nearly empty.
  if (cells_.size() < 3) {
    table_begin_ = static_cast<std::uint64_t>(-1);
    return;
  }
  table_begin_ = static_cast<std::uint64_t>(cells_.front().end >> 64);
  const std::uint64_t width = static_cast<std::uint64_t>(cells_.back().begin >> 64) - table_begin_;
  while ((width >> table_shift_) >= kTable) ++table_shift_;
  std::size_t cell = 0;
  for (std::uint64_t place = 0; place <= width >> table_shift_; ++place) {
    const PathPosition begin = static_cast<PathPosition>(table_begin_ + (place << table_shift_)) << 64;
    while (cells_[cell].end <= begin) ++cell;
    table_.push_back(static_cast<std::uint16_t>(cell));
  }
}

Cell CellGrid::bucket_cell(std::size_t bucket) const {
  const std::size_t index = bucket >> log2_buckets_;
  const std::size_t place = bucket & ((std::size_t{1} << log2_buckets_) - 1);
  const PathPosition begin = cells_[index].begin + (static_cast<PathPosition>(place) << shifts_[index]);
  return {begin, std::min(begin + (PathPosition{1} << shifts_[index]), cells_[index].end)};
}

FixedScale::FixedScale(float largest_usual) {
  constexpr int kBitsBelow = 52;  // of the largest usual number, which leaves 10 above it
  const int exponent = largest_usual > 0.0f ? std::ilogb(largest_usual) : 0;
  const int lowest = std::max(-149, exponent - kBitsBelow);
  place_ = static_cast<unsigned>(lowest + 149);
  factor_ = std::ldexp(1.0, -lowest);
}

FixedScale FixedScale::of_place(unsigned place) {
  FixedScale scale;
  scale.place_ = place;
  scale.factor_ = std::ldexp(1.0, 149 - static_cast<int>(place));
  return scale;
}

void BucketLayout::save(core::ByteWriter& bytes) const {
  bytes.write(static_cast<std::int32_t>(grid.log2_buckets()));
  bytes.write_count(grid.cells().size());
  for (const Cell& cell : grid.cells()) {
    bytes.write(cell.begin);
    bytes.write(cell.end);
  }
  bytes.write(static_cast<std::uint32_t>(cost.place()));
  bytes.write(static_cast<std::uint32_t>(revenue.place()));
}

BucketLayout BucketLayout::load(core::ByteReader& bytes) {
  constexpr std::size_t kMostCells = 4096;
  constexpr std::size_t kMostBuckets = std::size_t{1} << 20;
  const auto log2_buckets = bytes.read<std::int32_t>();
  std::vector<Cell> cells(bytes.read_count(2 * sizeof(PathPosition)));
  bytes.require(!cells.empty() && cells.size() <= kMostCells && log2_buckets >= 0 && log2_buckets <= 20 &&
                    cells.size() << log2_buckets <= kMostBuckets,
                "a layout of no or too many buckets");
  PathPosition end = 0;
  for (Cell& cell : cells) {
    cell.begin = bytes.read<PathPosition>();
    cell.end = bytes.read<PathPosition>();
    // Only the first cell may be empty: it holds what is more efficient than all of the sample.
    const bool is_first = &cell == &cells.front();
    bytes.require(
        cell.begin >= end && cell.end <= kPathEnd && (cell.begin < cell.end || (is_first && cell.begin == cell.end)),
        "cells that overlap");
    end = cell.end;
  }
  const auto cost = bytes.read<std::uint32_t>();
  const auto revenue = bytes.read<std::uint32_t>();
  bytes.require(cost <= FixedScale::kMostPlace && revenue <= FixedScale::kMostPlace, "a scale that is no scale");
  return {CellGrid(std::move(cells), log2_buckets), FixedScale::of_place(cost), FixedScale::of_place(revenue)};
}

void PathSample::add(const Hull& hull) {
  for (std::size_t point = 0; point < hull.size; ++point) {
    largest_cost = std::max(largest_cost, std::abs(static_cast<float>(hull.points[point].cost)));
    largest_revenue = std::max(largest_revenue, std::abs(hull.points[point].revenue));
    if (point == 0) continue;
    leading.push_back(static_cast<std::uint64_t>(position_of(hull.efficiency[point], 0) >> 64));
  }
}

void PathSample::merge(const PathSample& other) {
  leading.insert(leading.end(), other.leading.begin(), other.leading.end());
  largest_cost = std::max(largest_cost, other.largest_cost);
  largest_revenue = std::max(largest_revenue, other.largest_revenue);
}

namespace {

// Cells that hold about as much of the sample each, and two for what lies beyond nearly all of it.
std::vector<Cell> cells_of(const std::vector<std::uint64_t>& sample) {
  constexpr std::size_t kTail = 1000;  // one increment in so many lies in each outermost cell
  constexpr std::size_t kCells = 16;
  if (sample.empty()) return {Cell{}};
  const auto position = [](std::uint64_t leading) { return static_cast<PathPosition>(leading) << 64; };
  const std::size_t tail = sample.size() / kTail;
  const std::size_t share = sample.size() / kCells + 1;
  const std::uint64_t last = sample[sample.size() - 1 - tail];
  std::uint64_t begin = sample[tail];
  std::vector<Cell> cells = {{0, position(begin)}};
  while (begin <= last) {
    const auto from = static_cast<std::size_t>(std::lower_bound(sample.begin(), sample.end(), begin) - sample.begin());
    std::uint64_t end = from + share < sample.size() ? std::max(sample[from + share], begin + 1) : last + 1;
    // Buckets are as wide as a power of two: where a cell of such a width is not much emptier, none stays unused.
    const std::uint64_t even_end = begin + std::bit_floor(end - begin);
    const auto inside =
        static_cast<std::size_t>(std::lower_bound(sample.begin(), sample.end(), even_end) - sample.begin()) - from;
    if (2 * inside >= share) end = even_end;
    cells.push_back({position(begin), position(end)});
    begin = end;
  }
  cells.push_back({cells.back().end, kPathEnd});
  return cells;
}

}  // namespace

BucketLayout layout_of(PathSample sample, int log2_buckets) {
  std::sort(sample.leading.begin(), sample.leading.end());
  return {CellGrid(cells_of(sample.leading), log2_buckets), FixedScale(sample.largest_cost),
          FixedScale(sample.largest_revenue)};
}

BucketLayout layout_of_sample(const Units& units, const Prices& prices) {
  constexpr std::size_t kSample = 16'384;
  constexpr int kMostLog2Buckets = 10;  // what a thread writes to stays in its cache
  PathSample sample;
  Hull hull;
  for (std::size_t i = 0; i < std::min(kSample, units.size()); ++i) {
    build_hull(units, core::mix_bits(i) % units.size(), prices, hull);
    sample.add(hull);
  }
  return layout_of(std::move(sample),
                   std::clamp(static_cast<int>(std::bit_width(units.size())) - 11, 2, kMostLog2Buckets));
}

PathBuckets::PathBuckets(BucketLayout layout, std::size_t num_arms)
    : layout_(std::move(layout)), num_arms_(num_arms), sums_(layout_.grid.num_buckets()) {
  arm_change_.resize(sums_.size() * num_arms_);
}

void PathBuckets::add(const Increment& increment, const Prices& prices) {
  const std::size_t bucket = layout_.grid.find(increment.efficiency, increment.key);
  if (bucket == CellGrid::kOutside) return;
  const double* known = prices.known();
  const HullPoint from{known == nullptr ? static_cast<double>(increment.cost_from) : known[increment.arm_from],
                       increment.revenue_from, increment.arm_from};
  const HullPoint to{known == nullptr ? static_cast<double>(increment.cost_to) : known[increment.arm_to],
                     increment.revenue_to, increment.arm_to};
  add_change(bucket, from, to, whole_of(from), whole_of(to));
}

void PathBuckets::add_odd(std::size_t bucket, const HullPoint& from, const HullPoint& to) {
  Odd& odd = odd_[bucket];
  odd.cost.add(static_cast<float>(to.cost));
  odd.cost.subtract(static_cast<float>(from.cost));
  odd.revenue.add(to.revenue);
  odd.revenue.subtract(from.revenue);
}

void PathBuckets::merge(const PathBuckets& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (other.sums_[i].increments == 0) continue;
    sums_[i].cost += other.sums_[i].cost;
    sums_[i].revenue += other.sums_[i].revenue;
    sums_[i].least_cost = std::min(sums_[i].least_cost, other.sums_[i].least_cost);
    sums_[i].increments += other.sums_[i].increments;
  }
  for (std::size_t i = 0; i < arm_change_.size(); ++i) {
    if (__builtin_add_overflow(arm_change_[i], other.arm_change_[i], &arm_change_[i]))
      throw core::Error({.kind = core::ErrorKind::file, .what = "findings of more units than can be"});
  }
  for (const auto& [bucket, odd] : other.odd_) {
    odd_[bucket].cost.add(odd.cost);
    odd_[bucket].revenue.add(odd.revenue);
  }
}

void PathBuckets::add_bucket(std::size_t bucket, Totals& totals) const {
  if (sums_[bucket].increments == 0) return;
  totals.cost.add(sums_[bucket].cost, layout_.cost.place());
  totals.revenue.add(sums_[bucket].revenue, layout_.revenue.place());
  for (std::size_t arm = 0; arm < num_arms_; ++arm) totals.units[arm] += arm_change_[bucket * num_arms_ + arm];
  if (odd_.empty()) return;
  if (const auto odd = odd_.find(bucket); odd != odd_.end()) {
    totals.cost.add(odd->second.cost);
    totals.revenue.add(odd->second.revenue);
  }
}

double PathBuckets::rounded_spend(std::size_t bucket, const Prices& prices) const {
  if (const double* known = prices.known()) {
    double spend = 0.0;
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      spend += static_cast<double>(arm_change_[bucket * num_arms_ + arm]) * known[arm];
    }
    return spend;
  }
  const double spend =
      std::ldexp(static_cast<double>(sums_[bucket].cost), static_cast<int>(layout_.cost.place()) - 149);
  if (odd_.empty()) return spend;
  const auto odd = odd_.find(bucket);
  return odd == odd_.end() ? spend : spend + odd->second.cost.value();
}

void PathBuckets::finish(const Prices& prices) {
  Totals totals;
  for (std::size_t bucket = 0; bucket < sums_.size(); ++bucket) {
    if (bucket % kCheckpoint == 0) checkpoints_.push_back(totals);
    if (sums_[bucket].increments == 0) continue;
    sums_[bucket].spend = rounded_spend(bucket, prices);
    add_bucket(bucket, totals);
  }
}

void PathBuckets::save(core::ByteWriter& bytes) const {
  std::size_t filled = 0;
  for (const BucketSums& sums : sums_) filled += sums.increments > 0 ? 1 : 0;
  bytes.write_count(filled);
  for (std::size_t bucket = 0; bucket < sums_.size(); ++bucket) {
    const BucketSums& sums = sums_[bucket];
    if (sums.increments == 0) continue;
    const auto odd = odd_.find(bucket);
    // The lowest bit says whether sums that the scales cannot hold follow.
    bytes.write(static_cast<std::uint32_t>(2 * bucket + (odd != odd_.end() ? 1 : 0)));
    bytes.write(sums.cost);
    bytes.write(sums.revenue);
    bytes.write(sums.least_cost);
    bytes.write(sums.increments);
    for (std::size_t arm = 0; arm < num_arms_; ++arm) bytes.write(arm_change_[bucket * num_arms_ + arm]);
    if (odd == odd_.end()) continue;
    odd->second.cost.save(bytes);
    odd->second.revenue.save(bytes);
  }
}

void PathBuckets::load(core::ByteReader& bytes) {
  constexpr std::int64_t kMostIncrements = std::int64_t{1} << 40;
  constexpr SignedWide kMostSum = SignedWide{1} << 110;  // room to merge
  const std::size_t bytes_each = 52 + 4 * num_arms_;
  const std::size_t filled = bytes.read_count(bytes_each);
  std::size_t next = 0;  // the lowest bucket that may come
  for (std::size_t i = 0; i < filled; ++i) {
    const auto place = bytes.read<std::uint32_t>();
    const std::size_t bucket = place / 2;
    bytes.require(bucket >= next && bucket < sums_.size(), "buckets that are no buckets of the layout");
    next = bucket + 1;
    BucketSums& sums = sums_[bucket];
    sums.cost = bytes.read<SignedWide>();
    sums.revenue = bytes.read<SignedWide>();
    sums.least_cost = bytes.read<double>();
    sums.increments = bytes.read<std::int64_t>();
    bytes.require(sums.cost > -kMostSum && sums.cost < kMostSum && sums.revenue > -kMostSum &&
                      sums.revenue < kMostSum && std::isfinite(sums.least_cost) && sums.increments > 0 &&
                      sums.increments < kMostIncrements,
                  "sums of a bucket that cannot be");
    std::int64_t balance = 0;  // units leave one arm for another
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      arm_change_[bucket * num_arms_ + arm] = bytes.read<std::int32_t>();
      balance += arm_change_[bucket * num_arms_ + arm];
    }
    bytes.require(balance == 0, "units per arm that do not balance");
    if (place % 2 == 0) continue;
    Odd& odd = odd_[bucket];
    odd.cost = ExactSum::load(bytes);
    odd.revenue = ExactSum::load(bytes);
  }
}

Totals PathBuckets::totals_before(std::size_t bucket) const {
  Totals totals = checkpoints_[bucket / kCheckpoint];
  for (std::size_t i = bucket - bucket % kCheckpoint; i < bucket; ++i) add_bucket(i, totals);
  return totals;
}

}  // namespace dfcl::allocate
