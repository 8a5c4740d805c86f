// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "dfcl/allocate/settle.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// More increments than this are not sorted to find a cut: their buckets are cut again.
constexpr std::int64_t kSortAtMost = 1'000'000;
constexpr int kRefineLog2Buckets = 14;
constexpr std::size_t kMostBuilders = 8;

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

double efficiency_of(PathPosition position) {
  if (position >= kPathEnd) return 0.0;
  return std::bit_cast<double>(0x7ff0000000000000u - static_cast<std::uint64_t>(position >> 64));
}

// Where few stretches of the path are wanted, a fast look at all units tells which of them may have an increment there
// (settle_tile.h): calls body(row, part below kParts) for those, once each. False where it does not apply.
template <class Body>
bool look_in_tiles(const Units& units, std::span<const Cell> cells, core::RunContext& context, Body&& body) {
  constexpr std::size_t kFewCells = 8;
  if (cells.size() > kFewCells || units.revenue.cols > kTileArms || units.size() < kTileUnits) return false;
  std::vector<Bracket> brackets;
  for (const Cell& cell : cells) {
    const auto high = static_cast<float>(efficiency_of(cell.begin));
    const auto low = static_cast<float>(efficiency_of(cell.end));
    if (!(high < 1e30f)) return false;
    brackets.push_back(
        {std::nextafter(high, std::numeric_limits<float>::infinity()), low > 0.0f ? std::nextafter(low, 0.0f) : 0.0f});
  }
  const std::size_t num_tiles = units.size() / kTileUnits;
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    TileChoices choices;
    for (std::size_t tile = part_begin(num_tiles, part); tile < part_begin(num_tiles, part + 1); ++tile) {
      const std::size_t first = tile * kTileUnits;
      std::uint8_t open[kTileUnits] = {};
      for (const Bracket& bracket : brackets) {
        const std::size_t place = first * units.revenue.cols;
        settle_tile({units.revenue.data + place, units.cost.data + place, units.eligible_row(first), units.revenue.cols,
                     0, bracket.high, bracket.low},
                    choices);
        for (std::size_t i = 0; i < kTileUnits; ++i) open[i] |= choices.open[i];
      }
      for (std::size_t i = 0; i < kTileUnits; ++i) {
        if (open[i] != 0) body(first + i, part);
      }
    }
    if (part + 1 < kParts) return;
    for (std::size_t row = num_tiles * kTileUnits; row < units.size(); ++row) body(row, part);
  });
  return true;
}

}  // namespace

class SortedForm::Blocks final : public PathBlocks {
 public:
  Blocks(const SortedForm& form, std::size_t first) : form_(form), next_(first) {}

  std::optional<Head> head() override {
    if (next_ == form_.blocks_.size()) return std::nullopt;
    return Head{span_of(next_).size(), form_.blocks_[next_].least_cost};
  }
  std::optional<std::span<const Increment>> read() override { return span_of(next_++); }
  void skip() override { ++next_; }

 private:
  std::span<const Increment> span_of(std::size_t index) const {
    const std::span<const Increment> all = form_.increments();
    const std::size_t begin = form_.blocks_[index].begin;
    const std::size_t end = index + 1 < form_.blocks_.size() ? form_.blocks_[index + 1].begin : all.size();
    return all.subspan(begin, end - begin);
  }

  const SortedForm& form_;
  std::size_t next_;
};

SortedForm::SortedForm(UnitPieces& pieces, const Rules& rules, core::RunContext& context)
    : prices_(rules), path_(sort_whole_path(pieces, rules, context)) {
  constexpr std::size_t kBlock = 2048;
  const std::span<const Increment> all = increments();
  Totals totals = path_.ends.least;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool full = blocks_.empty() || i - blocks_.back().begin >= kBlock;
    if (full && (i == 0 || position_of(all[i - 1]) != position_of(all[i]))) {
      blocks_.push_back({i, std::numeric_limits<double>::infinity(), totals.spend(prices_), totals});
    }
    blocks_.back().least_cost = std::min(blocks_.back().least_cost, all[i].extra_cost(prices_));
    totals.take(all[i]);
  }
}

