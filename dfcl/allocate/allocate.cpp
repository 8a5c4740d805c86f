// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/allocate.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {

std::string_view to_text(Status status) {
  switch (status) {
    case Status::not_run: return "not run";
    case Status::optimal: return "optimal within gap";
    case Status::not_binding: return "budget not binding";
    case Status::no_budget: return "no budget";
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

void describe_control(const Totals& control, const Prices& prices, Solution& solution) {
  solution.control_revenue = control.revenue.value();
  solution.control_cost = control.spend(prices);
}

void explain_unspent(const Rules& rules, const std::function<bool()>& could_spend_more, Solution& solution) {
  if (solution.status != Status::not_binding && solution.status != Status::no_budget) return;
  const Prices prices(rules);
  const double control_value = prices.value(solution.control_revenue, solution.control_cost);
  if (solution.spend == solution.least_spend && solution.value <= control_value) solution.status = Status::no_gain;
  if (rules.min_roi <= 0.0) return;
  solution.binding = could_spend_more() ? Binding::min_roi : Binding::best_arms;
}

bool has_increment_below_least_return(const Units& units, const Prices& prices, core::RunContext& context) {
  constexpr std::size_t kChunkUnits = 8192;
  std::atomic<bool> found = false;
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    Hull hull;
    for (std::size_t row = begin; row < end && !found.load(std::memory_order_relaxed); ++row) {
      build_hull(units, row, prices, hull);
      if (hull.size_at_any_return > hull.size) found.store(true, std::memory_order_relaxed);
    }
  });
  return found;
}

Solution solve_tied(const Problem& problem, double budget, core::RunContext& context) {
  return has_unit_limits(problem) || has_second_resource(problem) ? solve_coupled(problem, budget, context)
                                                                  : solve_segments(problem, budget, context);
}

namespace {

Solution with_arms(const PlanPath& path, PathPlan plan, core::RunContext& context) {
  if (plan.summary.arm.empty()) plan.summary.arm = path.arms(plan, context);
  return std::move(plan.summary);
}

}  // namespace

Solution allocate(const Problem& problem, double budget_total, core::RunContext& context) {
  PlanPath path(problem, PlanPath::Form::one_budget);
  return with_arms(path, path.at_budget(budget_total, context), context);
}

Solution apply_multiplier(const Problem& problem, double multiplier, core::RunContext& context) {
  PlanPath path(problem);
  return with_arms(path, path.at_multiplier(multiplier, context), context);
}

Curve allocate_curve(const Problem& problem, std::size_t num_points, core::RunContext& context) {
  require_path_only(problem, "a curve");
  return PlanPath(problem).curve(num_points, context);
}

SpendRange spend_range(const Problem& problem, core::RunContext& context) {
  validate(problem);
  require_path_only(problem, "spend_range");
  constexpr std::size_t kChunkUnits = 8192;
  struct Sums {
    Totals least, most, costliest;
  };
  const Prices prices(problem.rules);
  const Units units = all_units(problem);
  const Sums sums = core::sum_chunks(
      context, units.size(), kChunkUnits, Sums{},
      [&](std::size_t begin, std::size_t end) {
        Sums part;
        Hull hull;
        for (std::size_t row = begin; row < end; ++row) {
          build_hull(units, row, prices, hull);
          part.least.add(hull.points[0]);
          part.most.add(hull.points[hull.size - 1]);
          const std::uint8_t* eligible = units.eligible_row(row);
          std::uint8_t costliest = hull.points[hull.size - 1].arm;
          for (std::size_t arm = 0; arm < units.cost.cols; ++arm) {
            if (eligible != nullptr && eligible[arm] == 0) continue;
            if (units.cost(row, arm) > units.cost(row, costliest)) costliest = static_cast<std::uint8_t>(arm);
          }
          part.costliest.add(costliest, units.cost(row, costliest), 0.0f);
        }
        return part;
      },
      [](Sums& total, const Sums& part) {
        total.least.add(part.least);
        total.most.add(part.most);
        total.costliest.add(part.costliest);
      });
  return {sums.least.spend(prices), sums.most.spend(prices), sums.costliest.spend(prices)};
}

}  // namespace dfcl::allocate
