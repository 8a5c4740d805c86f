// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/window.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dfcl/core/hash.h"

namespace dfcl::allocate {
namespace {

// The units that were passed over while filling: their later increments start from an arm they do not have.
class PassedUnits {
 public:
  PassedUnits() : slots_(std::bit_ceil(4 * kFillIncrements), kEmpty) {}
  bool contains(std::uint32_t unit) const { return slots_[slot_of(unit)] == unit; }
  void insert(std::uint32_t unit) { slots_[slot_of(unit)] = unit; }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  std::size_t slot_of(std::uint32_t unit) const {
    std::size_t slot = core::mix_bits(unit) & (slots_.size() - 1);
    while (slots_[slot] != kEmpty && slots_[slot] != unit) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  std::vector<std::uint32_t> slots_;
};

// The largest number of leading increments that keep within the budget; totals moves there. The correctly rounded
// spend never falls along the path, so halving finds it. Each increment is added at most twice.
std::size_t find_cut(const std::vector<Increment>& increments, double budget, Totals& totals) {
  std::size_t cut = 0;
  for (std::size_t width = std::bit_floor(increments.size()); width > 0; width /= 2) {
    if (cut + width > increments.size()) continue;
    for (std::size_t i = cut; i < cut + width; ++i) totals.take(increments[i]);
    if (totals.cost.value() <= budget) {
      cut += width;
    } else {
      for (std::size_t i = cut; i < cut + width; ++i) totals.give_back(increments[i]);
    }
  }
  return cut;
}

void fill(const std::vector<Increment>& increments, double budget, WindowSolution& solution) {
  PassedUnits passed;
  passed.insert(increments[solution.cut].unit);
  double left = budget - solution.total.cost.value();
  const std::size_t end = std::min(increments.size(), solution.cut + 1 + kFillIncrements);
  for (std::size_t i = solution.cut + 1; i < end && left > 0.0; ++i) {
    const Increment& increment = increments[i];
    if (passed.contains(increment.unit)) continue;
    // Far from the border float64 can tell; near it the exact sum must.
    bool fits = increment.extra_cost() <= left + 1e-9 * (left + std::abs(budget));
    if (fits) {
      solution.total.take(increment);
      const double spend = solution.total.cost.value();
      fits = spend <= budget;
      if (fits) {
        left = budget - spend;
        solution.filled.push_back(i);
      } else {
        solution.total.give_back(increment);
      }
    }
    if (!fits) passed.insert(increment.unit);
  }
}

}  // namespace

WindowSolution solve_window(const Window& window, double budget) {
  WindowSolution solution;
  solution.total = window.before;
  if (window.before.cost.value() > budget) {
    solution.outcome = WindowOutcome::too_late;
    return solution;
  }
  const std::size_t size = window.increments.size();
  solution.cut = find_cut(window.increments, budget, solution.total);
  solution.at_cut = solution.total;
  const std::size_t needed = std::min(size, solution.cut + 1 + kFillIncrements);
  if (!window.reaches_end && (solution.cut == size || needed < solution.cut + 1 + kFillIncrements)) {
    solution.outcome = WindowOutcome::too_early;
    return solution;
  }
  if (solution.cut < size) fill(window.increments, budget, solution);
  return solution;
}

}  // namespace dfcl::allocate
