// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/allocate.h"

#include <cmath>

#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {

std::string_view to_text(Status status) {
  switch (status) {
    case Status::not_run: return "not run";
    case Status::optimal: return "optimal within gap";
    case Status::not_binding: return "budget not binding";
    case Status::no_gain: return "no gain";
    case Status::cannot_be_met: return "cannot be met";
    case Status::none_found: return "no feasible plan found";
  }
  return "";
}

std::string_view to_text(Binding binding) {
  switch (binding) {
    case Binding::nothing: return "nothing";
    case Binding::budget: return "budget";
    case Binding::best_arms: return "best arms reached";
    case Binding::min_roi: return "least return per cost";
    case Binding::segment_budgets: return "segment budgets";
    case Binding::unit_limits: return "limits of units per arm";
    case Binding::second_budget: return "second budget";
  }
  return "";
}

Solution allocate(const Problem& problem, double budget_total, core::RunContext& context) {
  validate(problem);
  validate_budget(budget_total);
  if (has_unit_limits(problem) || has_second_resource(problem)) return solve_coupled(problem, budget_total, context);
  if (has_segments(problem)) return solve_segments(problem, budget_total, context);
  return solve_path(problem, budget_total, context);
}

PathPlan plan_at_multiplier(const Rules& rules, double multiplier) {
  validate_budget(multiplier);
  const double efficiency = Prices(rules).efficiency(multiplier);
  // Efficiencies above this one: up to the first place of the path that could hold an increment of exactly it.
  PathPlan plan{PathPosition{1} << kPositionBits, {}};
  if (efficiency > 0.0) plan.cut = std::isinf(efficiency) ? 0 : position_of(efficiency, 0);
  return plan;
}

Solution describe_plan_at_multiplier(UnitPieces& pieces, const Rules& rules, const PathPlan& plan, double multiplier,
                                     core::RunContext& context) {
  const Gathered gathered = gather(pieces, rules, {plan.cut, 0}, context);
  Solution solution;
  describe_control(gathered.control, solution);
  solution.spend = gathered.window.before.cost.value();
  solution.revenue = gathered.window.before.revenue.value();
  solution.value = Prices(rules).value(solution.revenue, solution.spend);
  solution.bound = solution.value;  // of every plan that spends as much
  solution.multiplier = multiplier;
  solution.least_spend = gather(pieces, rules, {0, 0}, context).window.before.cost.value();
  solution.budget = solution.spend;
  solution.binding = Binding::budget;
  solution.status = Status::optimal;
  return solution;
}

Solution apply_multiplier(const Problem& problem, double multiplier, core::RunContext& context) {
  validate(problem);
  require_path_only(problem, "apply_multiplier");
  const PathPlan plan = plan_at_multiplier(problem.rules, multiplier);
  UnitsInMemory pieces(all_units(problem));
  Solution solution = describe_plan_at_multiplier(pieces, problem.rules, plan, multiplier, context);
  solution.arm.resize(problem.num_units());
  assign(all_units(problem), problem.rules, plan, solution.arm.data(), context);
  solution.units_per_arm = count_arms(solution.arm, problem.num_arms(), context);
  return solution;
}

SpendRange spend_range(const Problem& problem, core::RunContext& context) {
  validate(problem);
  require_path_only(problem, "spend_range");
  constexpr std::size_t kChunkUnits = 8192;
  struct Sums {
    ExactSum least, most, costliest;
  };
  const Prices prices(problem.rules);
  const Units units = all_units(problem);
  const Sums sums = core::sum_chunks(
      context, units.size(), kChunkUnits, Sums{},
      [&](std::size_t begin, std::size_t end) {
        Sums part;
        Hull hull;
        for (std::size_t row = begin; row < end; ++row) {
          build_hull(units, row, prices.least_efficiency, hull);
          part.least.add(hull.points[0].cost);
          part.most.add(hull.points[hull.size - 1].cost);
          const std::uint8_t* eligible = units.eligible_row(row);
          float costliest = hull.points[hull.size - 1].cost;
          for (std::size_t arm = 0; arm < units.cost.cols; ++arm) {
            if (eligible == nullptr || eligible[arm] != 0) costliest = std::max(costliest, units.cost(row, arm));
          }
          part.costliest.add(costliest);
        }
        return part;
      },
      [](Sums& total, const Sums& part) {
        total.least.add(part.least);
        total.most.add(part.most);
        total.costliest.add(part.costliest);
      });
  return {sums.least.value(), sums.most.value(), sums.costliest.value()};
}

}  // namespace dfcl::allocate
