// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_brief.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfcl/report/results/results_document.h"
#include "dfcl/report/results/results_tables.h"
#include "dfcl/train/methods.h"

namespace dfcl::report {
namespace {

// One model needs no column for its name.
std::vector<JsonColumn> with_model(bool several, std::vector<JsonColumn> columns) {
  if (several) columns.insert(columns.begin(), {"model", "model", Show::text});
  return columns;
}

// Cost is shown as the budget counts it: above control's, or with it.
Table plans_table(const Json& results, const ResultsWords& words, bool several) {
  const bool with_control = text_at(results, "budget_basis") == "total";
  const JsonColumn cost =
      with_control ? JsonColumn{words.cost, "cost"} : JsonColumn{words.cost + " over control", "incremental_cost"};
  Table table = json_table(plans_of(results, words, "deployed"),
                           with_model(several, {{"budget", "budget_per_unit", Show::budget},
                                                {words.revenue + " over control", "incremental_revenue"},
                                                {"profit", "incremental_profit"},
                                                cost,
                                                {"ROI, %", "roi", Show::relative_interval}}),
                           words.format, Room::screen);
  table.title = fmt::format("Plans at the budgets, {}; 95 % intervals, each alone (the answers hold for all at once)",
                            words.per_unit());
  return without_empty_columns(std::move(table));
}

Table random_table(const Json& results, const ResultsWords& words, bool several) {
  std::vector<Json> rows;
  for (const Json& row : at(results, "baseline_differences")) {
    if (text_at(row, "baseline") == "random") rows.push_back(row);
  }
  Table table = json_table(
      rows,
      with_model(several,
                 {{"budget", "budget_per_unit", Show::budget}, {"adds " + words.revenue, "net"}, {"profit", "profit"}}),
      words.format, Room::screen);
  table.title = fmt::format("Targeting against the same money at random, {}", words.per_unit());
  return without_empty_columns(std::move(table));
}

// "boosted trees (tsm-boost)": which method each model is of.
std::string methods_text(const Json& results) {
  std::string text;
  for (const Json& model : at(results, "models")) {
    const std::string method = text_at(model, "method");
    if (method.empty()) continue;
    const std::string name = model_name(model);
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", name == method ? "" : name + ": ", train::method_words(method));
  }
  return text;
}

}  // namespace

Document brief_document(const Json& results) {
  const ResultsWords words(results, Room::screen);
  const bool several = at(results, "models").size() > 1;
  const Json& verdict = at(results, "verdict");
  Document document = {Paragraph{text_at(verdict, "sentence")}};
  if (const std::string answers = two_answers(verdict); !answers.empty()) document.push_back(Paragraph{answers});
  if (const std::string declared = text_at(verdict, "not_pre_declared"); !declared.empty())
    document.push_back(Paragraph{"Not as the study declares: " + declared});
  if (Table plans = plans_table(results, words, several); !plans.rows.empty()) document.push_back(std::move(plans));
  if (Table random = random_table(results, words, several); !random.rows.empty()) document.push_back(std::move(random));
  const Json& trial = at(results, "trial");
  const std::string methods = methods_text(results);
  document.push_back(Paragraph{fmt::format(
      "By {} {} ({} split), {} estimator.{}", words.format.count(number_at(trial, "units")), words.units,
      text_at(trial, "split"), text_at(results, "estimator"), methods.empty() ? "" : " Methods: " + methods + ".")});
  return document;
}

}  // namespace dfcl::report
