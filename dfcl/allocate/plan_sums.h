// SPDX-License-Identifier: Apache-2.0
//
// What a plan, or a part of one, adds up to by segment and of the second resource: exact, so that neither the order of
// the units nor the threads show. 2.2 KiB per segment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/allocate/totals.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

struct PlanSums {
  std::vector<Totals> segments;  // one where the problem has no segments
  ExactSum second;

  explicit PlanSums(const Problem& problem);
  void add(const Problem& problem, std::size_t unit, std::uint8_t arm) {
    const std::size_t segment = problem.segments.budgets.empty() ? 0 : problem.segments.of_unit[unit];
    segments[segment].add(arm, problem.cost(unit, arm), problem.revenue(unit, arm));
    if (problem.second.cost.data != nullptr) second.add(problem.second.cost(unit, arm));
  }
  void add(const PlanSums& other);
  Totals total() const;
};

// One pass.
PlanSums sum_plan(const Problem& problem, std::span<const std::uint8_t> arm, core::RunContext& context);

// Do the sums keep to every limit of the problem?
bool keeps_limits(const Problem& problem, double budget, const PlanSums& sums);

}  // namespace dfcl::allocate
