// SPDX-License-Identifier: Apache-2.0
//
// Passes over all units, wherever they come from: the matrices in memory are one piece, a stream is many. Sums are
// exact, so neither pieces nor threads show in the results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dfcl/allocate/cut.h"
#include "dfcl/allocate/settle_tile.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

// Increments in blocks: all of a block lie before all of the next, and equal positions share one. 48 bytes each.
class DealtPath {
 public:
  DealtPath() = default;
  // Blocks of some 64, in any order inside. The parts are emptied.
  DealtPath(std::span<std::vector<Increment>> parts, core::RunContext& context);
  // Brings all into path order, on all threads.
  void sort(core::RunContext& context);

  std::size_t size() const { return size_; }
  std::size_t num_blocks() const { return ends_.size(); }
  std::span<Increment> block(std::size_t index) {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return {increments_.get() + begin, ends_[index] - begin};
  }
  std::span<const Increment> increments() const { return {increments_.get(), size_}; }

 private:
  void deal(std::span<const std::span<const Increment>> parts, core::RunContext& context);

  std::unique_ptr<Increment[]> increments_;
  std::size_t size_ = 0;
  std::vector<std::size_t> ends_;  // of the blocks
};

// Where units come from, in row order, as often as asked.
class UnitPieces {
 public:
  virtual ~UnitPieces() = default;
  virtual std::size_t num_arms() const = 0;
  // One pass. The views handed to the body are valid during the call only. batch: null for matrices in memory.
  using Body = std::function<void(const Units&, const data::Batch* batch)>;
  virtual void for_each(const Body& body) = 0;
};

class UnitsInMemory final : public UnitPieces {
 public:
  explicit UnitsInMemory(Units units) : units_(units) {}
  std::size_t num_arms() const override { return units_.revenue.cols; }
  void for_each(const Body& body) override { body(units_, nullptr); }

 private:
  Units units_;
};

// The same for any number of units: how many chunks a piece is cut into.
inline constexpr std::size_t kParts = 16;
inline std::size_t part_begin(std::size_t num_units, std::size_t part) { return num_units * part / kParts; }

// Control is what gains are counted from, so its numbers must be finite even for units that may not get it.
inline void check_control(const Units& units, std::size_t row, std::size_t control) {
  const bool finite = std::isfinite(units.cost(row, control)) && std::isfinite(units.revenue(row, control));
  if (units.eligible.data != nullptr && !finite) throw_bad_unit(units, row);
}
inline void add_control(const Units& units, std::size_t row, std::size_t control, Totals& totals) {
  check_control(units, row, control);
  totals.add(static_cast<std::uint8_t>(control), units.cost(row, control), units.revenue(row, control));
}

// What the path begins and ends with.
struct PathEnds {
  Totals least;  // every unit at the start of its hull
  Totals most;   // every unit at the end of its hull
  Totals control;
  Totals below_least_return;  // what the plan without a least return per cost has beyond `most`
  ExactSum below_zero;        // costs at the start that are negative, for bounds on rounding
  std::size_t num_units = 0;

  Totals most_at_any_return() const {
    Totals totals = most;
    totals.add(below_least_return);
    return totals;
  }
  // Sum of |cost| at the start, rounded.
  double absolute_cost() const { return std::abs(least.cost.value() - 2.0 * below_zero.value()); }
  void add(const PathEnds& other);
  void save(core::ByteWriter& bytes, std::size_t num_arms) const;
  static PathEnds load(core::ByteReader& bytes, std::size_t num_arms);
};

// Adds units to the ends of a path, some hundred at a time: exact sums of many numbers cost a fraction of single ones.
class PathEndsBuilder {
 public:
  explicit PathEndsBuilder(std::size_t control) : control_(control) {}
  void add(const Units& units, std::size_t row, const Hull& hull);
  void add(const PathEnds& other) { ends_.add(other); }
  // With all units that were added.
  const PathEnds& finish();

 private:
  struct Numbers {
    float cost[kTileUnits];
    float revenue[kTileUnits];
  };
  void flush(const Numbers& numbers, Totals& totals) const;

  std::size_t control_;
  PathEnds ends_;
  std::size_t count_ = 0;  // of what is not summed yet
  Numbers least_, most_, in_control_;
};
// One pass.
PathEnds path_ends(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

// All increments in path order. Memory: 48 bytes an increment, up to twice that while they are sorted.
struct WholePath {
  PathEnds ends;
  DealtPath path;
};
WholePath sort_whole_path(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

// A plan as a place on the path and the units that were filled beyond it.
struct FilledArm {
  std::uint8_t from;  // at the cut
  std::uint8_t to;
};
struct PathCut {
  PathPosition position = 0;                                        // increments before it are taken
  std::unordered_map<std::uint32_t, FilledArm> filled = {};         // by unit
  std::unordered_map<std::uint64_t, FilledArm> filled_by_key = {};  // of units that are elsewhere

  // The position and filled_by_key: all that whoever has the units needs. 26 bytes and 10 a filled unit.
  std::string to_bytes() const;
  // Throws Error of kind data.
  static PathCut from_bytes(std::string_view bytes, std::size_t num_arms);
};
// The arms of some units under the plan: exact, and fast where most units are clear-cut (settle.h).
void assign(const Units& units, const Rules& rules, const PathCut& cut, std::uint8_t* arms, core::RunContext& context);

}  // namespace dfcl::allocate
