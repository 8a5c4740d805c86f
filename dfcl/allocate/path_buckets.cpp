// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_buckets.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "dfcl/core/hash.h"

namespace dfcl::allocate {

CellGrid::CellGrid(std::vector<Cell> cells, int log2_buckets) : cells_(std::move(cells)), log2_buckets_(log2_buckets) {
  for (const Cell& cell : cells_) {
    int bits = 0;  // of the cell's width
    while (bits < kPositionBits && (PathPosition{1} << bits) < cell.width()) ++bits;
    shifts_.push_back(std::max(0, bits - log2_buckets_));
  }
}

Cell CellGrid::bucket_cell(std::size_t bucket) const {
  const std::size_t index = bucket >> log2_buckets_;
  const std::size_t place = bucket & ((std::size_t{1} << log2_buckets_) - 1);
  const PathPosition begin = cells_[index].begin + (static_cast<PathPosition>(place) << shifts_[index]);
  return {begin, std::min(begin + (PathPosition{1} << shifts_[index]), cells_[index].end)};
}

CellGrid grid_of_sample(const Units& units, const Prices& prices) {
  constexpr std::size_t kSample = 16'384;
  constexpr std::size_t kTail = 1000;   // one increment in so many lies in each outer cell
  constexpr int kMostLog2Buckets = 12;  // what a thread writes to stays in its cache
  const int log2_buckets = std::clamp(static_cast<int>(std::bit_width(units.size())) - 2, 4, kMostLog2Buckets);
  std::vector<double> efficiency;
  Hull hull;
  for (std::size_t i = 0; i < std::min(kSample, units.size()); ++i) {
    build_hull(units, core::mix_bits(i) % units.size(), prices, hull);
    efficiency.insert(efficiency.end(), hull.efficiency.begin() + 1, hull.efficiency.begin() + hull.size);
  }
  if (efficiency.empty()) return {{Cell{}}, log2_buckets};
  std::sort(efficiency.begin(), efficiency.end(), std::greater<>());
  const std::size_t tail = efficiency.size() / kTail;
  const PathPosition begin = position_of(efficiency[tail], 0);
  const PathPosition end = position_of(efficiency[efficiency.size() - 1 - tail], 0) + (PathPosition{1} << 64);
  return {{{0, begin}, {begin, end}, {end, kPathEnd}}, log2_buckets};
}

PathBuckets::PathBuckets(CellGrid cell_grid, std::size_t num_arms)
    : grid_(std::move(cell_grid)), num_arms_(num_arms), sums_(grid_.num_buckets()) {
  arm_change_.resize(sums_.size() * num_arms_);
}

std::size_t PathBuckets::add(const Increment& increment) {
  const std::size_t bucket = grid_.find(position_of(increment));
  if (bucket == CellGrid::kOutside) return bucket;
  BucketSums& sums = sums_[bucket];
  sums.cost.add(increment.cost_to);
  sums.cost.subtract(increment.cost_from);
  sums.revenue.add(increment.revenue_to);
  sums.revenue.subtract(increment.revenue_from);
  sums.spend += increment.extra_cost;
  ++sums.increments;
  --arm_change_[bucket * num_arms_ + increment.arm_from];
  ++arm_change_[bucket * num_arms_ + increment.arm_to];
  return bucket;
}

void PathBuckets::merge(const PathBuckets& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (other.sums_[i].increments == 0) continue;
    sums_[i].cost.add(other.sums_[i].cost);
    sums_[i].revenue.add(other.sums_[i].revenue);
    sums_[i].spend += other.sums_[i].spend;
    sums_[i].increments += other.sums_[i].increments;
  }
  for (std::size_t i = 0; i < arm_change_.size(); ++i) arm_change_[i] += other.arm_change_[i];
}

void PathBuckets::add_bucket(std::size_t bucket, Totals& totals) const {
  if (sums_[bucket].increments == 0) return;
  totals.cost.add(sums_[bucket].cost);
  totals.revenue.add(sums_[bucket].revenue);
  for (std::size_t arm = 0; arm < num_arms_; ++arm) totals.units[arm] += arm_change_[bucket * num_arms_ + arm];
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
