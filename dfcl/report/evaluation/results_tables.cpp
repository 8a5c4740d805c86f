// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/results_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfcl::report {
namespace {

// Points of a curve that a table shows.
constexpr std::size_t kCurveRows = 11;

// A column of intervals with one number of decimals: `cell` writes the interval under `key` of a row.
class IntervalColumn {
 public:
  IntervalColumn(const NumberFormat& format, const std::vector<const Json*>& rows, const char* key)
      : format_(format), key_(key) {
    std::vector<const Json*> intervals;
    for (const Json* row : rows) intervals.push_back(&at(*row, key));
    decimals_ = decimals_of_intervals(intervals);
  }
  std::string cell(const Json& row) const { return format_.interval(at(row, key_), decimals_); }
  int decimals() const { return decimals_; }

 private:
  const NumberFormat& format_;
  const char* key_;
  int decimals_ = 0;
};

std::vector<const Json*> pointers(const Json& list) {
  std::vector<const Json*> items;
  for (const Json& item : list) {
    if (!item.is_null()) items.push_back(&item);
  }
  return items;
}

void push_sentences(Document& document, const Json& rows, const ResultsWords& words) {
  Bullets bullets;
  for (const Json& row : rows) {
    const std::string sentence = text_at(row, "sentence");
    if (sentence.empty()) continue;
    const double budget = number_at(row, "budget_per_unit");
    bullets.items.push_back(std::isnan(budget) ? sentence
                                               : fmt::format("{} a unit: {}", words.format.budget(budget), sentence));
  }
  if (!bullets.items.empty()) document.push_back(bullets);
}

std::string per_unit(const ResultsWords& words) {
  return words.format.currency().empty() ? "per unit" : words.format.currency() + " per unit";
}

}  // namespace

void add_table(Document& document, DocumentTable table) {
  table = without_empty_columns(std::move(table));
  if (!table.rows.empty() && !table.columns.empty()) document.push_back(std::move(table));
}

ResultsWords::ResultsWords(const Json& results)
    : format(at(results, "report")),
      revenue(text_at(at(results, "report"), "revenue_name")),
      cost(text_at(at(results, "report"), "cost_name")) {
  if (revenue.empty()) revenue = "revenue";
  if (cost.empty()) cost = "cost";
  for (const Json& arm : at(at(results, "trial"), "arms")) arms.push_back(text_at(arm, "label"));
}

std::string model_name(const Json& model) {
  const std::string name = text_at(model, "name");
  return name.empty() ? "model" : name;
}

void add_differences(Document& document, const Json& results, const ResultsWords& words) {
  const Json& all = at(results, "differences");
  const std::vector<const Json*> rows = pointers(all);
  if (rows.empty()) return;
  const IntervalColumn revenue(words.format, rows, "revenue");
  const IntervalColumn cost(words.format, rows, "cost");
  DocumentTable table{
      .title = fmt::format("Difference in {} ({}), on the same resamples", words.revenue, per_unit(words)),
      .columns = {"model", "against", "budget per unit", "difference", "all at once", "relative, %",
                  "more " + words.cost, "p"},
      .num_text_columns = 2,
      .rows = {}};
  for (const Json* row : rows) {
    const Json& wide = at(*row, "simultaneous");
    table.rows.push_back({text_at(*row, "model"), text_at(*row, "reference"),
                          words.format.budget(number_at(*row, "budget_per_unit")), revenue.cell(*row),
                          words.format.range(number_at(wide, "low"), number_at(wide, "high"), revenue.decimals()),
                          words.format.interval(at(*row, "relative"), 1, 100.0), cost.cell(*row),
                          words.format.p_value(number_at(*row, "p_value"))});
  }
  document.push_back(Heading{"Differences"});
  push_sentences(document, all, words);
  add_table(document, std::move(table));
}

