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
#include "dfcl/report/text/wording.h"

namespace dfcl::report {
namespace {

using allocate::Binding;
using allocate::Solution;
using allocate::Status;
using nlohmann::ordered_json;

bool is_above_control(const PlanSummary& plan) {
  return plan.budget_basis == data::BudgetBasis::incremental && plan.solution.control_cost != 0.0;
}

std::string status_sentence(const PlanSummary& plan, const Wording& wording) {
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
                         wording.money_total(least_spend(plan)), is_above_control(plan) ? " above control" : "");
    case Status::none_found: return "no plan that keeps all constraints was found, nor a proof that there is none";
    case Status::not_run: break;
  }
  return "not run";
}

std::string binding_sentence(Binding binding) {
  switch (binding) {
    case Binding::budget: return "no further increment that is worth it fits";
    case Binding::best_arms: return "every unit has the arm that is worth most";
    case Binding::min_roi: return "further increments earn less revenue per cost than asked for";
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

// "(5,370 to 107,237)"
std::string ends_text(const core::Interval& interval, const Wording& wording) {
  const std::string text = wording.interval_total(interval);
  const std::size_t open = text.find('(');
  return open == std::string::npos ? "" : text.substr(open);
}

// What such plans were worth beside what this one promises.
void add_promise(const launch::Promise& promise, const Wording& wording, Facts& facts) {
  if (!promise.is_evaluated()) {
    facts.rows.push_back({"evaluated", "no", promise.reason});
    return;
  }
  facts.rows.push_back(
      {"evaluated", wording.revenue_total(promise.revenue.value),
       fmt::format("{} over control, on {}", ends_text(promise.revenue, wording),
                   unseen_text(promise.unseen, promise.unseen_units, promise.chose_members, wording.units()))});
  if (promise.profit)
    facts.rows.push_back({"  profit", wording.money_total(promise.profit->value),
                          ends_text(*promise.profit, wording) + fmt::format(" on the same {}", wording.units())});
}

void add_value(const PlanSummary& plan, const Wording& wording, Facts& facts) {
  const Solution& solution = plan.solution;
  facts.rows.push_back({"revenue", wording.revenue_total(solution.revenue),
                        fmt::format("control's {} + increments {}", wording.revenue_total(solution.control_revenue),
                                    wording.revenue_total(solution.revenue - solution.control_revenue))});
  if (plan.shows_profit) {
    const double cost = incremental_cost(plan);
    facts.rows.push_back(
        {"profit", wording.money_total(incremental_profit(plan)),
         fmt::format(
             "over control: {} x incremental revenue - incremental spend{}", number_text(plan.rules.margin),
             cost > 0.0 ? fmt::format("; ROI {}", wording.format().roi(incremental_profit(plan) / cost)) : "")});
  }
  if (plan.promise) add_promise(*plan.promise, wording, facts);
  // Of profit too, over control.
  const double of_control =
      is_profit(plan) ? plan.rules.margin * solution.control_revenue - solution.control_cost : 0.0;
  facts.rows.push_back({"upper bound", wording.revenue_total(solution.bound - of_control),
                        fmt::format("no plan earns more; gap {}{}",
                                    number_text(above_rounding(solution.gap, solution.bound)), gap_share(solution))});
}

Facts plan_facts(const PlanSummary& plan, const Wording& wording) {
  const Solution& solution = plan.solution;
  Facts facts;
  const bool has_budget = std::isfinite(solution.budget);
  if (std::isfinite(plan.budget)) {
    facts.rows.push_back(
        {"budget", wording.money_total(plan.budget),
         is_above_control(plan) ? fmt::format("above control's {}", wording.money_total(solution.control_cost)) : ""});
  }
  const std::string left =
      has_budget ? fmt::format("{} left: ", wording.money_total(solution.budget - solution.spend)) : "";
  facts.rows.push_back(
      {"spend", wording.money_total(solution.spend),
       left + (plan.rule ? "a rule gives all units of a leaf one arm" : binding_sentence(solution.binding))});
  add_value(plan, wording, facts);
  facts.rows.push_back({"multiplier", number_text(solution.multiplier), "what one more unit of budget would earn"});
  if (plan.has_second) {
    facts.rows.push_back({"second spend", wording.format().total(solution.second_spend),
                          fmt::format("its multiplier is {}", number_text(solution.second_multiplier))});
  }
  return facts;
}

Table arms_table(const PlanSummary& plan, const Wording& wording) {
  Table table{.columns = {"arm", wording.units(), "share"}};
  for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
    const auto units = static_cast<std::size_t>(plan.solution.units_per_arm[arm]);
    table.rows.push_back(
        {plan.arms[arm], count_text(units),
         percent_text(static_cast<double>(units) / static_cast<double>(std::max<std::size_t>(plan.num_units, 1)))});
  }
  return table;
}

Table segments_table(const PlanSummary& plan, const Wording& wording) {
  const Solution& solution = plan.solution;
  Table table{.columns = {"segment", "spend", "multiplier, on top"}};
  for (std::size_t segment = 0; segment < plan.segments.size(); ++segment) {
    const double price = segment < solution.segment_multiplier.size() ? solution.segment_multiplier[segment] : 0.0;
    table.rows.push_back(
        {plan.segments[segment], wording.money_total(solution.segment_spend[segment]), number_text(price)});
  }
  return table;
}

// The plan as a short rule, a sentence for each leaf.
Document rule_blocks(const PlanSummary& plan, const data::PlanRule& rule, const Wording& wording) {
  const double lost = above_rounding(rule.plan_value - plan.solution.value, rule.plan_value);
  Bullets leaves;
  for (const data::RuleLeaf& leaf : rule.leaves) {
    const double share =
        static_cast<double>(leaf.num_units) / static_cast<double>(std::max<std::size_t>(plan.num_units, 1));
    leaves.items.push_back(
        fmt::format("{}: arm '{}' ({}, {})", leaf.units, leaf.arm, wording.count(leaf.num_units), percent_text(share)));
  }
  return {Paragraph{fmt::format("The plan as a rule of {} {}; without it {} more would be earned:", rule.leaves.size(),
                                rule.leaves.size() == 1 ? "leaf" : "leaves", wording.revenue_total(lost))},
          leaves};
}

std::string plan_text(const PlanSummary& plan, Length length) {
  const Wording wording(plan.words);
  const std::string head = fmt::format("Plan for {}, {} arms: {}", wording.count(plan.num_units), plan.arms.size(),
                                       status_sentence(plan, wording));
  if (!plan.solution.has_plan()) return head + "\n";
  Document document = {Paragraph{head + (plan.file.empty() ? "" : ". It is in " + plan.file)},
                       plan_facts(plan, wording)};
  if (plan.rule) {
    for (Block& block : rule_blocks(plan, *plan.rule, wording)) document.push_back(std::move(block));
  }
  document.push_back(arms_table(plan, wording));
  if (!plan.solution.segment_spend.empty()) document.push_back(segments_table(plan, wording));
  if (plan.launch) document.push_back(roles_table(*plan.launch, wording));
  if (plan.change) {
    for (Block& block : change_blocks(*plan.change, wording)) document.push_back(std::move(block));
  }
  return length == Length::brief ? screen_text(document) : document_text(document);
}

std::string plans_table(const std::vector<PlanSummary>& plans, Length length) {
  using P = PlanSummary;
  const Wording wording(plans.front().words);
  const auto of_plan = [](const auto& cell) {
    return [cell](const P& plan) { return plan.solution.has_plan() ? cell(plan) : std::string(); };
  };
  std::vector<Column<P>> columns = {
      {"budget", [&](const P& plan) { return wording.money_total(plan.budget); }},
      {"spend", of_plan([&](const P& plan) { return wording.money_total(plan.solution.spend); })},
      {"incremental", of_plan([&](const P& plan) {
         return wording.revenue_total(plan.solution.revenue - plan.solution.control_revenue);
       })},
      {"evaluated", of_plan([&](const P& plan) {
         const bool evaluated = plan.promise && plan.promise->is_evaluated();
         return evaluated ? wording.interval_total(plan.promise->revenue) : std::string("no");
       })}};
  if (plans.front().shows_profit)
    columns.push_back(
        {"profit", of_plan([&](const P& plan) { return wording.money_total(incremental_profit(plan)); })});
  columns.push_back({"plan", [](const P& plan) { return plan.file; }});
  const bool all_best =
      std::all_of(plans.begin(), plans.end(), [](const P& plan) { return plan.solution.status == Status::optimal; });
  if (!all_best || length == Length::full)
    columns.push_back({"status", [](const P& plan) { return std::string(allocate::to_text(plan.solution.status)); }});
  columns.push_back({"multiplier", of_plan([](const P& plan) { return number_text(plan.solution.multiplier); })});
  if (length == Length::full) {
    columns.push_back(
        {"revenue", of_plan([&](const P& plan) { return wording.revenue_total(plan.solution.revenue); })});
    columns.push_back({"gap", of_plan([](const P& plan) {
                         return number_text(above_rounding(plan.solution.gap, plan.solution.bound));
                       })});
  }
  const Document document = {Paragraph{fmt::format("Plans for {}, {} arms; increments are over everyone in control",
                                                   wording.count(plans.front().num_units), plans.front().arms.size())},
                             table_of<P>(plans, columns, 0)};
  return length == Length::brief ? screen_text(document) : document_text(document);
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

std::string plans_text(const std::vector<PlanSummary>& plans, Length length) {
  return plans.size() > 1 ? plans_table(plans, length) : plan_text(plans.front(), length);
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

std::string curve_text(const allocate::Curve& curve, const std::vector<std::string>& arms,
                       const data::ReportWords& words, Length length) {
  using P = allocate::CurvePoint;
  const Wording wording(words);
  std::vector<Column<P>> columns = {
      {"spend", [&](const P& point) { return wording.money_total(point.spend); }},
      {"incremental", [&](const P& point) { return wording.revenue_total(point.revenue - curve.control_revenue); }},
      {"multiplier", [](const P& point) { return number_text(point.multiplier); }}};
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    columns.push_back({wording.units() + " in " + arms[arm], [arm](const P& point) {
                         return count_text(static_cast<std::size_t>(point.units_per_arm[arm]));
                       }});
  }
  columns.push_back({"revenue", [&](const P& point) { return wording.revenue_total(point.revenue); }});
  std::vector<P> points = curve.points;
  const std::size_t most = kScreenLines - 4;
  if (length == Length::brief && points.size() > most) {
    points.clear();
    for (std::size_t i = 0; i < most; ++i) points.push_back(curve.points[i * (curve.points.size() - 1) / (most - 1)]);
  }
  const Table table = table_of<P>(points, columns, 0);
  return length == Length::brief ? screen_text({table}) : rows_text(table);
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
