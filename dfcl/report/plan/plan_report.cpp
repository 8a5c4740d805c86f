// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dfcl/report/plan/launch_report.h"
#include "dfcl/report/plan/plan_description.h"
#include "dfcl/report/plan/promise_report.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using allocate::Binding;
using allocate::Solution;
using allocate::Status;
using nlohmann::ordered_json;

bool is_above_control(const PlanSummary& plan) {
  return plan.budget_basis == data::BudgetBasis::incremental && plan.solution.control_cost != 0.0;
}

std::string status_sentence(const PlanSummary& plan) {
  const Solution& solution = plan.solution;
  switch (solution.status) {
    case Status::optimal:
      return plan.rule ? "a short rule, beside the best plan by the gap" : "the best plan, within the gap";
    case Status::not_binding: return "the budget does not bind: more money would earn nothing more";
    case Status::no_budget: return "no budget: everything that is worth its cost is bought";
    case Status::no_gain: return "no arm earns more than control at an accepted price";
    case Status::cannot_be_met:
      if (std::isinf(solution.least_spend)) return "no plan keeps the limits, whatever the budget";
      return fmt::format("the budget cannot be met: the least that any plan spends is {}{}",
                         amount_text(least_spend(plan)), is_above_control(plan) ? " above control" : "");
    case Status::none_found: return "no plan that keeps all constraints was found, nor a proof that there is none";
    case Status::not_run: break;
  }
  return "not run";
}

std::string binding_sentence(Binding binding) {
  switch (binding) {
    case Binding::budget: return "no further increment that is worth it fits";
    case Binding::best_arms: return "every unit has the arm that is worth most";
    case Binding::min_roi: return "further increments earn less per cost than the least ROI asked for";
    case Binding::segment_budgets: return "the segments that could earn more have spent their budgets";
    case Binding::unit_limits: return "the limits on units per arm bind";
    case Binding::second_budget: return "the second budget binds";
    case Binding::nothing: break;
  }
  return "";
}

std::string gap_share(const Solution& solution) {
  if (solution.bound == 0.0 || solution.gap <= 0.0) return "";
  const double share = solution.gap / std::abs(solution.bound);
  return share < 1e-4 ? " (less than 0.01 %)" : fmt::format(" ({})", percent_text(share));
}

// 0 where a difference is below the precision of the sums it is taken from.
double above_rounding(double difference, double sum) {
  return std::abs(difference) <= 1e-12 * std::abs(sum) ? 0.0 : difference;
}

bool is_profit(const PlanSummary& plan) { return plan.rules.objective == allocate::Objective::profit; }