std::vector<CutSolution> SortedForm::cut_at(std::span<const double> budgets, core::RunContext& context) {
  std::vector<CutSolution> solutions(budgets.size());
  core::for_each_chunk(context, budgets.size(), 1, [&](std::size_t index, std::size_t, std::size_t) {
    const auto above = std::upper_bound(blocks_.begin(), blocks_.end(), budgets[index],
                                        [](double budget, const Block& block) { return budget < block.spend; });
    const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, above - blocks_.begin())) - 1;
    Blocks blocks(*this, first);
    solutions[index] =
        solve_cut(blocks_.empty() ? path_.ends.least : blocks_[first].before, blocks, prices_, budgets[index]);
  });
  return solutions;
}

Totals SortedForm::totals_at(PathPosition position, core::RunContext&) {
  const std::span<const Increment> all = increments();
  const auto cut = static_cast<std::size_t>(
      std::partition_point(all.begin(), all.end(),
                           [&](const Increment& increment) { return position_of(increment) < position; }) -
      all.begin());
  const auto above = std::upper_bound(blocks_.begin(), blocks_.end(), cut,
                                      [](std::size_t place, const Block& block) { return place < block.begin; });
  if (above == blocks_.begin()) return path_.ends.least;
  const Block& block = *(above - 1);
  Totals totals = block.before;
  for (std::size_t i = block.begin; i < cut; ++i) totals.take(all[i]);
  return totals;
}

BucketedForm::BucketedForm(UnitPieces& pieces, std::optional<Units> in_memory, Lists lists, const Rules& rules,
                           core::RunContext& context)
    : pieces_(pieces), in_memory_(in_memory), prices_(rules) {
  const bool keep_lists = in_memory_ && lists == Lists::kept;
  // The parts are those of the threads: exact sums do not depend on them.
  const std::size_t num_parts =
      std::min<std::size_t>(kMostBuilders, static_cast<std::size_t>(std::max(1, context.pool.threads())));
  std::vector<PathBuckets> parts;
  std::vector<PathEndsBuilder> ends(num_parts, PathEndsBuilder(rules.control));
  pieces.for_each([&](const Units& units, const data::Batch*) {
    if (units.size() == 0) return;
    if (parts.empty()) {
      const BucketLayout layout = layout_of_sample(units, prices_);
      for (std::size_t part = 0; part < num_parts; ++part) {
        parts.emplace_back(layout, pieces.num_arms());
        if (keep_lists) units_.emplace_back(layout.grid.num_buckets());
      }
    }
    context.pool.run(num_parts, [&](std::size_t part) {
      Hull hull;
      const std::size_t end = units.size() * (part + 1) / num_parts;
      for (std::size_t row = units.size() * part / num_parts; row < end; ++row) {
        if (row % 65'536 == 0) context.check_cancelled();
        build_hull(units, row, prices_, hull);
        ends[part].add(units, row, hull);
        const std::size_t unit = units.first_unit + row;
        std::size_t previous = CellGrid::kOutside;
        parts[part].add(hull, units.key(row), [&](std::size_t bucket) {
          // A unit's buckets rise along its hull: it stands once in each of them.
          if (keep_lists && bucket != previous) units_[part].add(bucket, static_cast<std::uint32_t>(unit));
          previous = bucket;
        });
      }
    });
  });
  for (PathEndsBuilder& part : ends) ends_.add(part.finish());
  if (parts.empty()) return;
  buckets_ = std::move(parts[0]);
  for (std::size_t part = 1; part < num_parts; ++part) buckets_->merge(parts[part]);
  buckets_->finish();
  for (std::size_t bucket = 0; bucket < buckets_->grid().num_buckets(); ++bucket) {
    total_spend_ += buckets_->sums(bucket).spend;
  }
}

template <class Body>
void BucketedForm::visit(std::span<const Cell> cells, core::RunContext& context, Body&& body) {
  // Of each bucket: the first cell that touches it, plus 1, and whether it lies inside that cell.
  const CellGrid& grid = buckets_->grid();
  std::vector<std::uint32_t> first_cell(grid.num_buckets());
  std::vector<std::uint8_t> inside(grid.num_buckets());
  std::vector<std::size_t> touched;
  for (std::size_t index = cells.size(); index-- > 0;) {
    for (std::size_t bucket = grid.find(cells[index].end - 1); bucket + 1 > grid.find(cells[index].begin); --bucket) {
      if (first_cell[bucket] == 0) touched.push_back(bucket);
      first_cell[bucket] = static_cast<std::uint32_t>(index + 1);
      const Cell whole = grid.bucket_cell(bucket);
      inside[bucket] = cells[index].begin <= whole.begin && whole.end <= cells[index].end ? 1 : 0;
    }
  }
  const auto is_wanted = [&](PathPosition position, std::size_t bucket) {
    if (inside[bucket] != 0) return true;
    for (std::size_t index = first_cell[bucket] - 1; index < cells.size(); ++index) {
      if (position < cells[index].begin) return false;
      if (position < cells[index].end) return true;
    }
    return false;
  };
  // only: of all its buckets, the one for which the unit is looked at; kOutside: all.
  const auto visit_unit = [&](const Units& units, std::size_t row, std::size_t part, Hull& hull, std::size_t only) {
    build_hull(units, row, prices_, hull);
    for (std::size_t point = 1; point < hull.size; ++point) {
      const std::size_t bucket = grid.find(hull.efficiency[point], units.key(row));
      if (first_cell[bucket] == 0 || (only != CellGrid::kOutside && bucket != only)) continue;
      if (!is_wanted(position_of(hull.efficiency[point], units.key(row)), bucket)) continue;
      body(part, increment_of(hull, point, units.first_unit + row, units.key(row)));
    }
  };
  if (units_.empty() && in_memory_ &&
      look_in_tiles(*in_memory_, cells, context, [&](std::size_t row, std::size_t part) {
        Hull hull;
        visit_unit(*in_memory_, row, part, hull, CellGrid::kOutside);
      })) {
    return;
  }
  if (units_.empty()) {
    pieces_.for_each([&](const Units& units, const data::Batch*) {
      context.pool.run(kParts, [&](std::size_t part) {
        context.check_cancelled();
        Hull hull;
        for (std::size_t row = part_begin(units.size(), part); row < part_begin(units.size(), part + 1); ++row) {
          visit_unit(units, row, part, hull, CellGrid::kOutside);
        }
      });
    });
    return;
  }
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    Hull hull;
    for (std::size_t i = part_begin(touched.size(), part); i < part_begin(touched.size(), part + 1); ++i) {
      if (buckets_->sums(touched[i]).increments == 0) continue;
      for (const BucketUnits& lists : units_) {
        lists.for_each(touched[i], [&](std::uint32_t unit) { visit_unit(*in_memory_, unit, part, hull, touched[i]); });
      }
    }
  });
}

