// SPDX-License-Identifier: Apache-2.0
//
// Passes over all units, wherever they come from: the matrices in memory are one piece, a stream is many. Sums are
// exact, so neither pieces nor threads show in the results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "dfcl/allocate/window.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::allocate {

// Brings increments into path order, on all threads. Takes as much memory again.
void sort_path(std::vector<Increment>& increments, core::RunContext& context);

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
inline void add_control(const Units& units, std::size_t row, std::size_t control, Totals& totals) {
  const float cost = units.cost(row, control);
  const float revenue = units.revenue(row, control);
  if (units.eligible.data != nullptr && !(std::isfinite(cost) && std::isfinite(revenue))) throw_bad_unit(units, row);
  totals.add(static_cast<std::uint8_t>(control), cost, revenue);
}

// What the path begins and ends with.
struct PathEnds {
  Totals least;               // every unit at the start of its hull
  Totals most;                // every unit at the end of its hull
  Totals most_at_any_return;  // the same without the least return per cost
  Totals control;
  double absolute_cost = 0.0;  // sum of |cost| at the start, for bounds on rounding
  std::size_t num_units = 0;

  void add(const Units& units, std::size_t row, const Hull& hull, std::size_t control_arm) {
    least.add(hull.points[0]);
    most.add(hull.points[hull.size - 1]);
    most_at_any_return.add(hull.points[hull.size_at_any_return - 1]);
    add_control(units, row, control_arm, control);
    absolute_cost += std::abs(hull.points[0].cost);
    ++num_units;
  }
  void add(const PathEnds& other);
};
// One pass.
PathEnds path_ends(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

// All increments in path order. Memory: 48 bytes an increment, twice that while they are sorted.
struct WholePath {
  PathEnds ends;
  std::vector<Increment> increments;
};
WholePath sort_whole_path(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

// A plan as a place on the path and the units that were filled beyond it.
struct FilledArm {
  std::uint8_t from;  // at the cut
  std::uint8_t to;
};
struct PathCut {
  PathPosition position = 0;                            // increments before it are taken
  std::unordered_map<std::uint32_t, FilledArm> filled;  // by unit
};
// The arms of some units under the plan: exact, and fast where most units are clear-cut (settle.h).
void assign(const Units& units, const Rules& rules, const PathCut& cut, std::uint8_t* arms, core::RunContext& context);

}  // namespace dfcl::allocate