std::string lines(const std::vector<std::array<std::string, 3>>& rows) {
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (const auto& row : rows) {
    label_width = std::max(label_width, row[0].size());
    value_width = std::max(value_width, row[1].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("  {:<{}}  {:>{}}", row[0], label_width, row[1], value_width);
    text += row[2].empty() ? "\n" : fmt::format("  {}\n", row[2]);
  }
  return text;
}

// What such plans were worth beside what this one promises.
void add_promise(const launch::Promise& promise, std::vector<std::array<std::string, 3>>& rows) {
  if (!promise.is_evaluated()) {
    rows.push_back({"evaluated", "not", "evaluated: " + promise.reason});
    return;
  }
  const auto range = [](const core::Interval& interval) {
    return fmt::format("({} to {})", amount_text(interval.low), amount_text(interval.high));
  };
  rows.push_back({"evaluated", amount_text(promise.revenue.value),
                  fmt::format("{} of increments, on {}", range(promise.revenue),
                              unseen_text(promise.unseen, promise.unseen_units, promise.chose_members))});
  if (promise.profit)
    rows.push_back({"  profit", amount_text(promise.profit->value), range(*promise.profit) + " on the same units"});
}

std::string rule_text(const PlanSummary& plan, const data::PlanRule& rule) {
  std::string text = fmt::format("The plan as a rule of {} {}; without it {} more would be earned:\n",
                                 rule.leaves.size(), rule.leaves.size() == 1 ? "leaf" : "leaves",
                                 amount_text(above_rounding(rule.plan_value - plan.solution.value, rule.plan_value)));
  for (const data::RuleLeaf& leaf : rule.leaves) {
    const double share =
        static_cast<double>(leaf.num_units) / static_cast<double>(std::max<std::size_t>(plan.num_units, 1));
    text += "  " +
            wrap(fmt::format("{}: arm '{}' ({} units, {})", printable(leaf.units), printable(leaf.arm),
                             count_text(leaf.num_units), percent_text(share)),
                 4) +
            "\n";
  }
  return text;
}

std::string plan_text(const PlanSummary& plan) {
  const Solution& solution = plan.solution;
  std::string text = fmt::format("Plan for {} units, {} arms: {}\n", count_text(plan.num_units), plan.arms.size(),
                                 status_sentence(plan));
  if (!solution.has_plan()) return text;
  std::vector<std::array<std::string, 3>> rows;
  const bool has_budget = std::isfinite(solution.budget);
  const bool above = is_above_control(plan);
  if (std::isfinite(plan.budget)) {
    rows.push_back({"budget", amount_text(plan.budget),
                    above ? fmt::format("above control's {}", amount_text(solution.control_cost)) : ""});
  }
  const std::string left = has_budget ? fmt::format("{} left: ", amount_text(solution.budget - solution.spend)) : "";
  rows.push_back(
      {"spend", amount_text(solution.spend),
       left + (plan.rule ? "a rule gives all units of a leaf one arm" : binding_sentence(solution.binding))});
  rows.push_back({"revenue", amount_text(solution.revenue),
                  fmt::format("control's {} + increments {}", amount_text(solution.control_revenue),
                              amount_text(solution.revenue - solution.control_revenue))});
  if (plan.shows_profit) {
    const double cost = incremental_cost(plan);
    rows.push_back(
        {"profit", amount_text(incremental_profit(plan)),
         fmt::format("over control: {} x incremental revenue - incremental spend{}", number_text(plan.rules.margin),
                     cost > 0.0 ? fmt::format("; ROI {}", percent_text(incremental_profit(plan) / cost)) : "")});
  }
  if (plan.promise) add_promise(*plan.promise, rows);
  // Of profit too, over control.
  const double of_control =
      is_profit(plan) ? plan.rules.margin * solution.control_revenue - solution.control_cost : 0.0;
  rows.push_back({"upper bound", amount_text(solution.bound - of_control),
                  fmt::format("no plan earns more; gap {}{}", number_text(above_rounding(solution.gap, solution.bound)),
                              gap_share(solution))});
  rows.push_back({"multiplier", number_text(solution.multiplier), "what one more unit of budget would earn"});
  if (plan.has_second) {
    rows.push_back({"second spend", amount_text(solution.second_spend),
                    fmt::format("its multiplier is {}", number_text(solution.second_multiplier))});
  }
  text += lines(rows) + "\n";
  TextTable arms({{"arm", Align::left}, {"units"}, {"share"}});
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
    const auto units = static_cast<std::size_t>(solution.units_per_arm[arm]);
    arms.add_row(
        {plan.arms[arm], count_text(units),
         percent_text(static_cast<double>(units) / static_cast<double>(std::max<std::size_t>(plan.num_units, 1)))});
  }
  text += arms.text();
  if (!solution.segment_spend.empty()) {
    TextTable segments({{"segment", Align::left}, {"spend"}, {"multiplier, on top"}});
    for (std::size_t segment = 0; segment < plan.segments.size(); ++segment) {
      const double price = segment < solution.segment_multiplier.size() ? solution.segment_multiplier[segment] : 0.0;
      segments.add_row({plan.segments[segment], amount_text(solution.segment_spend[segment]), number_text(price)});
    }
    text += "\n" + segments.text();
  }
  if (plan.rule) text += "\n" + rule_text(plan, *plan.rule);
  if (plan.launch) text += "\n" + roles_text(*plan.launch);
  if (plan.change) text += "\n" + change_text(*plan.change);
  if (!plan.file.empty()) text += fmt::format("\nThe plan is in {}\n", printable(plan.file));
  return text;
}

std::string plans_table(const std::vector<PlanSummary>& plans) {
  const bool has_profit = plans.front().shows_profit;
  std::vector<TableColumn> columns = {{"budget"}, {"spend"}, {"revenue"}, {"incremental"}, {"evaluated"}};
  if (has_profit) columns.push_back({"profit"});
  for (TableColumn column : {TableColumn{"gap"}, TableColumn{"multiplier"}, TableColumn{"status", Align::left},
                             TableColumn{"plan", Align::left}})
    columns.push_back(std::move(column));
  TextTable table(columns);
  for (const PlanSummary& plan : plans) {
    const Solution& solution = plan.solution;
    std::vector<std::string> row = {amount_text(plan.budget)};
    if (solution.has_plan()) {
      const bool evaluated = plan.promise && plan.promise->is_evaluated();
      row.push_back(amount_text(solution.spend));
      row.push_back(amount_text(solution.revenue));
      row.push_back(amount_text(solution.revenue - solution.control_revenue));
      row.push_back(evaluated ? evaluated_text(plan.promise->revenue) : "not");
      if (has_profit) row.push_back(amount_text(incremental_profit(plan)));
      row.push_back(number_text(above_rounding(solution.gap, solution.bound)));
      row.push_back(number_text(solution.multiplier));
    } else {
      row.resize(columns.size() - 2);
    }
    row.emplace_back(allocate::to_text(solution.status));
    row.push_back(plan.file);
    table.add_row(row);
  }
  return fmt::format("Plans for {} units, {} arms\n\n{}", count_text(plans.front().num_units),
                     plans.front().arms.size(), table.text());
}

