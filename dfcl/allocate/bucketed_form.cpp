// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/bucketed_form.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// More increments than this are not sorted to find a cut: their buckets are cut again.
constexpr std::int64_t kSortAtMost = 1'000'000;

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

Cell cell_around(const PathBuckets& buckets, const Stretch& stretch) {
  return {buckets.grid().bucket_cell(stretch.first).begin, buckets.grid().bucket_cell(stretch.last).end};
}

// The same positions in cells that rise without overlap.
std::vector<Cell> join(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.begin < b.begin; });
  std::vector<Cell> joined;
  for (const Cell& cell : cells) {
    if (joined.empty() || cell.begin > joined.back().end) {
      joined.push_back(cell);
    } else {
      joined.back().end = std::max(joined.back().end, cell.end);
    }
  }
  return joined;
}

}  // namespace

BucketedForm::BucketedForm(std::unique_ptr<PathScans> scans, const Rules& rules, core::RunContext& context)
    : scans_(std::move(scans)), prices_(rules) {
  Built built = scans_->build(context);
  ends_ = built.ends;
  buckets_ = std::move(built.buckets);
  if (!buckets_) return;
  for (std::size_t bucket = 0; bucket < buckets_->grid().num_buckets(); ++bucket) {
    total_spend_ += buckets_->sums(bucket).spend;
  }
}

PathBuckets BucketedForm::refine(const Cell& cell, core::RunContext& context) {
  const PathPass pass = PathPass::refine(buckets_->layout(), cell, scans_->log2_refined());
  return scans_->run(pass, context).take_buckets();
}

// Where on the path to look for a cut.
struct BucketedForm::Place {
  struct Part {
    Cell cell;
    PathBlocks::Head head;
  };
  Totals before;                 // the first block
  std::int64_t in_stretch = 0;   // increments of the blocks in which the cut may lie
  std::vector<Part> refined;     // parts of buckets, before
  std::size_t first_bucket = 0;  // whole ones from here on
  std::size_t index = 0;         // of the budget
};

// The increments of some cells, in path order.
class BucketedForm::Collected {
 public:
  Collected(std::vector<Cell> cells, std::vector<Increment> increments, core::RunContext& context)
      : cells_(std::move(cells)), path_(std::span(&increments, 1), context) {
    path_.sort(context);
  }
  // None where the cell was not collected.
  std::optional<std::span<const Increment>> find(const Cell& cell) const {
    const auto after = std::partition_point(cells_.begin(), cells_.end(),
                                            [&](const Cell& collected) { return collected.begin <= cell.begin; });
    if (after == cells_.begin() || (after - 1)->end < cell.end) return std::nullopt;
    const std::span<const Increment> all = path_.increments();
    const auto place = [&](PathPosition position) {
      return std::partition_point(all.begin(), all.end(),
                                  [&](const Increment& increment) { return position_of(increment) < position; });
    };
    return std::span<const Increment>(place(cell.begin), place(cell.end));
  }

 private:
  std::vector<Cell> cells_;
  DealtPath path_;
};

// The path from a place on: refined parts, then buckets. Empty ones are left out.
class BucketedForm::Blocks final : public PathBlocks {
 public:
  Blocks(const Place& place, const PathBuckets& buckets, const Collected* collected)
      : place_(place), buckets_(buckets), collected_(collected), bucket_(place.first_bucket) {
    find_next();
  }

  bool at_end() const { return part_ == place_.refined.size() && bucket_ == buckets_.grid().num_buckets(); }
  Cell cell() const {
    return part_ < place_.refined.size() ? place_.refined[part_].cell : buckets_.grid().bucket_cell(bucket_);
  }
  std::optional<Head> head() override {
    if (at_end()) return std::nullopt;
    if (part_ < place_.refined.size()) return place_.refined[part_].head;
    const BucketSums& sums = buckets_.sums(bucket_);
    return Head{static_cast<std::size_t>(sums.increments), sums.least_cost};
  }
  std::optional<std::span<const Increment>> read() override {
    const auto found = collected_->find(cell());
    skip();
    return found;
  }
  void skip() override {
    ++(part_ < place_.refined.size() ? part_ : bucket_);
    find_next();
  }

 private:
  void find_next() {
    if (part_ < place_.refined.size()) return;
    while (bucket_ < buckets_.grid().num_buckets() && buckets_.sums(bucket_).increments == 0) ++bucket_;
  }

  const Place& place_;
  const PathBuckets& buckets_;
  const Collected* collected_;
  std::size_t part_ = 0;
  std::size_t bucket_;
};

