// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/path_scans.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "dfcl/allocate/settle.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// The parts are those of the threads: findings do not depend on them.
std::size_t num_parts_of(const core::RunContext& context) {
  constexpr std::size_t kMostBuilders = 8;
  return std::min<std::size_t>(kMostBuilders, static_cast<std::size_t>(std::max(1, context.pool.threads())));
}

PassPart merged(std::vector<PassPart>&& parts) {
  for (std::size_t part = 1; part < parts.size(); ++part) parts[0].merge(std::move(parts[part]));
  return std::move(parts[0]);
}

Built built_of(PassPart&& part) {
  Built built;
  built.ends = part.ends();
  built.buckets = part.take_buckets();
  return built;
}

class PieceScans final : public PathScans {
 public:
  PieceScans(UnitPieces& pieces, const Rules& rules) : PathScans(rules), pieces_(pieces) {}

  // The first piece is the sample by which the path is cut.
  Built build(core::RunContext& context) override {
    std::optional<PathPass> pass;
    std::vector<PassPart> parts;
    pieces_.for_each([&](const Units& units, const data::Batch*) {
      if (units.size() == 0) return;
      if (!pass) {
        pass = PathPass::build(layout_of_sample(units, prices_));
        parts = empty_parts(*pass, context);
      }
      add(units, parts, context);
    });
    return pass ? built_of(merged(std::move(parts))) : Built{};
  }
  PassPart run(const PathPass& pass, core::RunContext& context) override {
    std::vector<PassPart> parts = empty_parts(pass, context);
    pieces_.for_each([&](const Units& units, const data::Batch*) { add(units, parts, context); });
    return merged(std::move(parts));
  }

 private:
  std::vector<PassPart> empty_parts(const PathPass& pass, const core::RunContext& context) const {
    std::vector<PassPart> parts;
    for (std::size_t part = 0; part < num_parts_of(context); ++part) {
      parts.emplace_back(pass, rules_, prices_, pieces_.num_arms());
    }
    return parts;
  }
  static void add(const Units& units, std::vector<PassPart>& parts, core::RunContext& context) {
    context.pool.run(parts.size(), [&](std::size_t part) {
      context.check_cancelled();
      parts[part].add(units, units.size() * part / parts.size(), units.size() * (part + 1) / parts.size());
    });
  }

  UnitPieces& pieces_;
};

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

class MemoryScans final : public PathScans {
 public:
  MemoryScans(const Units& units, bool keep_lists, const Rules& rules)
      : PathScans(rules), all_(units), keep_lists_(keep_lists) {}

  Built build(core::RunContext& context) override;
  PassPart run(const PathPass& pass, core::RunContext& context) override;

 private:
  Units all_;
  bool keep_lists_;
  std::vector<BucketUnits> lists_;  // per part of the building; empty without lists
};

Built MemoryScans::build(core::RunContext& context) {
  if (all_.size() == 0) return {};
  const PathPass pass = PathPass::build(layout_of_sample(all_, prices_));
  const std::size_t num_parts = num_parts_of(context);
  std::vector<PassPart> parts;
  for (std::size_t part = 0; part < num_parts; ++part) {
    parts.emplace_back(pass, rules_, prices_, all_.revenue.cols);
    if (keep_lists_) lists_.emplace_back(pass.layout()->grid.num_buckets());
  }
  context.pool.run(num_parts, [&](std::size_t part) {
    const std::size_t end = all_.size() * (part + 1) / num_parts;
    for (std::size_t row = all_.size() * part / num_parts; row < end; ++row) {
      if (row % 65'536 == 0) context.check_cancelled();
      const std::size_t unit = all_.first_unit + row;
      std::size_t previous = CellGrid::kOutside;
      parts[part].add_built(all_, row, [&](std::size_t bucket) {
        // A unit's buckets rise along its hull: it stands once in each of them.
        if (keep_lists_ && bucket != previous) lists_[part].add(bucket, static_cast<std::uint32_t>(unit));
        previous = bucket;
      });
    }
  });
  return built_of(merged(std::move(parts)));
}

PassPart MemoryScans::run(const PathPass& pass, core::RunContext& context) {
  std::vector<PassPart> parts;
  for (std::size_t part = 0; part < kParts; ++part) parts.emplace_back(pass, rules_, prices_, all_.revenue.cols);
  const bool done =
      lists_.empty() && look_in_tiles(all_, pass.cells(), context,
                                      [&](std::size_t row, std::size_t part) { parts[part].add_wanted(all_, row); });
  const std::span<const std::size_t> touched = pass.filter()->touched();
  if (!done) {
    context.pool.run(kParts, [&](std::size_t part) {
      context.check_cancelled();
      if (lists_.empty()) {
        parts[part].add(all_, part_begin(all_.size(), part), part_begin(all_.size(), part + 1));
        return;
      }
      for (std::size_t i = part_begin(touched.size(), part); i < part_begin(touched.size(), part + 1); ++i) {
        for (const BucketUnits& lists : lists_) {
          lists.for_each(touched[i], [&](std::uint32_t unit) { parts[part].add_wanted(all_, unit, touched[i]); });
        }
      }
    });
  }
  return merged(std::move(parts));
}

class ScansElsewhere final : public PathScans {
 public:
  ScansElsewhere(PassRunner runner, std::size_t num_arms, const Rules& rules)
      : PathScans(rules), runner_(std::move(runner)), num_arms_(num_arms) {}

  Built build(core::RunContext& context) override {
    constexpr int kLog2Buckets = 7;  // some 3,000 buckets: what many parts send stays small
    context.check_cancelled();
    const PathPass sampling = PathPass::sample();
    const PassPart sample = run_elsewhere(runner_, sampling, rules_, prices_, num_arms_);
    const PathPass pass = PathPass::build(layout_of(sample.sample(), kLog2Buckets));
    return built_of(run_elsewhere(runner_, pass, rules_, prices_, num_arms_));
  }
  PassPart run(const PathPass& pass, core::RunContext& context) override {
    context.check_cancelled();
    return run_elsewhere(runner_, pass, rules_, prices_, num_arms_);
  }
  int log2_refined() const override { return 11; }
  std::size_t first_ahead() const override { return kFillIncrements; }  // 2.7 MB cost less than one more pass

 private:
  PassRunner runner_;
  std::size_t num_arms_;
};

}  // namespace

std::unique_ptr<PathScans> scan_pieces(UnitPieces& pieces, const Rules& rules) {
  return std::make_unique<PieceScans>(pieces, rules);
}

std::unique_ptr<PathScans> scan_memory(const Units& units, bool keep_lists, const Rules& rules) {
  return std::make_unique<MemoryScans>(units, keep_lists, rules);
}

std::unique_ptr<PathScans> scan_elsewhere(PassRunner runner, std::size_t num_arms, const Rules& rules) {
  return std::make_unique<ScansElsewhere>(std::move(runner), num_arms, rules);
}

PassPart run_elsewhere(const PassRunner& runner, const PathPass& pass, const Rules& rules, const Prices& prices,
                       std::size_t num_arms) {
  PassPart part(pass, rules, prices, num_arms);
  part.merge_bytes(runner(pass.to_bytes()));
  return part;
}

}  // namespace dfcl::allocate
