// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_buckets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

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

namespace {

struct Sample {
  std::vector<std::uint64_t> leading;  // parts of positions, sorted
  float largest_cost = 0.0f;
  float largest_revenue = 0.0f;
};

Sample draw_sample(const Units& units, const Prices& prices) {
  constexpr std::size_t kSample = 16'384;
  Sample sample;
  Hull hull;
  for (std::size_t i = 0; i < std::min(kSample, units.size()); ++i) {
    build_hull(units, core::mix_bits(i) % units.size(), prices, hull);
    for (std::size_t point = 0; point < hull.size; ++point) {
      sample.largest_cost = std::max(sample.largest_cost, std::abs(static_cast<float>(hull.points[point].cost)));
      sample.largest_revenue = std::max(sample.largest_revenue, std::abs(hull.points[point].revenue));
      if (point == 0) continue;
      sample.leading.push_back(static_cast<std::uint64_t>(position_of(hull.efficiency[point], 0) >> 64));
    }
  }
  std::sort(sample.leading.begin(), sample.leading.end());
  return sample;
}

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

BucketLayout layout_of_sample(const Units& units, const Prices& prices) {
  constexpr int kMostLog2Buckets = 10;  // what a thread writes to stays in its cache
  const Sample sample = draw_sample(units, prices);
  const int log2_buckets = std::clamp(static_cast<int>(std::bit_width(units.size())) - 11, 2, kMostLog2Buckets);
  return {CellGrid(cells_of(sample.leading), log2_buckets), FixedScale(sample.largest_cost),
          FixedScale(sample.largest_revenue)};
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
    sums_[i].spend += other.sums_[i].spend;
    sums_[i].least_cost = std::min(sums_[i].least_cost, other.sums_[i].least_cost);
    sums_[i].increments += other.sums_[i].increments;
  }
  for (std::size_t i = 0; i < arm_change_.size(); ++i) arm_change_[i] += other.arm_change_[i];
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

void PathBuckets::finish() {
  Totals totals;
  for (std::size_t bucket = 0; bucket < sums_.size(); ++bucket) {
    if (bucket % kCheckpoint == 0) checkpoints_.push_back(totals);
    add_bucket(bucket, totals);
  }
}

Totals PathBuckets::totals_before(std::size_t bucket) const {
  Totals totals = checkpoints_[bucket / kCheckpoint];
  for (std::size_t i = bucket - bucket % kCheckpoint; i < bucket; ++i) add_bucket(i, totals);
  return totals;
}

}  // namespace dfcl::allocate
