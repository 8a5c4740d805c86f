// SPDX-License-Identifier: Apache-2.0
//
// Passes over all units, wherever they come from: the matrices in memory are one piece, a stream is many. Each pass
// keeps what it needs to know in memory that does not grow with the units.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "dfcl/allocate/window.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

// Brings increments into path order, on all threads. Takes as much memory again.
void sort_path(std::vector<Increment>& increments, core::RunContext& context);

// Where units come from, in row order, as often as asked.
class UnitPieces {
 public:
  virtual ~UnitPieces() = default;
  virtual std::size_t num_arms() const = 0;
  // One pass. The views handed to the body are valid during the call only.
  virtual void for_each(const std::function<void(const Units&)>& body) = 0;
};

class UnitsInMemory final : public UnitPieces {
 public:
  explicit UnitsInMemory(Units units) : units_(units) {}
  std::size_t num_arms() const override { return units_.revenue.cols; }
  void for_each(const std::function<void(const Units&)>& body) override { body(units_); }

 private:
  Units units_;
};

// The same for any number of units: how many chunks a piece is cut into. Sums over them are joined in their order.
inline constexpr std::size_t kParts = 16;
inline std::size_t part_begin(std::size_t num_units, std::size_t part) { return num_units * part / kParts; }

// Control is what gains are counted from, so its numbers must be finite even for units that may not get it.
inline void add_control(const Units& units, std::size_t row, std::size_t control, Totals& totals) {
  const float cost = units.cost(row, control);
  const float revenue = units.revenue(row, control);
  if (units.eligible.data != nullptr && !(std::isfinite(cost) && std::isfinite(revenue))) throw_bad_unit(units, row);
  totals.add(cost, revenue);
}

// The sums at a place of the path, and the increments that follow it. Memory: 64 bytes an increment kept.
struct GatherRequest {
  PathPosition from = 0;
  std::size_t at_most = 0;  // increments to keep: the first ones
};
struct Gathered {
  Window window;
  Totals control;
  std::size_t num_units = 0;
};
Gathered gather(UnitPieces& pieces, const Rules& rules, const GatherRequest& request, core::RunContext& context);

// A plan as a place on the path and the units that were filled beyond it.
struct PathPlan {
  PathPosition cut = 0;                                    // increments before it are taken
  std::unordered_map<std::uint32_t, std::uint8_t> filled;  // unit -> arm
};
// The arms of some units under the plan.
void assign(const Units& units, const Rules& rules, const PathPlan& plan, std::uint8_t* arms,
            core::RunContext& context);

}  // namespace dfcl::allocate