BucketedForm::Place BucketedForm::find_place(double budget, core::RunContext& context) {
  Place place;
  const double slack = 1e-9 * (ends_.absolute_cost() + std::abs(total_spend_));
  Stretch stretch = find_stretch(*buckets_, ends_.least.spend(prices_), budget, slack);
  if (stretch.empty) {
    place.before = ends_.most;
    place.first_bucket = buckets_->grid().num_buckets();
    return place;
  }
  place.before = ends_.least;
  place.before.add(buckets_->totals_before(stretch.first));
  place.first_bucket = stretch.first;
  Cell cell = cell_around(*buckets_, stretch);
  while (stretch.increments > kSortAtMost && cell.width() > 1) {
    if (place.refined.empty()) place.first_bucket = stretch.last + 1;
    const PathBuckets inner = refine(cell, context);
    stretch = find_stretch(inner, place.before.spend(prices_), budget, slack);
    const std::size_t num_buckets = inner.grid().num_buckets();
    if (stretch.empty) {  // up to rounding, the cut is where the cell ends
      std::size_t bucket = num_buckets - 1;
      while (bucket > 0 && inner.sums(bucket).increments == 0) --bucket;
      stretch = {bucket, bucket, inner.sums(bucket).increments, false};
    }
    place.before.add(inner.totals_before(stretch.first));
    cell = cell_around(inner, stretch);
    // What was one part, the stretch, falls into buckets; those after it stay.
    if (!place.refined.empty()) place.refined.erase(place.refined.begin());
    std::vector<Place::Part> parts;
    for (std::size_t bucket = stretch.first; bucket < num_buckets; ++bucket) {
      const BucketSums& sums = inner.sums(bucket);
      if (sums.increments == 0) continue;
      if (bucket <= stretch.last && bucket > stretch.first) {  // one part
        parts.back().cell.end = inner.grid().bucket_cell(bucket).end;
        parts.back().head.count += static_cast<std::size_t>(sums.increments);
        parts.back().head.least_cost = std::min(parts.back().head.least_cost, sums.least_cost);
      } else {
        parts.push_back(
            {inner.grid().bucket_cell(bucket), {static_cast<std::size_t>(sums.increments), sums.least_cost}});
      }
    }
    place.refined.insert(place.refined.begin(), parts.begin(), parts.end());
  }
  place.in_stretch = stretch.increments;
  return place;
}

std::vector<CutSolution> BucketedForm::cut_at(std::span<const double> budgets, core::RunContext& context) {
  std::vector<CutSolution> solutions(budgets.size());
  if (!buckets_) {
    for (CutSolution& solution : solutions) solution.total = solution.at_cut = ends_.most;
    return solutions;
  }
  std::vector<Place> open;
  for (std::size_t index = 0; index < budgets.size(); ++index) {
    open.push_back(find_place(budgets[index], context));
    open.back().index = index;
  }
  for (std::size_t ahead = scans_->first_ahead(); !open.empty(); ahead *= 16) {
    std::vector<Place> still_open;
    for (std::size_t first = 0, last = 0; first < open.size(); first = last) {
      std::vector<Cell> cells;
      std::size_t wanted = 0;
      for (; last < open.size() && (last == first || wanted < static_cast<std::size_t>(kSortAtMost)); ++last) {
        const std::size_t needed = static_cast<std::size_t>(open[last].in_stretch) + ahead;
        std::size_t seen = 0;
        Blocks blocks(open[last], *buckets_, nullptr);
        if (!blocks.at_end()) cells.push_back(blocks.cell());
        for (; !blocks.at_end() && seen < needed; blocks.skip()) {
          cells.back().end = blocks.cell().end;
          seen += blocks.head()->count;
        }
        wanted += seen;
      }
      cells = join(std::move(cells));
      const PathPass pass = PathPass::collect(buckets_->layout(), cells);
      const Collected collected(std::move(cells), scans_->run(pass, context).take_increments(), context);
      core::for_each_chunk(context, last - first, 1, [&](std::size_t offset, std::size_t, std::size_t) {
        const Place& place = open[first + offset];
        Blocks blocks(place, *buckets_, &collected);
        solutions[place.index] = solve_cut(place.before, blocks, prices_, budgets[place.index]);
      });
      for (std::size_t i = first; i < last; ++i) {
        if (solutions[open[i].index].outcome == CutOutcome::too_early) still_open.push_back(std::move(open[i]));
      }
    }
    open = std::move(still_open);
  }
  return solutions;
}

Totals BucketedForm::totals_at(PathPosition position, core::RunContext& context) {
  if (position >= kPathEnd || !buckets_) return ends_.most;
  Totals totals = ends_.least;
  const std::size_t bucket = buckets_->grid().find(position);
  totals.add(buckets_->totals_before(bucket));
  const Cell cell{buckets_->grid().bucket_cell(bucket).begin, position};
  if (cell.width() == 0 || buckets_->sums(bucket).increments == 0) return totals;
  const PathPass pass = PathPass::totals(buckets_->layout(), {cell});
  totals.add(scans_->run(pass, context).totals());
  return totals;
}

}  // namespace dfcl::allocate