ordered_json units_json(const std::vector<std::int64_t>& units, const std::vector<std::string>& arms) {
  ordered_json object = ordered_json::object();
  for (std::size_t arm = 0; arm < std::min(units.size(), arms.size()); ++arm) object[arms[arm]] = units[arm];
  return object;
}

}  // namespace

double least_spend(const PlanSummary& plan) {
  const double control = plan.budget_basis == data::BudgetBasis::incremental ? plan.solution.control_cost : 0.0;
  return above_rounding(plan.solution.least_spend - control, plan.solution.least_spend);
}

double incremental_cost(const PlanSummary& plan) {
  return above_rounding(plan.solution.spend - plan.solution.control_cost, plan.solution.spend);
}

double incremental_profit(const PlanSummary& plan) {
  return plan.rules.margin * (plan.solution.revenue - plan.solution.control_revenue) - incremental_cost(plan);
}

std::string plans_text(const std::vector<PlanSummary>& plans) {
  if (plans.size() > 1) return plans_table(plans);
  return plan_text(plans.front());
}

std::string plans_json(const std::vector<PlanSummary>& plans) {
  if (plans.size() == 1) return dump_json(description(Of<PlanSummary>{}).write(plans.front()));
  return dump_json({{"plans", ValueOf<std::vector<PlanSummary>>::write(plans)}});
}

std::vector<std::pair<std::string, std::string>> plan_metadata(const PlanSummary& plan) {
  const Solution& solution = plan.solution;
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"status", std::string(allocate::to_text(solution.status))},
      {"budget", fmt::format("{}", plan.budget)},
      {"budget_basis", std::string(data::to_text(plan.budget_basis))},
      {"spend", fmt::format("{}", solution.spend)},
      {"value", fmt::format("{}", solution.value)},
      {"bound", fmt::format("{}", solution.bound)},
      {"multiplier", fmt::format("{}", solution.multiplier)}};
  if (is_above_control(plan)) metadata.emplace_back("control_cost", fmt::format("{}", solution.control_cost));
  if (plan.launch && std::isfinite(plan.launch->spend_elasticity))
    metadata.emplace_back("spend_elasticity", fmt::format("{}", plan.launch->spend_elasticity));
  if (plan.promise && plan.promise->is_evaluated()) {
    const core::Interval per_unit =
        plan.promise->revenue.scaled(1.0 / static_cast<double>(plan.promise->planned.units));
    metadata.emplace_back("evaluated_revenue_per_unit", fmt::format("{}", per_unit.value));
    metadata.emplace_back("evaluated_revenue_low", fmt::format("{}", per_unit.low));
    metadata.emplace_back("evaluated_revenue_high", fmt::format("{}", per_unit.high));
  }
  if (!plan.launch_time.empty()) metadata.emplace_back("launch", plan.launch_time);
  return metadata;
}

std::string curve_text(const allocate::Curve& curve, const std::vector<std::string>& arms) {
  std::vector<TableColumn> columns = {{"spend"}, {"revenue"}, {"incremental"}, {"multiplier"}};
  for (const std::string& arm : arms) columns.push_back({"units in " + arm});
  TextTable table(columns);
  for (const allocate::CurvePoint& point : curve.points) {
    std::vector<std::string> cells = {amount_text(point.spend), amount_text(point.revenue),
                                      amount_text(point.revenue - curve.control_revenue),
                                      number_text(point.multiplier)};
    for (const std::int64_t units : point.units_per_arm) cells.push_back(count_text(static_cast<std::size_t>(units)));
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string curve_json(const allocate::Curve& curve, const std::vector<std::string>& arms) {
  ordered_json points = ordered_json::array();
  for (const allocate::CurvePoint& point : curve.points) {
    points.push_back({{"spend", point.spend},
                      {"value", point.value},
                      {"revenue", point.revenue},
                      {"multiplier", point.multiplier},
                      {"units_per_arm", units_json(point.units_per_arm, arms)}});
  }
  return ordered_json{
             {"control_revenue", curve.control_revenue}, {"control_cost", curve.control_cost}, {"points", points}}
             .dump(2) +
         "\n";
}

std::string curve_csv(const allocate::Curve& curve, const std::vector<std::string>& arms) {
  std::string text = "spend,value,revenue,multiplier";
  for (const std::string& arm : arms) {
    std::string quoted = "\"units_";
    for (const char letter : arm) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    text += "," + quoted + "\"";
  }
  text += "\n";
  for (const allocate::CurvePoint& point : curve.points) {
    text += fmt::format("{},{},{},{}", point.spend, point.value, point.revenue, point.multiplier);
    for (const std::int64_t units : point.units_per_arm) text += fmt::format(",{}", units);
    text += "\n";
  }
  return text;
}

}  // namespace dfcl::report
