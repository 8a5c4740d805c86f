// SPDX-License-Identifier: Apache-2.0
//
// From intervals to yes, no and not shown.
#include <fmt/format.h>

#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {

std::string answer_of(double low, double high) {
  if (low > 0.0) return "yes";
  return high < 0.0 ? "no" : "not_shown";
}

std::string pays_back_of(const JudgedPlan& plan) {
  if (plan.simultaneous_profit) return answer_of(plan.simultaneous_profit->low, plan.simultaneous_profit->high);
  // Revenue of unknown worth: more of it for no more cost pays back, less of it for no less does not.
  const Interval& cost = plan.incremental_cost;
  const double most_cost = cost.has_ends() ? cost.high : cost.value;
  const double least_cost = cost.has_ends() ? cost.low : cost.value;
  const std::string gain = answer_of(plan.simultaneous_increment.low, plan.simultaneous_increment.high);
  if (gain == "yes") return most_cost <= 0.0 ? "yes" : "depends";
  return gain == "no" && least_cost >= 0.0 ? "no" : "not_shown";
}

std::string difference_sentence(const BaselineDifferenceFigures& figures, const std::string& name, double level,
                                const Words& words) {
  const auto number = [&](double value) { return number_words(value, words); };
  if (!figures.net.has_ends())
    return fmt::format("No interval can be given, so {} cannot be compared with {}.", figures.model, name);
  if (figures.net.value == 0.0 && figures.simultaneous_low == figures.simultaneous_high)
    return fmt::format("{} is the same plan as {}.", figures.model, name);
  const std::string range =
      fmt::format("{} per unit ({} % interval {} to {}, all at once)", number(figures.net.value), number(100.0 * level),
                  number(figures.simultaneous_low), number(figures.simultaneous_high));
  const char* const verb = figures.answer == "yes"  ? "beats"
                           : figures.answer == "no" ? "is beaten by"
                                                    : "is not shown to differ from";
  return fmt::format("{} {} {}: {}, at {} {} per {} for the difference in spend ({} against {}).", figures.model, verb,
                     name, range, number(figures.price), words.revenue, words.cost, number(figures.plan_cost),
                     number(figures.baseline_cost));
}

}  // namespace dfcl::evaluate
