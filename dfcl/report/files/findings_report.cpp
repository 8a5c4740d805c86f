// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/findings_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "dfcl/model/remarks.h"
#include "dfcl/report/plan/promise_report.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using nlohmann::ordered_json;

std::string stack_text(const model::Model& model) {
  if (!model.stack) return "";
  const model::Stack& stack = *model.stack;
  const bool timed = std::any_of(stack.members.begin(), stack.members.end(),
                                 [](const model::StackMember& member) { return member.seconds > 0.0; });
  std::vector<TableColumn> columns = {{"member", Align::left}, {"weight"}, {"alone"}, {"std. error"}};
  if (timed) columns.push_back({"seconds"});
  TextTable table(columns);
  const auto add = [&](const std::string& name, const std::string& weight, double value, double error, double seconds) {
    std::vector<std::string> row = {name, weight, number_text(value), number_text(error)};
    if (timed) row.push_back(seconds > 0.0 ? fmt::format("{:.1f}", seconds) : "");
    table.add_row(row);
  };
  double seconds = 0.0;
  for (const model::StackMember& member : stack.members) {
    add(printable(member.method), percent_text(member.weight), member.net_value, member.standard_error, member.seconds);
    seconds += member.seconds;
  }
  add("the stack", "", stack.net_value, stack.standard_error, seconds);
  std::string text = "\n" +
                     wrap(fmt::format("Stack of methods, weighed on {} units by fits without them ({} folds). "
                                      "Net revenue per unit over control at the budgets' prices, on the units "
                                      "used for choosing; what it is worth must be told from test units:",
                                      count_text(stack.num_units), stack.num_folds),
                          0) +
                     "\n" + table.text();
  for (const model::Stack::LeftOut& entry : stack.left_out)
    text += fmt::format("Left out: {}, {}.\n", printable(entry.method), printable(entry.why));
  return text;
}

std::string calibrated_text(const model::Model& model, const learn::Calibration::Outcome& outcome) {
  if (outcome.is_known()) return "known, left alone";
  std::string text = outcome.form.kind == loss::OutcomeKind::non_negative ? "factors"
                     : outcome.form.kind == loss::OutcomeKind::binary     ? "shifts of the logit"
                                                                          : "shifts";
  for (std::size_t arm = 0; arm < outcome.shift.size(); ++arm) {
    const bool is_factor = outcome.form.kind == loss::OutcomeKind::non_negative;
    text += fmt::format("{} {} {}", arm == 0 ? "" : ",", printable(model.arms.labels[arm]),
                        number_text(is_factor ? std::exp(outcome.shift[arm]) : outcome.shift[arm]));
  }
  if (outcome.slope_error == 0.0) return text + "; effects do not differ between units";
  text += fmt::format("; slope of effects {} (found {}, standard error {})", number_text(outcome.slope),
                      number_text(outcome.found_slope), number_text(outcome.slope_error));
  if (outcome.base_slope != 0.0)
    text += fmt::format("; slope by revenue in control {}", number_text(outcome.base_slope));
  if (outcome.plan_factor != 1.0) text += fmt::format("; factor of chosen units {}", number_text(outcome.plan_factor));
  return text;
}

std::string held_out_text(const model::HeldOut& held) {
  std::string text = fmt::format("on {} {} units: revenue {}, arms' means {}", count_text(held.num_units),
                                 held.out_of_fold ? "held-out" : "validation", number_text(held.revenue.loss),
                                 number_text(held.revenue.loss_of_means));
  if (held.cost)
    text +=
        fmt::format("; cost {}, arms' means {}", number_text(held.cost->loss), number_text(held.cost->loss_of_means));
  return text;
}

// One line that begins with a capital letter and ends with a full stop.
std::string remarks_text(const model::Model& model) {
  std::string text;
  for (std::string remark : model::learning_remarks(model)) {
    remark.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(remark.front())));
    text += "\n" + wrap(remark + ".", 0) + "\n";
  }
  return text;
}

