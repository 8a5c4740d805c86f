// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/promise_report.h"

#include <fmt/format.h>

#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {

std::string evaluated_text(const core::Interval& interval) {
  return fmt::format("{} ({} to {})", amount_text(interval.value), amount_text(interval.low),
                     amount_text(interval.high));
}

std::string unseen_text(data::UnseenUnits unseen, std::size_t num_units, bool chose_members, const std::string& units) {
  if (unseen == data::UnseenUnits::validation)
    return fmt::format("{} validation {}, which only stopped or calibrated training", count_text(num_units), units);
  return fmt::format("{} {}, each by a fit without it{}", count_text(num_units), units,
                     chose_members ? ", before selection among members" : "");
}

std::string promise_sentence(const launch::Promise& promise, const data::ReportWords& words) {
  if (!promise.is_evaluated()) return "not evaluated: " + promise.reason;
  const Wording wording(words);
  const std::string worth = fmt::format("on {} the model had not seen such a plan was worth {} ({} to {})",
                                        wording.units(), wording.revenue_total(promise.revenue.value),
                                        amount_text(promise.revenue.low), amount_text(promise.revenue.high));
  if (promise.status == launch::PromiseStatus::index) return worth;
  return fmt::format("predicted {}{}; {}", promise.planned.revenue > 0.0 ? "+" : "",
                     wording.revenue_total(promise.planned.revenue), worth);
}

std::string evaluated_plans_text(const data::EvaluatedPlans& evaluated) {
  TextTable table({{"spend"}, {"predicted"}, {"evaluated"}, {"95 % interval"}, {"cost"}, {"95 % interval"}});
  for (const data::EvaluatedPlan& plan : evaluated.plans) {
    const core::Interval revenue = core::normal_interval(plan.revenue, plan.revenue_error, launch::kPromiseLevel);
    const core::Interval cost = core::normal_interval(plan.cost, plan.cost_error, launch::kPromiseLevel);
    table.add_row({number_text(plan.spend), number_text(plan.predicted), number_text(revenue.value),
                   interval_text(revenue.low, revenue.high), number_text(cost.value),
                   plan.cost_error > 0.0 ? interval_text(cost.low, cost.high) : ""});
  }
  return "\n" +
         wrap(fmt::format("Value of its plans per unit over control, estimated on {}:",
                          unseen_text(evaluated.units, evaluated.num_units, evaluated.chose_members)),
              0) +
         "\n" + table.text();
}

}  // namespace dfcl::report