void add_values(Document& document, const Json& results, const ResultsWords& words, const char* which) {
  std::vector<const Json*> plans;
  std::vector<std::string> names;
  for (const Json& model : at(results, "models")) {
    for (const Json* plan : pointers(at(model, which))) {
      plans.push_back(plan);
      names.push_back(model_name(model) + (at(*plan, "feasible") == false ? ", budget cannot be met" : ""));
    }
  }
  if (plans.empty()) return;
  const NumberFormat& format = words.format;
  const IntervalColumn revenue(format, plans, "revenue");
  const IntervalColumn increment(format, plans, "incremental_revenue");
  const IntervalColumn cost(format, plans, "cost");
  const IntervalColumn over(format, plans, "spend_over_budget");
  const IntervalColumn returned(format, plans, "return_per_cost");
  DocumentTable table{
      .title = per_unit(words),
      .columns = {"model", "budget", words.revenue, "over control", words.cost, "over budget",
                  words.revenue + " per " + words.cost, "predicted " + words.revenue, "predicted " + words.cost,
                  "true " + words.revenue, "true " + words.cost, "of the best possible"},
      .num_text_columns = 1,
      .rows = {}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Json& plan = *plans[i];
    table.rows.push_back(
        {names[i], format.budget(number_at(plan, "budget_per_unit")), revenue.cell(plan), increment.cell(plan),
         cost.cell(plan), over.cell(plan), returned.cell(plan), format.plain(number_at(plan, "predicted_revenue")),
         format.plain(number_at(plan, "predicted_cost")), format.plain(number_at(plan, "true_revenue")),
         format.plain(number_at(plan, "true_cost")), format.percent(number_at(plan, "share_of_oracle"))});
  }
  const bool deployed = std::string_view(which) == "deployed";
  document.push_back(Heading{deployed ? "At the budgets of the study" : "At the budgets of the study, matched"});
  document.push_back(Paragraph{
      deployed ? "Deployed: the multiplier comes from predictions alone, as in a launch."
               : "Matched, as published: the multiplier is chosen so that the evaluated cost meets the budget. "
                 "Optimistic: it looks at the outcomes it is judged by."});
  add_table(document, std::move(table));
}

void add_curves(Document& document, const Json& results, const ResultsWords& words) {
  bool first = true;
  for (const Json& model : at(results, "models")) {
    const std::vector<const Json*> points = pointers(at(model, "curve"));
    if (points.empty()) continue;
    if (first) document.push_back(Heading{"Cost curves"});
    first = false;
    const IntervalColumn revenue(words.format, points, "revenue");
    const IntervalColumn increment(words.format, points, "incremental_revenue");
    const IntervalColumn cost(words.format, points, "cost");
    DocumentTable table{.title = fmt::format("{} ({})", model_name(model), per_unit(words)),
                        .columns = {"budget", words.revenue, "over control", words.cost},
                        .num_text_columns = 0,
                        .rows = {}};
    const std::size_t shown = std::min(points.size(), kCurveRows);
    for (std::size_t i = 0; i < shown; ++i) {
      const Json& point = *points[shown > 1 ? i * (points.size() - 1) / (shown - 1) : 0];
      table.rows.push_back({words.format.budget(number_at(point, "budget_per_unit")), revenue.cell(point),
                            increment.cell(point), cost.cell(point)});
    }
    add_table(document, std::move(table));
  }
}

void add_calibration(Document& document, const Json& results, const ResultsWords& words) {
  bool first = true;
  for (const Json& model : at(results, "models")) {
    const Json& calibration = at(model, "calibration");
    const std::vector<const Json*> revenue = pointers(at(calibration, "revenue"));
    const std::vector<const Json*> cost = pointers(at(calibration, "cost"));
    if (revenue.empty() && cost.empty()) continue;
    if (first) document.push_back(Heading{"Predicted and observed, by tenths of the units"});
    first = false;
    const IntervalColumn observed_revenue(words.format, revenue, "observed");
    const IntervalColumn observed_cost(words.format, cost, "observed");
    DocumentTable table{.title = fmt::format("{} ({})", model_name(model), per_unit(words)),
                        .columns = {"predicted " + words.revenue, "observed " + words.revenue,
                                    "predicted " + words.cost, "observed " + words.cost},
                        .num_text_columns = 0,
                        .rows = {}};
    for (std::size_t i = 0; i < std::max(revenue.size(), cost.size()); ++i) {
      std::vector<std::string> row(4);
      if (i < revenue.size()) row[0] = words.format.plain(number_at(*revenue[i], "predicted"));
      if (i < revenue.size()) row[1] = observed_revenue.cell(*revenue[i]);
      if (i < cost.size()) row[2] = words.format.plain(number_at(*cost[i], "predicted"));
      if (i < cost.size()) row[3] = observed_cost.cell(*cost[i]);
      table.rows.push_back(std::move(row));
    }
    add_table(document, std::move(table));
  }
}

}  // namespace dfcl::report
