// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_forms.h"

#include <algorithm>
#include <mutex>

namespace dfcl::allocate {
namespace {

// More increments than this are not sorted to find a cut: their buckets are cut again.
constexpr std::int64_t kSortAtMost = 1'000'000;
constexpr int kRefineLog2Buckets = 14;
constexpr std::size_t kMostBuilders = 8;

// The first increments of the path from a place on, from any thread in any order: the set does not depend on it. Keeps
// at most twice as many as asked for.
class FirstIncrements {
 public:
  explicit FirstIncrements(std::size_t at_most) : at_most_(at_most) {}

  void offer(std::vector<Increment>& increments) {
    const std::lock_guard lock(mutex_);
    for (const Increment& increment : increments) {
      if (!dropped_ || before(increment, limit_)) kept_.push_back(increment);
    }
    increments.clear();
    if (kept_.size() >= 2 * at_most_ + 1024) prune();
  }
  // Sorted; true where none was dropped.
  bool finish(std::vector<Increment>& sorted, core::RunContext& context) {
    prune();
    sort_path(kept_, context);
    sorted = std::move(kept_);
    return !dropped_;
  }

 private:
  void prune() {
    if (kept_.size() <= at_most_) return;
    const auto nth = kept_.begin() + static_cast<std::ptrdiff_t>(at_most_);
    std::nth_element(kept_.begin(), nth, kept_.end(), before);
    limit_ = *nth;
    dropped_ = true;
    kept_.erase(nth, kept_.end());
  }

  std::mutex mutex_;
  std::size_t at_most_;
  std::vector<Increment> kept_;
  Increment limit_{};  // increments from here on were dropped
  bool dropped_ = false;
};

// Buckets in which the cut may lie.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t increments = 0;
  bool empty = true;  // all buckets fit
};

// spend: before the first bucket. slack: how far float64 sums may be off.
Stretch find_stretch(const PathBuckets& buckets, double spend, double budget, double slack) {
  Stretch stretch;
  for (std::size_t bucket = 0; bucket < buckets.grid().num_buckets(); ++bucket) {
    const BucketSums& sums = buckets.sums(bucket);
    if (sums.increments == 0) continue;
    if (stretch.empty && spend + sums.spend > budget - slack) stretch = {bucket, bucket, 0, false};
    spend += sums.spend;
    if (stretch.empty) continue;
    stretch.last = bucket;
    stretch.increments += sums.increments;
    if (spend > budget + slack) break;
  }
  return stretch;
}

// Where the increments end that may fill what a cut in or before this bucket leaves; none where they reach further than
// the buckets.
std::optional<PathPosition> end_of_filling(const PathBuckets& buckets, std::size_t last) {
  auto wanted = static_cast<std::int64_t>(kFillIncrements) + 1;
  for (std::size_t bucket = last + 1; bucket < buckets.grid().num_buckets(); ++bucket) {
    wanted -= buckets.sums(bucket).increments;
    if (wanted <= 0) return buckets.grid().bucket_cell(bucket).end;
  }
  return std::nullopt;
}

Cell cell_around(const PathBuckets& buckets, const Stretch& stretch) {
  return {buckets.grid().bucket_cell(stretch.first).begin, buckets.grid().bucket_cell(stretch.last).end};
}

}  // namespace

SortedForm::SortedForm(UnitPieces& pieces, const Rules& rules, core::RunContext& context)
    : prices_(rules), path_(sort_whole_path(pieces, rules, context)) {
  Totals totals = path_.ends.least;
  for (std::size_t i = 0; i < path_.increments.size(); ++i) {
    if (i % kCheckpoint == 0) {
      checkpoints_.push_back(totals);
      spends_.push_back(totals.spend(prices_));
    }
    totals.take(path_.increments[i]);
  }
  if (checkpoints_.empty()) {
    checkpoints_.push_back(totals);
    spends_.push_back(totals.spend(prices_));
  }
}

