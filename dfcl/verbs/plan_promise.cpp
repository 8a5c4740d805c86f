// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/plan_promise.h"

#include <fmt/format.h>

#include "dfcl/report/plan/promise_report.h"

namespace dfcl::verbs {
namespace {

// Why what plans were worth says nothing about this one; "": it does.
std::string why_not_evaluated(const AllocateRequest& request, const PlanInput& input) {
  if (!input.facts.evaluated) {
    return input.facts.model.empty() ? "the predictions are not of a model trained by dfcl"
                                     : "the model was trained without enough units that it had not seen, or by an "
                                       "earlier dfcl";
  }
  if (request.segment) return "segments have budgets of their own";
  if (request.second_cost) return "there is a second budget";
  if (!request.min_units.empty() || !request.max_units.empty()) return "there are limits on units per arm";
  if (request.rule != PlanRule::none) return "it is a rule, which dfcl evaluate judges";
  if (input.has_drifted) return "the units are unlike those of the trial";
  if (input.has_eligibility) return "some units may not get every arm";
  return "";
}

// The units that get what is best for them: all but those held out or explored.
launch::PlannedIncrement planned_increment(const PlanInput& input, const report::PlanSummary& figures) {
  const allocate::Solution& solution = figures.solution;
  if (!figures.launch) {
    return {figures.num_units, solution.revenue - solution.control_revenue, report::incremental_cost(figures),
            input.facts.is_index};
  }
  const launch::RoleTotals& role = figures.launch->roles[static_cast<std::size_t>(data::Role::plan)];
  return {role.units, role.revenue - role.control_revenue, role.spend - role.control_spend, input.facts.is_index};
}

}  // namespace

launch::Promise make_promise(const AllocateRequest& request, const PlanInput& input,
                             const report::PlanSummary& figures) {
  const launch::PlannedIncrement planned = planned_increment(input, figures);
  const std::string why_not = why_not_evaluated(request, input);
  if (!why_not.empty()) return launch::not_evaluated(planned, why_not);
  const auto worth = figures.shows_profit ? std::optional(input.rules.margin) : std::nullopt;
  return launch::promise_of(planned, *input.facts.evaluated, worth);
}

void warn_of_promise(const report::PlanSummary& figures, bool is_one_of_several, core::RunContext& context) {
  if (!figures.promise || !figures.promise->differs()) return;
  context.warn((is_one_of_several ? fmt::format("budget {}: ", figures.budget) : "") +
               report::promise_sentence(*figures.promise, figures.words));
}

}  // namespace dfcl::verbs
