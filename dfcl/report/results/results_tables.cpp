// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfcl::report {
namespace {

// Points of a curve that a table shows.
constexpr std::size_t kCurveRows = 11;

std::vector<Json> items(const Json& list) {
  return list.is_array() ? list.get<std::vector<Json>>() : std::vector<Json>();
}

void push_sentences(Document& document, const Json& rows, const ResultsWords& words) {
  Bullets bullets;
  for (const Json& row : rows) {
    const std::string sentence = text_at(row, "sentence");
    if (sentence.empty()) continue;
    const double budget = number_at(row, "budget_per_unit");
    bullets.items.push_back(std::isnan(budget)
                                ? sentence
                                : fmt::format("{} per {}: {}", words.format.budget(budget), words.unit, sentence));
  }
  if (!bullets.items.empty()) document.push_back(bullets);
}

// report: of a results file; null is fine.
NumberFormat number_format(const Json& report) {
  const std::string decimal = text_at(report, "decimal");
  return {text_at(report, "currency"), decimal.empty() ? "." : decimal,
          at(report, "thousands").is_string() ? text_at(report, "thousands") : ","};
}

// The lists of a model's calibration as rows with both outcomes.
std::vector<Json> calibration_rows(const Json& calibration) {
  const Json& revenue = at(calibration, "revenue");
  const Json& cost = at(calibration, "cost");
  std::vector<Json> rows;
  for (std::size_t i = 0; i < std::max(revenue.size(), cost.size()); ++i) {
    rows.push_back({{"predicted_revenue", at(at(revenue, i), "predicted")},
                    {"observed_revenue", at(at(revenue, i), "observed")},
                    {"predicted_cost", at(at(cost, i), "predicted")},
                    {"observed_cost", at(at(cost, i), "observed")}});
  }
  return rows;
}

// As tables call a kind of baseline.
std::string baseline_word(const std::string& kind) {
  if (kind == "single_arm") return "the best single arm";
  return kind == "rule" ? "today's rule" : kind;
}

}  // namespace

ResultsWords::ResultsWords(const Json& results, Room where)
    : format(number_format(at(results, "report"))),
      revenue(text_at(at(results, "report"), "revenue_name")),
      cost(text_at(at(results, "report"), "cost_name")),
      unit(text_at(at(results, "report"), "unit")),
      room(where) {
  if (revenue.empty()) revenue = "revenue";
  if (cost.empty()) cost = "cost";
  if (unit.empty()) unit = "unit";
  units = data::plural_word(unit);
  for (const Json& arm : at(at(results, "trial"), "arms")) arms.push_back(text_at(arm, "label"));
}

std::string ResultsWords::per_unit() const {
  return (format.currency().empty() ? "per " : format.currency() + " per ") + unit;
}

void add_table(Document& document, Table table) {
  table = without_empty_columns(std::move(table));
  if (!table.rows.empty() && !table.columns.empty()) document.push_back(std::move(table));
}

std::string model_name(const Json& model) {
  const std::string name = text_at(model, "name");
  return name.empty() ? "model" : name;
}

std::vector<Json> plans_of(const Json& results, const ResultsWords& words, const char* which) {
  std::vector<Json> plans;
  for (const Json& model : at(results, "models")) {
    for (const Json& plan : at(model, which)) {
      if (plan.is_null()) continue;
      plans.push_back(plan);
      plans.back()["model"] = model_name(model) + (at(plan, "feasible") == false ? ", budget cannot be met" : "");
    }
  }
  if (words.room == Room::screen) {
    std::stable_sort(plans.begin(), plans.end(), [](const Json& a, const Json& b) {
      return number_at(a, "budget_per_unit") < number_at(b, "budget_per_unit");
    });
  }
  return plans;
}

void add_differences(Document& document, const Json& results, const ResultsWords& words) {
  const std::vector<Json> rows = items(at(results, "differences"));
  if (rows.empty()) return;
  Table table = json_table(rows,
                           {{"model", "model", Show::text},
                            {"against", "reference", Show::text},
                            {"budget per unit", "budget_per_unit", Show::budget},
                            {"difference", "revenue"},
                            {"all at once", "simultaneous", Show::ends},
                            {"relative, %", "relative", Show::relative_interval},
                            {"more " + words.cost, "cost"},
                            {"p", "p_value", Show::p_value}},
                           words.format, words.room);
  table.title = fmt::format("Difference in {} ({}), on the same resamples", words.revenue, words.per_unit());
  document.push_back(Heading{"Differences"});
  push_sentences(document, at(results, "differences"), words);
  add_table(document, std::move(table));
}

void add_values(Document& document, const Json& results, const ResultsWords& words, const char* which) {
  const std::vector<Json> plans = plans_of(results, words, which);
  if (plans.empty()) return;
  Table table = json_table(plans,
                           {{"model", "model", Show::text},
                            {"budget", "budget_per_unit", Show::budget},
                            {words.revenue, "revenue"},
                            {"over control", "incremental_revenue"},
                            {"by Hajek", "hajek_incremental_revenue"},
                            {words.cost, "cost"},
                            {"profit over control", "incremental_profit"},
                            {"ROI, %", "roi", Show::relative_interval},
                            {"over budget", "spend_over_budget", Show::interval, false},
                            {words.revenue + " per " + words.cost, "return_per_cost"},
                            {"multiplier", "multiplier", Show::number},
                            {"predicted " + words.revenue, "predicted_revenue", Show::number, false},
                            {"predicted " + words.cost, "predicted_cost", Show::number, false},
                            {"true " + words.revenue, "true_revenue", Show::number, false},
                            {"true " + words.cost, "true_cost", Show::number, false},
                            {"of the best possible", "share_of_oracle", Show::percent}},
                           words.format, words.room);
  table.title = words.per_unit();
  const bool deployed = std::string_view(which) == "deployed";
  document.push_back(Heading{deployed ? "At the budgets of the study" : "At the budgets of the study, matched"});
  document.push_back(Paragraph{
      deployed ? "Deployed: the multiplier comes from predictions alone, as in a launch."
               : "Matched, as published: the multiplier is chosen so that the evaluated cost meets the budget. "
                 "Optimistic: it looks at the outcomes it is judged by."});
  add_table(document, std::move(table));
}

