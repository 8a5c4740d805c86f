// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/cut_search.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {
namespace {

constexpr std::int64_t kGatherAtMost = 1'000'000;
constexpr int kNextLog2Buckets = 16;

// Buckets in which the cut may lie.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
  double spend_before = 0.0;
  std::int64_t increments = 0;
  bool empty = true;  // the whole cell fits
};

// slack: how far float64 sums may be off.
Stretch find_stretch(const PathSummary& summary, double spend, double budget, double slack) {
  Stretch stretch;
  for (std::size_t bucket = 0; bucket < summary.grid().num_buckets(); ++bucket) {
    const PathSums& sums = summary.sums(bucket);
    if (sums.increments == 0) continue;
    if (stretch.empty && spend + sums.spend > budget - slack) {
      stretch = {bucket, bucket, spend, 0, false};
    }
    spend += sums.spend;
    if (stretch.empty) continue;
    stretch.last = bucket;
    stretch.increments += sums.increments;
    if (spend > budget + slack) break;
  }
  return stretch;
}

double spend_of(const PathSummary& summary) {
  double spend = 0.0;
  for (std::size_t bucket = 0; bucket < summary.grid().num_buckets(); ++bucket) spend += summary.sums(bucket).spend;
  return spend;
}

Cell cell_around(const PathSummary& summary, const Stretch& stretch) {
  return {summary.grid().bucket_cell(stretch.first).begin, summary.grid().bucket_cell(stretch.last).end};
}

}  // namespace

CutSearch search_cut(UnitPieces& pieces, const Rules& rules, double budget, core::RunContext& context) {
  Summarised summarised = summarise(pieces, rules, PathSummary(CellGrid({Cell{}}, kFirstLog2Buckets)), context);
  CutSearch result;
  result.control = summarised.control;
  result.least_spend = summarised.least.cost.value();
  result.num_units = summarised.num_units;
  if (result.least_spend > budget) {
    result.window.before = summarised.least;
    result.solution.outcome = WindowOutcome::too_late;
    return result;
  }
  const double slack = 1e-9 * (summarised.absolute_cost + spend_of(summarised.summary));
  double spend = result.least_spend;
  Stretch stretch = find_stretch(summarised.summary, spend, budget, slack);
  while (!stretch.empty && stretch.increments > kGatherAtMost) {
    const Cell cell = cell_around(summarised.summary, stretch);
    if (cell.width() <= 1) break;
    spend = stretch.spend_before;
    summarised = summarise(pieces, rules, PathSummary(CellGrid({cell}, kNextLog2Buckets)), context);
    stretch = find_stretch(summarised.summary, spend, budget, slack);
  }
  GatherRequest request{PathPosition{1} << kPositionBits, 0};
  if (!stretch.empty) {
    request = {cell_around(summarised.summary, stretch).begin,
               static_cast<std::size_t>(stretch.increments) + 1 + kFillIncrements};
  }
  Gathered gathered = gather(pieces, rules, request, context);
  result.window = std::move(gathered.window);
  result.solution = solve_window(result.window, Prices(rules), budget);
  return result;
}

PathPlan CutSearch::plan() const {
  PathPlan plan;
  plan.cut = solution.cut < window.increments.size() ? position_of(window.increments[solution.cut])
                                                     : PathPosition{1} << kPositionBits;
  for (const std::size_t index : solution.filled) {
    plan.filled[window.increments[index].unit] = window.increments[index].arm_to;
  }
  return plan;
}

void describe(const Rules& rules, const Window& window, const WindowSolution& window_solution, Solution& solution) {
  const Prices prices(rules);
  solution.revenue = window_solution.total.revenue.value();
  solution.spend = window_solution.total.cost.value();
  solution.value = prices.value(solution.revenue, solution.spend);
  const bool cut = window_solution.cut < window.increments.size();
  if (!cut) {
    solution.bound = solution.value;
    solution.multiplier = 0.0;
    solution.binding = rules.min_roi > 0.0 ? Binding::min_roi : Binding::best_arms;
    solution.status = Status::not_binding;
  } else {
    // The LP optimum: the rest of the budget buys a part of the increment at the cut.
    const double efficiency = window.increments[window_solution.cut].efficiency;
    const double left = solution.budget - window_solution.at_cut.cost.value();
    const double revenue = window_solution.at_cut.revenue.value() + efficiency * left;
    solution.bound = std::max(solution.value, prices.value(revenue, solution.budget));
    solution.multiplier = prices.multiplier(efficiency);
    solution.binding = Binding::budget;
    solution.status = Status::optimal;
  }
  solution.gap = solution.bound - solution.value;
}

}  // namespace dfcl::allocate