Window SortedForm::window_at(double budget, core::RunContext&) {
  const auto above = std::upper_bound(spends_.begin(), spends_.end(), budget);
  const auto checkpoint = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, above - spends_.begin())) - 1;
  const std::size_t begin = checkpoint * kCheckpoint;
  const std::size_t end = std::min(path_.increments.size(), begin + kCheckpoint + 1 + kFillIncrements);
  const auto at = [&](std::size_t i) { return path_.increments.begin() + static_cast<std::ptrdiff_t>(i); };
  return {checkpoints_[checkpoint], {at(std::min(begin, end)), at(end)}, end == path_.increments.size()};
}

Totals SortedForm::totals_at(PathPosition position, core::RunContext&) {
  const auto cut = static_cast<std::size_t>(
      std::partition_point(path_.increments.begin(), path_.increments.end(),
                           [&](const Increment& increment) { return position_of(increment) < position; }) -
      path_.increments.begin());
  const std::size_t checkpoint = std::min(cut / kCheckpoint, checkpoints_.size() - 1);
  Totals totals = checkpoints_[checkpoint];
  for (std::size_t i = checkpoint * kCheckpoint; i < cut; ++i) totals.take(path_.increments[i]);
  return totals;
}

BucketedForm::BucketedForm(UnitPieces& pieces, std::optional<Units> in_memory, const Rules& rules,
                           core::RunContext& context)
    : pieces_(pieces), in_memory_(in_memory), prices_(rules) {
  // The parts are those of the threads: exact sums do not depend on them.
  const std::size_t num_parts =
      std::min<std::size_t>(kMostBuilders, static_cast<std::size_t>(std::max(1, context.pool.threads())));
  std::vector<PathBuckets> parts;
  std::vector<PathEnds> ends(num_parts);
  pieces.for_each([&](const Units& units, const data::Batch*) {
    if (units.size() == 0) return;
    if (parts.empty()) {
      const CellGrid grid = grid_of_sample(units, prices_);
      for (std::size_t part = 0; part < num_parts; ++part) {
        parts.emplace_back(grid, pieces.num_arms());
        if (in_memory_) units_.emplace_back(grid.num_buckets());
      }
    }
    context.pool.run(num_parts, [&](std::size_t part) {
      Hull hull;
      const std::size_t end = units.size() * (part + 1) / num_parts;
      for (std::size_t row = units.size() * part / num_parts; row < end; ++row) {
        if (row % 65'536 == 0) context.check_cancelled();
        build_hull(units, row, prices_, hull);
        ends[part].add(units, row, hull, rules.control);
        const std::size_t unit = units.first_unit + row;
        std::size_t previous = CellGrid::kOutside;
        for (std::size_t point = 1; point < hull.size; ++point) {
          const std::size_t bucket = parts[part].add(increment_of(hull, point, unit, units.key(row)));
          // A unit's buckets rise along its hull: it stands once in each of them.
          if (in_memory_ && bucket != previous) units_[part].add(bucket, static_cast<std::uint32_t>(unit));
          previous = bucket;
        }
      }
    });
  });
  for (const PathEnds& part : ends) ends_.add(part);
  if (parts.empty()) return;
  buckets_ = std::move(parts[0]);
  for (std::size_t part = 1; part < num_parts; ++part) {
    buckets_->merge(parts[part]);
    parts[part] = PathBuckets(CellGrid({}, 0), 0);
  }
  buckets_->finish();
  for (std::size_t bucket = 0; bucket < buckets_->grid().num_buckets(); ++bucket) {
    total_spend_ += buckets_->sums(bucket).spend;
  }
}

// Calls body(part below kParts, increment) for the increments of a cell, on several threads.
template <class Body>
void BucketedForm::visit(const Cell& cell, core::RunContext& context, Body&& body) {
  const auto visit_unit = [&](const Units& units, std::size_t row, std::size_t part, Hull& hull, std::size_t bucket) {
    build_hull(units, row, prices_, hull);
    for (std::size_t point = 1; point < hull.size; ++point) {
      const PathPosition position = position_of(hull.efficiency[point], units.key(row));
      if (position < cell.begin || position >= cell.end) continue;
      if (bucket != CellGrid::kOutside && buckets_->grid().find(position) != bucket) continue;
      body(part, increment_of(hull, point, units.first_unit + row, units.key(row)));
    }
  };
  if (!in_memory_) {
    pieces_.for_each([&](const Units& units, const data::Batch*) {
      context.pool.run(kParts, [&](std::size_t part) {
        Hull hull;
        for (std::size_t row = part_begin(units.size(), part); row < part_begin(units.size(), part + 1); ++row) {
          visit_unit(units, row, part, hull, CellGrid::kOutside);
        }
      });
    });
    return;
  }
  // Only the units of the buckets that the cell touches.
  const std::size_t first = buckets_->grid().find(cell.begin);
  const std::size_t last = buckets_->grid().find(cell.end - 1);
  const std::size_t count = last + 1 - first;
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    Hull hull;
    for (std::size_t bucket = first + count * part / kParts; bucket < first + count * (part + 1) / kParts; ++bucket) {
      if (buckets_->sums(bucket).increments == 0) continue;
      for (const BucketUnits& lists : units_) {
        lists.for_each(bucket, [&](std::uint32_t unit) { visit_unit(*in_memory_, unit, part, hull, bucket); });
      }
    }
  });
}