void add_baselines(Document& document, const Json& results, const ResultsWords& words) {
  std::vector<Json> differences = items(at(results, "baseline_differences"));
  if (differences.empty()) return;
  std::erase_if(differences, [](const Json& row) { return text_at(row, "baseline") == "control"; });
  for (Json& row : differences) row["baseline"] = baseline_word(text_at(row, "baseline"));
  std::vector<Json> plans;
  for (const Json& baseline : at(results, "baselines")) {
    std::size_t budget = 0;
    for (const Json& plan : at(baseline, "plans")) {
      plans.push_back(plan);
      const Json& given = at(at(baseline, "names"), budget++);
      const std::string name = given.is_string() ? given.get<std::string>() : "";
      plans.back()["model"] = text_at(baseline, "kind") == "random" ? "random: " + name : name;
    }
  }
  document.push_back(Heading{"Against plans that need no model"});
  Table over = json_table(differences,
                          {{"model", "model", Show::text},
                           {"against", "baseline", Show::text},
                           {"budget", "budget_per_unit", Show::budget},
                           {"adds, at one price", "net"},
                           {"all at once", "simultaneous", Show::ends},
                           {"profit", "profit"},
                           {words.cost, "plan_cost", Show::number},
                           {"its " + words.cost, "baseline_cost", Show::number},
                           {"price", "price", Show::number}},
                          words.format, words.room);
  over.title = fmt::format("{} ({}); a difference in spend is charged at the price", words.revenue, words.per_unit());
  add_table(document, std::move(over));
  add_table(document, json_table(plans,
                                 {{"baseline", "model", Show::text},
                                  {"budget", "budget_per_unit", Show::budget},
                                  {words.revenue, "revenue"},
                                  {"over control", "incremental_revenue"},
                                  {words.cost, "cost"},
                                  {"profit over control", "incremental_profit"},
                                  {"ROI, %", "roi", Show::relative_interval}},
                                 words.format, words.room));
}

void add_curves(Document& document, const Json& results, const ResultsWords& words) {
  bool first = true;
  for (const Json& model : at(results, "models")) {
    std::vector<Json> points = items(at(model, "curve"));
    std::erase_if(points, [](const Json& point) { return point.is_null(); });
    if (points.empty()) continue;
    if (first) document.push_back(Heading{"Cost curves"});
    first = false;
    const std::size_t shown = std::min(points.size(), kCurveRows);
    std::vector<Json> rows;
    for (std::size_t i = 0; i < shown; ++i)
      rows.push_back(points[shown > 1 ? i * (points.size() - 1) / (shown - 1) : 0]);
    Table table = json_table(rows,
                             {{"budget", "budget_per_unit", Show::budget},
                              {words.revenue, "revenue"},
                              {"over control", "incremental_revenue"},
                              {"profit over control", "incremental_profit"},
                              {words.cost, "cost"}},
                             words.format, words.room);
    table.title = fmt::format("{} ({})", model_name(model), words.per_unit());
    add_table(document, std::move(table));
  }
}

void add_fit(Document& document, const Json& results, const ResultsWords& words) {
  std::vector<Json> rows;
  for (const Json& model : at(results, "models")) {
    const Json& fit = at(model, "fit");
    if (fit.is_null()) continue;
    rows.push_back({{"model", model_name(model)},
                    {"revenue_mse", at(at(fit, "revenue"), "mse")},
                    {"cost_mse", at(at(fit, "cost"), "mse")},
                    {"revenue_log_loss", at(at(fit, "revenue"), "log_loss")},
                    {"cost_log_loss", at(at(fit, "cost"), "log_loss")}});
  }
  if (rows.empty()) return;
  document.push_back(Heading{"Fit"});
  add_table(document, json_table(rows,
                                 {{"model", "model", Show::text},
                                  {"MSE of " + words.revenue, "revenue_mse", Show::number},
                                  {"MSE of " + words.cost, "cost_mse", Show::number},
                                  {"log-loss of " + words.revenue, "revenue_log_loss", Show::number},
                                  {"log-loss of " + words.cost, "cost_log_loss", Show::number}},
                                 words.format, words.room));
}

void add_calibration(Document& document, const Json& results, const ResultsWords& words) {
  bool first = true;
  for (const Json& model : at(results, "models")) {
    const std::vector<Json> rows = calibration_rows(at(model, "calibration"));
    if (rows.empty()) continue;
    if (first) document.push_back(Heading{"Predicted and observed, by tenths of the units"});
    first = false;
    Table table = json_table(rows,
                             {{"predicted " + words.revenue, "predicted_revenue", Show::number},
                              {"observed " + words.revenue, "observed_revenue"},
                              {"predicted " + words.cost, "predicted_cost", Show::number},
                              {"observed " + words.cost, "observed_cost"}},
                             words.format, words.room);
    table.title = fmt::format("{} ({})", model_name(model), words.per_unit());
    add_table(document, std::move(table));
  }
}

}  // namespace dfcl::report