ordered_json calibrated_json(const learn::Calibration::Outcome& outcome) {
  if (outcome.is_known()) return nullptr;
  return {{"shift", outcome.shift},
          {"center", outcome.center},
          {"slope", outcome.slope},
          {"found_slope", outcome.found_slope},
          {"slope_error", outcome.slope_error},
          {"base_slope", outcome.base_slope},
          {"plan_factor", outcome.plan_factor}};
}

ordered_json loss_json(const model::HeldOut::Outcome& outcome) {
  return {{"loss", outcome.loss}, {"loss_of_means", outcome.loss_of_means}};
}

void add_stack(ordered_json& json, const model::Stack& stack) {
  ordered_json members = ordered_json::array(), left_out = ordered_json::array();
  for (const model::StackMember& member : stack.members) {
    members.push_back({{"method", member.method},
                       {"weight", member.weight},
                       {"net_value", member.net_value},
                       {"standard_error", member.standard_error}});
    if (member.seconds > 0.0) members.back()["seconds"] = member.seconds;
  }
  for (const model::Stack::LeftOut& entry : stack.left_out)
    left_out.push_back({{"method", entry.method}, {"why", entry.why}});
  json["stack"] = {
      {"units_used_for_choosing", stack.num_units}, {"folds", stack.num_folds}, {"net_value", stack.net_value},
      {"standard_error", stack.standard_error},     {"members", members},       {"left_out", left_out}};
}

ordered_json interval_json(double value, double error) {
  const core::Interval interval = core::normal_interval(value, error, launch::kPromiseLevel);
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

void add_evaluated(ordered_json& json, const data::EvaluatedPlans& evaluated) {
  ordered_json plans = ordered_json::array();
  for (const data::EvaluatedPlan& plan : evaluated.plans) {
    plans.push_back({{"spend_per_unit", plan.spend},
                     {"predicted_revenue", plan.predicted},
                     {"incremental_revenue", interval_json(plan.revenue, plan.revenue_error)},
                     {"incremental_cost", interval_json(plan.cost, plan.cost_error)}});
  }
  json["evaluated_plans"] = {{"units", evaluated.num_units},
                             {"unseen", data::to_text(evaluated.units)},
                             {"before_selection", evaluated.chose_members},
                             {"level", launch::kPromiseLevel},
                             {"plans", std::move(plans)}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> finding_lines(const model::Model& model) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (model.calibration) {
    lines.emplace_back("calibrated", "revenue: " + calibrated_text(model, model.calibration->revenue) +
                                         "; cost: " + calibrated_text(model, model.calibration->cost));
  }
  if (model.held_out) lines.emplace_back("loss", held_out_text(*model.held_out));
  return lines;
}

std::string findings_text(const model::Model& model) {
  return remarks_text(model) + stack_text(model) + (model.evaluated ? evaluated_plans_text(*model.evaluated) : "");
}

void add_findings(ordered_json& json, const model::Model& model) {
  if (model.stack) add_stack(json, *model.stack);
  if (model.mean_effect)
    json["mean_effect"] = {{"weight", model.mean_effect->weight},
                           {"revenue", model.mean_effect->revenue.effect},
                           {"cost", model.mean_effect->cost.effect}};
  if (model.calibration)
    json["calibration"] = {{"units", model.calibration->num_units},
                           {"revenue", calibrated_json(model.calibration->revenue)},
                           {"cost", calibrated_json(model.calibration->cost)}};
  if (model.held_out) {
    json["held_out"] = {{"units", model.held_out->num_units},
                        {"out_of_fold", model.held_out->out_of_fold},
                        {"revenue", loss_json(model.held_out->revenue)}};
    json["held_out"]["cost"] = model.held_out->cost ? loss_json(*model.held_out->cost) : ordered_json();
  }
  if (model.evaluated) add_evaluated(json, *model.evaluated);
  json["remarks"] = model::learning_remarks(model);
}

}  // namespace dfcl::report
