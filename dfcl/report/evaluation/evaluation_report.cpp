// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/evaluation_report.h"

#include <fmt/format.h>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using evaluate::Evaluation;
using evaluate::Interval;

std::string with_interval(const Interval& interval) {
  if (!interval.has_ends()) return number_text(interval.value);
  return fmt::format("{} {}", number_text(interval.value), interval_text(interval.low, interval.high));
}

std::string plans_table(const Evaluation& evaluation, std::vector<evaluate::JudgedPlan> evaluate::ModelFigures::*plans,
                        const data::ReportWords& words) {
  std::vector<TableColumn> columns = {{"budget"},        {"model", Align::left}, {words.revenue_name}, {"over control"},
                                      {words.cost_name}, {"return per cost"},    {"multiplier"}};
  if (evaluation.oracle) columns.push_back({"of oracle"});
  TextTable table(columns);
  for (std::size_t budget = 0; budget < evaluation.budgets_per_unit.size(); ++budget) {
    for (const evaluate::ModelFigures& model : evaluation.models) {
      const evaluate::JudgedPlan& plan = (model.*plans)[budget];
      std::vector<std::string> row = {number_text(plan.budget_per_unit) + (plan.feasible ? "" : " (too small)"),
                                      model.name,
                                      with_interval(plan.revenue),
                                      with_interval(plan.incremental_revenue),
                                      with_interval(plan.cost),
                                      with_interval(plan.return_per_cost),
                                      number_text(plan.multiplier)};
      if (evaluation.oracle) row.push_back(plan.share_of_oracle ? percent_text(*plan.share_of_oracle) : "-");
      table.add_row(std::move(row));
    }
  }
  return table.text();
}

std::string shares_table(const Evaluation& evaluation) {
  std::vector<TableColumn> columns = {{"budget"}, {"model", Align::left}};
  for (const evaluate::TrialArm& arm : evaluation.arms) columns.push_back({arm.label});
  TextTable table(columns);
  for (std::size_t budget = 0; budget < evaluation.budgets_per_unit.size(); ++budget) {
    for (const evaluate::ModelFigures& model : evaluation.models) {
      std::vector<std::string> row = {number_text(evaluation.budgets_per_unit[budget]), model.name};
      for (const double share : model.deployed[budget].share_per_arm) row.push_back(percent_text(share));
      table.add_row(std::move(row));
    }
  }
  return table.text();
}

std::string areas_table(const Evaluation& evaluation) {
  TextTable table({{"arm", Align::left}, {"model", Align::left}, {"AUCC"}, {"exact area"}, {"qini"}, {"AUUC"}});
  for (const evaluate::ModelFigures& model : evaluation.models) {
    for (std::size_t arm = 0; arm < model.aucc.size(); ++arm) {
      table.add_row({model.aucc[arm].arm, model.name, with_interval(model.aucc[arm].published),
                     with_interval(model.aucc[arm].area), with_interval(model.qini[arm].qini),
                     with_interval(model.qini[arm].auuc)});
    }
  }
  std::string text = table.text();
  std::vector<std::string> said;
  for (const evaluate::AuccFigures& aucc : evaluation.models.front().aucc) {
    if (!aucc.note.empty()) text += fmt::format("  arm {}: {}\n", printable(aucc.arm), wrap(aucc.note, 4));
  }
  return text;
}

std::string fit_table(const Evaluation& evaluation) {
  TextTable table({{"model", Align::left}, {"MSE revenue"}, {"MSE cost"}, {"log-loss revenue"}, {"log-loss cost"}});
  const auto loss_text = [](const std::optional<double>& loss) { return loss ? number_text(*loss) : "-"; };
  for (const evaluate::ModelFigures& model : evaluation.models) {
    if (!model.fit) {
      table.add_row({model.name, "-", "-", "-", "-"});
      continue;
    }
    table.add_row({model.name, number_text(model.fit->revenue.mse), number_text(model.fit->cost.mse),
                   loss_text(model.fit->revenue.log_loss), loss_text(model.fit->cost.log_loss)});
  }
  return table.text();
}

std::string differences_text(const Evaluation& evaluation) {
  if (evaluation.differences.empty()) return "";
  std::string text = fmt::format("\nAgainst {} (same resamples; simultaneous over models and budgets)\n",
                                 printable(evaluation.models.front().name));
  TextTable table(
      {{"budget"}, {"model", Align::left}, {"difference"}, {"simultaneous"}, {"relative"}, {"p"}, {"spends more"}});
  for (const evaluate::DifferenceFigures& difference : evaluation.differences) {
    table.add_row({number_text(difference.budget_per_unit), difference.model, with_interval(difference.revenue),
                   interval_text(difference.simultaneous_low, difference.simultaneous_high),
                   fmt::format("{} [{}, {}]", percent_text(difference.relative.value),
                               percent_text(difference.relative.low), percent_text(difference.relative.high)),
                   p_value_text(difference.p_value), with_interval(difference.cost)});
  }
  text += table.text();
  for (const evaluate::DifferenceFigures& difference : evaluation.differences) {
    text += fmt::format("  {}: {}\n", number_text(difference.budget_per_unit), wrap(printable(difference.sentence), 4));
  }
  for (const evaluate::AuccDifferenceFigures& difference : evaluation.aucc_differences) {
    text += fmt::format("  {}\n", wrap(printable(difference.sentence), 4));
  }
  return text;
}

}  // namespace

std::string evaluation_text(const EvaluationReport& report) {
  const Evaluation& evaluation = report.evaluation;
  const auto num_units = count_text(evaluation.num_units);
  std::string text = wrap(printable(evaluation.verdict.sentence), 0) + "\n\n";
  text += fmt::format("{} units ({} split); {} estimator, nuisance: {}; {}\n", num_units, report.split,
                      evaluation.estimator, printable(evaluation.nuisance),
                      evaluation.num_resamples > 0 ? count_text(evaluation.num_resamples) + " resamples"
                                                   : evaluation.intervals + " intervals");
  text += fmt::format("everyone in control: {} {}, {} {}\n", printable(report.words.revenue_name),
                      with_interval(evaluation.control_revenue), printable(report.words.cost_name),
                      with_interval(evaluation.control_cost));
  text += fmt::format("\nDeployed plans, per unit (made from predictions alone)\n{}",
                      plans_table(evaluation, &evaluate::ModelFigures::deployed, report.words));
  text += fmt::format("\nMatched plans, per unit (as published: cut by the evaluated cost; no coverage claimed)\n{}",
                      plans_table(evaluation, &evaluate::ModelFigures::matched, report.words));
  text += differences_text(evaluation);
  text += fmt::format("\nWho gets what\n{}", shares_table(evaluation));
  text += fmt::format("\nRanking, each arm against control\n{}", areas_table(evaluation));
  text += fmt::format("\nFit\n{}", fit_table(evaluation));
  return text;
}

}  // namespace dfcl::report
