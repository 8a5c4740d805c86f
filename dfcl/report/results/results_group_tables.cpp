// SPDX-License-Identifier: Apache-2.0
//
// Tables by arm, segment and trial, and the figures and tables that a results file brings ready-made.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/report/results/results_tables.h"

namespace dfcl::report {
namespace {

constexpr std::size_t kMostSegmentValues = 40;

void push_shares(std::vector<std::string>& row, const Json& shares, const ResultsWords& words) {
  for (std::size_t arm = 0; arm < words.arms.size(); ++arm) {
    const Json& share = at(shares, arm);
    row.push_back(share.is_number() ? words.format.percent(share.get<double>()) : "");
  }
}

std::string number_of(const Json& list, std::size_t place, const NumberFormat& format) {
  const Json& value = at(list, place);
  return value.is_number() ? format.plain(value.get<double>()) : "";
}

Table segment_table(const Json& segment, const Json& budgets, const std::string& name, const ResultsWords& words) {
  Table table{.title = fmt::format("{}, by {}", name, text_at(segment, "column")),
              .columns = {text_at(segment, "column"), "budget per unit", "units", words.cost + " per unit",
                          words.revenue + " per unit"},
              .num_text_columns = 1};
  table.columns.insert(table.columns.end(), words.arms.begin(), words.arms.end());
  const Json& values = at(segment, "values");
  for (std::size_t i = 0; i < std::min(values.size(), kMostSegmentValues); ++i) {
    for (std::size_t budget = 0; budget < budgets.size(); ++budget) {
      std::vector<std::string> row = {text_at(values[i], "value"),
                                      words.format.budget(number_at(budgets[budget], "per_unit")),
                                      words.format.count(number_at(values[i], "units")),
                                      number_of(at(values[i], "cost_per_unit"), budget, words.format),
                                      number_of(at(values[i], "revenue_per_unit"), budget, words.format)};
      push_shares(row, at(at(values[i], "share_per_arm"), budget), words);
      table.rows.push_back(std::move(row));
    }
  }
  if (values.size() > kMostSegmentValues) {
    table.title += fmt::format(" (the first {} of {} values)", kMostSegmentValues, values.size());
  }
  return table;
}

void add_findings(Document& document, const Json& findings, const char* title) {
  Bullets bullets;
  for (const Json& finding : findings) bullets.items.push_back(fmt::format("{}: {}", title, text_at(finding, "text")));
  if (!bullets.items.empty()) document.push_back(bullets);
}

void add_tests(Document& document, const Json& check, const NumberFormat& format) {
  Bullets bullets;
  for (const auto& [key, name] :
       {std::pair{"sample_ratio", "Sample ratio"}, std::pair{"balance", "Balance of the features"}}) {
    const Json& test = at(check, key);
    if (test.is_null()) continue;
    if (flag_at(test, "run")) {
      bullets.items.push_back(fmt::format("{}: p = {}", name, format.p_value(number_at(test, "p"))));
    } else {
      bullets.items.push_back(fmt::format("{}: not tested, {}", name, text_at(test, "why_not")));
    }
  }
  if (!bullets.items.empty()) document.push_back(bullets);
}

Table figure_table(const Json& figure, const ResultsWords& words) {
  const auto label = [&](const char* key, const char* otherwise) {
    const std::string text = text_at(figure, key);
    return text.empty() ? std::string(otherwise) : text;
  };
  Table table{.title = "",
              .columns = {"series", label("x_label", "x"), label("y_label", "y"), "interval"},
              .num_text_columns = 1};
  for (const Json& series : at(figure, "series")) {
    for (const Json& point : at(series, "points")) {
      const Json& x = at(point, "x");
      const double y = number_at(point, "y");
      if (!std::isfinite(y) || x.is_null()) continue;
      table.rows.push_back(
          {text_at(series, "name"), x.is_string() ? x.get<std::string>() : words.format.plain(x.get<double>()),
           words.format.plain(y),
           words.format.range(number_at(point, "low"), number_at(point, "high"), decimals_of({y}, 4))});
    }
  }
  return table;
}

std::string title_of(const Json& part, const char* otherwise) {
  const std::string title = text_at(part, "title");
  return title.empty() ? otherwise : title;
}

}  // namespace

void add_allocation(Document& document, const Json& results, const ResultsWords& words) {
  Table shares{.title = "Share of units in each arm", .columns = {"model", "budget per unit"}, .num_text_columns = 1};
  shares.columns.insert(shares.columns.end(), words.arms.begin(), words.arms.end());
  std::vector<Table> segments;
  for (const Json& model : at(results, "models")) {
    for (const Json& plan : at(model, "deployed")) {
      if (at(plan, "share_per_arm").is_null()) continue;
      std::vector<std::string> row = {model_name(model), words.format.budget(number_at(plan, "budget_per_unit"))};
      push_shares(row, at(plan, "share_per_arm"), words);
      shares.rows.push_back(std::move(row));
    }
    if (words.room == Room::screen) continue;
    for (const Json& segment : at(model, "segments")) {
      segments.push_back(segment_table(segment, at(results, "budgets"), model_name(model), words));
    }
  }
  if (shares.rows.empty() && segments.empty()) return;
  document.push_back(Heading{"Who gets what"});
  add_table(document, std::move(shares));
  for (Table& table : segments) add_table(document, std::move(table));
}

void add_ranking(Document& document, const Json& results, const ResultsWords& words) {
  std::vector<Json> rows;
  for (const Json& model : at(results, "models")) {
    const Json& qini = at(model, "qini");
    const Json& aucc = at(model, "aucc");
    for (std::size_t i = 0; i < std::max(aucc.size(), qini.size()); ++i) {
      Json row = {{"model", model_name(model)}};
      for (const Json* part : {&at(qini, i), &at(aucc, i)}) {
        if (part->is_object()) row.update(*part);
      }
      rows.push_back(std::move(row));
    }
  }
  Bullets bullets;
  for (const Json& area : at(at(at(results, "models"), std::size_t{0}), "aucc")) {
    if (!text_at(area, "note").empty())
      bullets.items.push_back(fmt::format("arm {}: {}", text_at(area, "arm"), text_at(area, "note")));
  }
  const Json& differences = at(results, "aucc_differences");
  for (const Json& difference : differences) {
    if (!text_at(difference, "sentence").empty()) bullets.items.push_back(text_at(difference, "sentence"));
  }
  if (rows.empty() && differences.empty()) return;
  document.push_back(Heading{"How well units are ranked"});
  Table table = json_table(rows,
                           {{"model", "model", Show::text},
                            {"arm", "arm", Show::text},
                            {"AUCC, published", "published"},
                            {"AUCC, exact area", "area"},
                            {"area, not normalised", "unnormalised_area", Show::interval, false},
                            {"Qini", "qini"},
                            {"AUUC", "auuc"}},
                           words.format, words.room);
  table.title = "Area under the cost curve and uplift measures, one arm against control";
  if (!bullets.items.empty()) document.push_back(bullets);
  add_table(document, std::move(table));
  Table against = json_table(differences.is_array() ? differences.get<std::vector<Json>>() : std::vector<Json>(),
                             {{"model", "model", Show::text},
                              {"against", "reference", Show::text},
                              {"arm", "arm", Show::text},
                              {"published", "published"},
                              {"exact area", "area"},
                              {"p", "p_value", Show::p_value}},
                             words.format, words.room);
  against.title = "Differences in AUCC on the same resamples";
  add_table(document, std::move(against));
}

void add_trial(Document& document, const Json& results, const ResultsWords& words) {
  const Json& check = at(results, "check");
  const Json& arms = at(check, "arms").is_array() ? at(check, "arms") : at(at(results, "trial"), "arms");
  if (check.is_null() && arms.empty()) return;
  document.push_back(Heading{"The trial"});
  const std::string verdict = text_at(check, "verdict");
  if (verdict == "fit" || verdict == "unfit")
    document.push_back(Paragraph{"The trial is " + verdict + " to learn from."});
  add_findings(document, at(check, "problems"), "problem");
  add_findings(document, at(check, "warnings"), "warning");
  add_tests(document, check, words.format);
  std::vector<Json> rows;
  for (const Json& arm : arms) {
    rows.push_back(arm);
    if (arm.is_object())
      rows.back()["name"] = text_at(arm, "arm") + text_at(arm, "label") + (flag_at(arm, "control") ? " (control)" : "");
  }
  Table table = json_table(rows,
                           {{"arm", "name", Show::text},
                            {"units", "units", Show::count},
                            {"share", "share", Show::percent},
                            {"designed", "designed_share", Show::percent},
                            {words.revenue, "revenue"},
                            {"against control", "revenue_difference"},
                            {words.cost, "cost"},
                            {"against control", "cost_difference"}},
                           words.format, words.room);
  table.title = "Arms of the trial: means per unit";
  add_table(document, std::move(table));
}

void add_free_parts(Document& document, const Json& results, const ResultsWords& words) {
  const auto add_note = [&](const Json& part) {
    if (!text_at(part, "note").empty()) document.push_back(Paragraph{text_at(part, "note")});
  };
  for (const Json& figure : at(results, "figures")) {
    document.push_back(Heading{title_of(figure, "Figure")});
    add_note(figure);
    add_table(document, figure_table(figure, words));
  }
  for (const Json& part : at(results, "tables")) {
    document.push_back(Heading{title_of(part, "Table")});
    add_note(part);
    Table table;
    for (const Json& column : at(part, "columns"))
      table.columns.push_back(column.is_string() ? column.get<std::string>() : "");
    for (const Json& cells : at(part, "rows")) {
      std::vector<std::string> row;
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Json& cell = at(cells, i);
        row.push_back(cell.is_string()   ? cell.get<std::string>()
                      : cell.is_number() ? words.format.plain(cell.get<double>())
                                         : "");
      }
      table.rows.push_back(std::move(row));
    }
    if (!table.rows.empty() && !table.columns.empty()) document.push_back(std::move(table));
  }
}

}  // namespace dfcl::report
