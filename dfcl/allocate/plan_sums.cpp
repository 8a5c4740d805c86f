// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/plan_sums.h"

#include <algorithm>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

PlanSums::PlanSums(const Problem& problem) : segments(std::max<std::size_t>(1, problem.segments.budgets.size())) {}

void PlanSums::add(const PlanSums& other) {
  for (std::size_t s = 0; s < segments.size(); ++s) segments[s].add(other.segments[s]);
  second.add(other.second);
}

Totals PlanSums::total() const {
  Totals sum;
  for (const Totals& segment : segments) sum.add(segment);
  return sum;
}

PlanSums sum_plan(const Problem& problem, std::span<const std::uint8_t> arm, core::RunContext& context) {
  std::vector<PlanSums> parts(kParts, PlanSums(problem));
  context.pool.run(kParts, [&](std::size_t part) {
    context.check_cancelled();
    const std::size_t end = part_begin(arm.size(), part + 1);
    for (std::size_t unit = part_begin(arm.size(), part); unit < end; ++unit) parts[part].add(problem, unit, arm[unit]);
  });
  PlanSums sums(problem);
  for (const PlanSums& part : parts) sums.add(part);
  return sums;
}

bool keeps_limits(const Problem& problem, double budget, const PlanSums& sums) {
  const Prices prices(problem.rules);
  const Totals total = sums.total();
  bool keeps = total.spend(prices) <= budget && sums.second.value() <= problem.second.budget;
  for (std::size_t s = 0; s < problem.segments.budgets.size(); ++s)
    keeps &= sums.segments[s].spend(prices) <= problem.segments.budgets[s];
  for (std::size_t arm = 0; arm < problem.num_arms(); ++arm) {
    if (!problem.max_units.empty()) keeps &= total.units[arm] <= problem.max_units[arm];
    if (!problem.min_units.empty()) keeps &= total.units[arm] >= problem.min_units[arm];
  }
  return keeps;
}

}  // namespace dfcl::allocate
