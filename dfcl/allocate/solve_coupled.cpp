// SPDX-License-Identifier: Apache-2.0
//
// Few units are solved as they are. Of many, a sample says where the multipliers lie; one pass settles the units that
// take the same arm anywhere near there, and the dual and the plan are those of the open units with what is left of the
// limits. The bound stays that of all units: inside the box the settled ones are linear in the multipliers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "dfcl/allocate/chosen_units.h"
#include "dfcl/allocate/coupled_model.h"
#include "dfcl/allocate/dual.h"
#include "dfcl/allocate/multiplier_box.h"
#include "dfcl/allocate/repair.h"
#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

void check_second_cost(const Problem& problem, core::RunContext& context) {
  if (!has_second_resource(problem)) return;
  constexpr std::size_t kChunkUnits = 65'536;
  core::for_each_chunk(context, problem.num_units(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t unit = begin; unit < end; ++unit) {
      for (const float cost : problem.second.cost.row(unit)) {
        if (std::isfinite(cost)) continue;
        throw core::Error({.kind = core::ErrorKind::data,
                           .what = "second cost is not finite",
                           .where = fmt::format("unit {}", unit),
                           .found = fmt::format("{}", cost),
                           .expected = "a finite number"});
      }
    }
  });
}

// The same problem without the constraints that couple.
Solution solve_relaxed(const Problem& problem, double budget, core::RunContext& context) {
  Problem relaxed = problem;
  relaxed.min_units.clear();
  relaxed.max_units.clear();
  relaxed.second = {};
  return allocate(relaxed, budget, context);
}

struct Found {
  std::vector<std::uint8_t> arm;  // of all units; empty: no plan
  std::optional<PlanSums> sums;
  DualSolution dual;
  bool infeasible = false;  // proven
};

// A plan of some units from the dual's multipliers, or from raised ones where those leave too little room. Others:
// what all other units sum up to. Adds the plan to what was found.
bool find_plan(const CoupledModel& model, const CoupledModel& whole, double budget, const PlanSums& others,
               const ChosenUnits& units, Found& found, core::RunContext& context) {
  for (const double raise : {1.0, 1.02, 1.2, 2.0}) {
    std::vector<double> multipliers = found.dual.multipliers;
    for (double& multiplier : multipliers) multiplier *= raise;
    PlanState state(model, best_scores(model, multipliers, context), context);
    if (!repair(state, multipliers, context)) continue;
    improve(state, found.dual.multipliers, context);
    PlanSums sums = others;
    sums.add(sum_plan(model.problem(), state.arms(), context));
    if (!keeps_limits(whole.problem(), budget, sums)) continue;
    for (std::size_t place = 0; place < units.size(); ++place) found.arm[units.unit(place)] = state.arms()[place];
    found.sums = std::move(sums);
    return true;
  }
  return false;
}

Found solve_all_units(CoupledModel& whole, double budget, core::RunContext& context) {
  const Problem& problem = whole.problem();
  const ChosenUnits units(problem, every_unit(problem), context);
  whole.measure_scales(units.problem());
  const CoupledModel model(whole, units.problem(), whole.limits());
  Found found;
  found.dual = solve_dual(model, {}, context);
  found.infeasible = !found.dual.proof.empty();
  if (found.infeasible) return found;
  found.arm.resize(problem.num_units());
  if (find_plan(model, whole, budget, PlanSums(problem), units, found, context)) return found;
  found.arm.clear();
  found.infeasible = !find_proof(model, context).empty();
  return found;
}

// None where the sample does not lead to a plan or a proof.
std::optional<Found> solve_open_units(CoupledModel& whole, double budget, core::RunContext& context) {
  constexpr int kMostRounds = 10;
  const Problem& problem = whole.problem();
  Found found;
  std::optional<MultiplierBox> box = box_on_sample(whole, found.infeasible, context);
  if (found.infeasible) return found;
  found.arm.resize(box ? problem.num_units() : 0);
  for (int round = 0; box && round < kMostRounds; ++round) {
    const SettledUnits settled =
        settle_units(problem, whole.price_box(box->middle, box->width), found.arm.data(), context);
    const ChosenUnits units(problem, settled.open, context);
    const CoupledModel model(whole, units.problem(), whole.limits_beside(settled.sums));
    found.dual = solve_dual(model, box->dual_options(), context);
    if (box->recentre(found.dual.multipliers)) continue;  // the best multipliers lie outside
    found.dual.bound += whole.gain_of_sums(settled.sums);
    if (find_plan(model, whole, budget, settled.sums, units, found, context)) return found;
    box->widen();
  }
  return std::nullopt;
}

Found solve_limits(const Problem& problem, double budget, Goal goal, core::RunContext& context) {
  CoupledModel model(problem, budget, goal);
  std::optional<Found> found = solve_open_units(model, budget, context);
  return found ? std::move(*found) : solve_all_units(model, budget, context);
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
  std::vector<std::uint8_t> arm(problem.num_units());
  assign(all_units(problem), problem.rules, {0, {}}, arm.data(), context);
  const PlanSums cheapest = sum_plan(problem, arm, context);
  if (keeps_limits(problem, kNoBudget, cheapest)) return cheapest.total().spend(Prices(problem.rules));
  const Found found = solve_limits(problem, kNoBudget, Goal::least_spend, context);
  return found.sums ? found.sums->total().spend(Prices(problem.rules)) : std::numeric_limits<double>::infinity();
}

}  // namespace

Solution solve_coupled(const Problem& problem, double budget, core::RunContext& context) {
  check_second_cost(problem, context);
  Solution relaxed = solve_relaxed(problem, budget, context);
  if (!relaxed.has_plan()) {
    if (std::isfinite(budget)) relaxed.least_spend = least_spend_within_limits(problem, context);
    return relaxed;
  }
  const PlanSums relaxed_sums = sum_plan(problem, relaxed.arm, context);
  if (keeps_limits(problem, budget, relaxed_sums)) {
    relaxed.second_spend = relaxed_sums.second.value();
    return relaxed;
  }
  relaxed.arm = {};
  Found found = solve_limits(problem, budget, Goal::value, context);
  Solution solution;
  solution.budget = budget;
  solution.least_spend = relaxed.least_spend;
  solution.control_revenue = relaxed.control_revenue;
  solution.control_cost = relaxed.control_cost;
  if (!found.sums) {
    solution.status = found.infeasible ? Status::cannot_be_met : Status::none_found;
    solution.least_spend =
        std::isfinite(budget) ? least_spend_within_limits(problem, context) : std::numeric_limits<double>::infinity();
    return solution;
  }
  const Prices prices(problem.rules);
  const Totals totals = found.sums->total();
  solution.arm = std::move(found.arm);
  solution.spend = totals.spend(prices);
  solution.revenue = totals.revenue.value();
  solution.second_spend = found.sums->second.value();
  for (std::size_t s = 0; s < problem.segments.budgets.size(); ++s)
    solution.segment_spend.push_back(found.sums->segments[s].spend(prices));
  solution.value = prices.value(solution.revenue, solution.spend);
  const CoupledModel model(problem, budget);
  solution.gap = std::max(0.0, found.dual.bound - model.gain_of_totals(solution.revenue, solution.spend));
  // The problem without the coupling has a bound of its own.
  solution.gap = std::min(solution.gap, std::max(0.0, relaxed.bound - solution.value));
  solution.bound = solution.value + solution.gap;
  solution.units_per_arm = totals.units_per_arm(problem.num_arms());
  describe_multipliers(model, found.dual, solution);
  return solution;
}

}  // namespace dfcl::allocate