PathBuckets BucketedForm::refine(const Cell& cell, core::RunContext& context) {
  const BucketLayout& all = buckets_->layout();
  std::vector<PathBuckets> parts(
      kParts, PathBuckets({CellGrid({cell}, kRefineLog2Buckets), all.cost, all.revenue}, pieces_.num_arms()));
  visit(std::span(&cell, 1), context,
        [&](std::size_t part, const Increment& increment) { parts[part].add(increment, prices_); });
  for (std::size_t part = 1; part < kParts; ++part) parts[0].merge(parts[part]);
  parts[0].finish();
  return std::move(parts[0]);
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
  Collected(std::vector<Cell> cells, std::span<std::vector<Increment>> parts, core::RunContext& context)
      : cells_(std::move(cells)), path_(parts) {
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
  const double slack = 1e-9 * (ends_.absolute_cost + std::abs(total_spend_));
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
  constexpr std::size_t kFirstAhead = 1024;  // increments after the stretch: mostly enough to fill what a cut leaves
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
  for (std::size_t ahead = kFirstAhead; !open.empty(); ahead *= 16) {
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
      std::vector<std::vector<Increment>> parts(kParts);
      visit(cells, context, [&](std::size_t part, const Increment& increment) { parts[part].push_back(increment); });
      const Collected collected(std::move(cells), parts, context);
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
  std::vector<Totals> taken(kParts);
  visit(std::span(&cell, 1), context,
        [&](std::size_t part, const Increment& increment) { taken[part].take(increment); });
  for (const Totals& part : taken) totals.add(part);
  return totals;
}

}  // namespace dfcl::allocate