PathBuckets BucketedForm::refine(const Cell& cell, core::RunContext& context) {
  const CellGrid grid({cell}, kRefineLog2Buckets);
  std::vector<PathBuckets> parts(kParts, PathBuckets(grid, pieces_.num_arms()));
  visit(cell, context, [&](std::size_t part, const Increment& increment) { parts[part].add(increment); });
  for (std::size_t part = 1; part < kParts; ++part) parts[0].merge(parts[part]);
  parts[0].finish();
  return std::move(parts[0]);
}

Window BucketedForm::window_at(double budget, core::RunContext& context) {
  Window window{ends_.most, {}, true};
  if (!buckets_) return window;
  const double slack = 1e-9 * (ends_.absolute_cost + std::abs(total_spend_));
  Stretch stretch = find_stretch(*buckets_, ends_.least.spend(prices_), budget, slack);
  if (stretch.empty) return window;
  window.before = ends_.least;
  window.before.add(buckets_->totals_before(stretch.first));
  Cell cell = cell_around(*buckets_, stretch);
  PathPosition end = end_of_filling(*buckets_, stretch.last).value_or(kPathEnd);
  while (stretch.increments > kSortAtMost && cell.width() > 1) {
    const PathBuckets inner = refine(cell, context);
    stretch = find_stretch(inner, window.before.spend(prices_), budget, slack);
    if (stretch.empty) {  // up to rounding, the cut is where the cell ends
      std::size_t bucket = inner.grid().num_buckets() - 1;
      while (bucket > 0 && inner.sums(bucket).increments == 0) --bucket;
      stretch = {bucket, bucket, inner.sums(bucket).increments, false};
    }
    window.before.add(inner.totals_before(stretch.first));
    cell = cell_around(inner, stretch);
    end = end_of_filling(inner, stretch.last).value_or(end);
  }
  FirstIncrements following(static_cast<std::size_t>(stretch.increments) + 1 + kFillIncrements);
  std::vector<std::vector<Increment>> found(kParts);
  visit({cell.begin, end}, context, [&](std::size_t part, const Increment& increment) {
    found[part].push_back(increment);
    if (found[part].size() >= 4096) following.offer(found[part]);
  });
  for (std::vector<Increment>& part : found) following.offer(part);
  window.reaches_end = following.finish(window.increments, context) && end == kPathEnd;
  return window;
}

Totals BucketedForm::totals_at(PathPosition position, core::RunContext& context) {
  if (position >= kPathEnd || !buckets_) return ends_.most;
  Totals totals = ends_.least;
  const std::size_t bucket = buckets_->grid().find(position);
  totals.add(buckets_->totals_before(bucket));
  const Cell cell{buckets_->grid().bucket_cell(bucket).begin, position};
  if (cell.width() == 0 || buckets_->sums(bucket).increments == 0) return totals;
  std::vector<Totals> taken(kParts);
  visit(cell, context, [&](std::size_t part, const Increment& increment) { taken[part].take(increment); });
  for (const Totals& part : taken) totals.add(part);
  return totals;
}

}  // namespace dfcl::allocate
