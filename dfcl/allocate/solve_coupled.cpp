// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dfcl/allocate/coupled_model.h"
#include "dfcl/allocate/dual.h"
#include "dfcl/allocate/repair.h"
#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

void check_second_cost(const Problem& problem) {
  if (!has_second_resource(problem)) return;
  for (std::size_t unit = 0; unit < problem.num_units(); ++unit) {
    for (const float cost : problem.second.cost.row(unit)) {
      if (std::isfinite(cost)) continue;
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "second cost is not finite",
                         .where = fmt::format("unit {}", unit),
                         .found = fmt::format("{}", cost),
                         .expected = "a finite number"});
    }
  }
}

// The exact sums of a plan, and whether they keep to every limit.
struct Checked {
  Totals totals;
  double spend = 0.0;
  double second_spend = 0.0;
  std::vector<double> segment_spend;
  bool feasible = true;
};

Checked check_plan(const Problem& problem, double budget, const std::vector<std::uint8_t>& arm) {
  const Prices prices(problem.rules);
  Checked checked;
  ExactSum second;
  std::vector<Totals> segments(problem.segments.budgets.size());
  for (std::size_t unit = 0; unit < arm.size(); ++unit) {
    const float cost = problem.cost(unit, arm[unit]);
    const float revenue = problem.revenue(unit, arm[unit]);
    checked.totals.add(arm[unit], cost, revenue);
    if (has_second_resource(problem)) second.add(problem.second.cost(unit, arm[unit]));
    if (!segments.empty()) segments[problem.segments.of_unit[unit]].add(arm[unit], cost, revenue);
  }
  checked.spend = checked.totals.spend(prices);
  checked.second_spend = second.value();
  checked.feasible = checked.spend <= budget && checked.second_spend <= problem.second.budget;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    checked.segment_spend.push_back(segments[s].spend(prices));
    checked.feasible &= checked.segment_spend[s] <= problem.segments.budgets[s];
  }
  const auto& units = checked.totals.units;
  for (std::size_t j = 0; j < problem.num_arms(); ++j) {
    if (!problem.max_units.empty()) checked.feasible &= units[j] <= problem.max_units[j];
    if (!problem.min_units.empty()) checked.feasible &= units[j] >= problem.min_units[j];
  }
  return checked;
}

// The same problem without the constraints that couple.
Solution solve_relaxed(const Problem& problem, double budget, core::RunContext& context) {
  Problem relaxed = problem;
  relaxed.min_units.clear();
  relaxed.max_units.clear();
  relaxed.second = {};
  return allocate(relaxed, budget, context);
}

// A feasible plan from the dual's multipliers, or from raised ones where those leave too little room. Empty: none.
std::vector<std::uint8_t> find_plan(const CoupledModel& model, double budget, const DualSolution& dual,
                                    core::RunContext& context) {
  for (const double raise : {1.0, 1.02, 1.2, 2.0}) {
    std::vector<double> multipliers = dual.multipliers;
    for (double& multiplier : multipliers) multiplier *= raise;
    PlanState state(model, best_scores(model, multipliers, context), context);
    if (!repair(state, multipliers, context)) continue;
    improve(state, dual.multipliers, context);
    if (check_plan(model.problem(), budget, state.arms()).feasible) return state.arms();
  }
  return {};
}

