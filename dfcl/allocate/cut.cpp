// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/cut.h"

#include <cmath>

#include "dfcl/allocate/filling.h"

namespace dfcl::allocate {
namespace {

// How many leading increments keep within the budget; totals moves there. The correctly rounded spend never falls along
// the path. Far from the budget a running float64 sum with a bound on its error decides, near it the exact sum.
std::size_t take_what_fits(std::span<const Increment> increments, const Prices& prices, double budget, Totals& totals) {
  constexpr double kRounding = 0x1p-52;
  const bool estimate = prices.known() == nullptr;
  double spend = totals.spend(prices);
  double error = kRounding * std::abs(spend);
  std::size_t fitting = 0;
  for (; fitting < increments.size(); ++fitting) {
    const Increment& increment = increments[fitting];
    const double from = static_cast<double>(increment.cost_from);
    const double to = static_cast<double>(increment.cost_to);
    const double after = spend + (to - from);
    const double after_error = error + kRounding * (std::abs(after) + std::abs(from) + std::abs(to));
    if (estimate && after + after_error <= budget) {
      totals.take(increment);
      spend = after;
      error = after_error;
      continue;
    }
    if (estimate && after - after_error > budget) break;
    totals.take(increment);
    const double exact = totals.spend(prices);
    if (exact > budget) {
      totals.give_back(increment);
      break;
    }
    spend = exact;
    error = kRounding * std::abs(spend);
  }
  // Units of equal keys (never by chance) are taken together, so that a position names the cut.
  while (fitting > 0 && fitting < increments.size() &&
         position_of(increments[fitting - 1]) == position_of(increments[fitting])) {
    totals.give_back(increments[--fitting]);
  }
  return fitting;
}

// rest: of the block that holds the cut, from the increment after it on. False where a block was not made.
bool fill(std::span<const Increment> rest, PathBlocks& blocks, const Prices& prices, double budget,
          CutSolution& solution) {
  double left = budget - solution.total.spend(prices);
  if (prices.known() != nullptr) left += 1e-12 * std::abs(budget);  // the sum decides below, not this difference
  Filler filler(*solution.next, prices, left);
  filler.offer(rest);
  while (!filler.done()) {
    const std::optional<PathBlocks::Head> head = blocks.head();
    if (!head) break;
    if (head->least_cost > filler.most_unused()) {
      filler.pass_over(head->count);
      blocks.skip();
      continue;
    }
    const auto increments = blocks.read();
    if (!increments) return false;
    filler.offer(*increments);
  }
  for (const Filling& filling : filler.finish()) {
    for (const std::size_t i : filling.taken) solution.total.take(filler.offered(i));
    if (solution.total.spend(prices) <= budget) {  // always, up to the rounding of `used`
      for (const std::size_t i : filling.taken) solution.filled.push_back(filler.offered(i));
      break;
    }
    for (const std::size_t i : filling.taken) solution.total.give_back(filler.offered(i));
  }
  return true;
}

}  // namespace

CutSolution solve_cut(const Totals& before, PathBlocks& blocks, const Prices& prices, double budget) {
  CutSolution solution;
  solution.total = before;
  if (before.spend(prices) > budget) {
    solution.outcome = CutOutcome::too_late;
    return solution;
  }
  while (blocks.head()) {
    const auto increments = blocks.read();
    if (!increments) {
      solution.outcome = CutOutcome::too_early;
      return solution;
    }
    const std::size_t fitting = take_what_fits(*increments, prices, budget, solution.total);
    if (fitting == increments->size()) continue;
    solution.at_cut = solution.total;
    solution.next = (*increments)[fitting];
    if (!fill(increments->subspan(fitting + 1), blocks, prices, budget, solution)) {
      solution.outcome = CutOutcome::too_early;
    }
    return solution;
  }
  solution.at_cut = solution.total;
  return solution;
}

}  // namespace dfcl::allocate