void describe_multipliers(const CoupledModel& model, const DualSolution& dual, Solution& solution) {
  const auto multiplier_of = [&](std::size_t limit) {
    return limit == CoupledModel::kNone ? 0.0 : dual.multipliers[limit];
  };
  // A limit binds where its multiplier is worth something beside the whole gain.
  const double least = 1e-6 * (std::abs(dual.bound) + 1.0);
  const auto binds = [&](std::size_t limit) {
    return limit != CoupledModel::kNone && multiplier_of(limit) * (std::abs(model.limits()[limit]) + 1.0) > least;
  };
  solution.multiplier = multiplier_of(model.total);
  solution.second_multiplier = multiplier_of(model.second);
  solution.arm_multiplier.assign(model.num_arms(), 0.0);
  bool units_bind = false;
  for (std::size_t arm = 0; arm < model.num_arms(); ++arm) {
    if (!model.upper.empty()) solution.arm_multiplier[arm] += multiplier_of(model.upper[arm]);
    if (!model.lower.empty()) solution.arm_multiplier[arm] -= multiplier_of(model.lower[arm]);
    units_bind |= !model.upper.empty() && binds(model.upper[arm]);
    units_bind |= !model.lower.empty() && binds(model.lower[arm]);
  }
  bool segments_bind = false;
  for (const std::size_t limit : model.segment) {
    solution.segment_multiplier.push_back(multiplier_of(limit));
    segments_bind |= binds(limit);
  }
  solution.binding = binds(model.total)    ? Binding::budget
                     : binds(model.second) ? Binding::second_budget
                     : segments_bind       ? Binding::segment_budgets
                     : units_bind          ? Binding::unit_limits
                                           : Binding::best_arms;
  solution.status = Status::optimal;
}

// What the cheapest plan within all limits but the total budget spends; infinite where there is none.
double least_spend_within_limits(const Problem& problem, core::RunContext& context) {
  core::Matrix<float> nothing(problem.num_units(), problem.num_arms());
  std::fill_n(nothing.data(), nothing.view().size(), 0.0f);
  Problem cheapest = problem;
  cheapest.revenue = std::as_const(nothing).view();
  // Revenue less 1 x cost, where nobody earns anything.
  cheapest.rules.objective = Objective::revenue;
  cheapest.rules.min_roi = 1.0;
  const Solution solution = solve_coupled(cheapest, kNoBudget, context);
  return solution.has_plan() ? solution.spend : std::numeric_limits<double>::infinity();
}

}  // namespace

Solution solve_coupled(const Problem& problem, double budget, core::RunContext& context) {
  check_second_cost(problem);
  Solution relaxed = solve_relaxed(problem, budget, context);
  if (!relaxed.has_plan()) {
    if (std::isfinite(budget)) relaxed.least_spend = least_spend_within_limits(problem, context);
    return relaxed;
  }
  Checked checked = check_plan(problem, budget, relaxed.arm);
  if (checked.feasible) {
    relaxed.second_spend = checked.second_spend;
    return relaxed;
  }
  const CoupledModel model(problem, budget);
  const DualSolution dual = solve_dual(model, context);
  Solution solution;
  solution.budget = budget;
  solution.least_spend = relaxed.least_spend;
  solution.control_revenue = relaxed.control_revenue;
  solution.control_cost = relaxed.control_cost;
  if (!dual.infeasible) solution.arm = find_plan(model, budget, dual, context);
  if (solution.arm.empty()) {
    const bool proven = dual.infeasible || prove_infeasible(model, context);
    solution.status = proven ? Status::cannot_be_met : Status::none_found;
    solution.least_spend =
        std::isfinite(budget) ? least_spend_within_limits(problem, context) : std::numeric_limits<double>::infinity();
    return solution;
  }
  checked = check_plan(problem, budget, solution.arm);
  solution.spend = checked.spend;
  solution.revenue = checked.totals.revenue.value();
  solution.second_spend = checked.second_spend;
  solution.segment_spend = checked.segment_spend;
  solution.value = Prices(problem.rules).value(solution.revenue, solution.spend);
  solution.gap = std::max(0.0, dual.bound - model.gain_of_totals(solution.revenue, solution.spend));
  // The problem without the coupling has a bound of its own.
  solution.gap = std::min(solution.gap, std::max(0.0, relaxed.bound - solution.value));
  solution.bound = solution.value + solution.gap;
  solution.units_per_arm = checked.totals.units_per_arm(problem.num_arms());
  describe_multipliers(model, dual, solution);
  return solution;
}

}  // namespace dfcl::allocate
