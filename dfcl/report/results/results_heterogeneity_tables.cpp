// SPDX-License-Identifier: Apache-2.0
//
// Tables of where effects are large, for whom, and of plans as rules.
#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/results/results_tables.h"

namespace dfcl::report {
namespace {

std::string answer_words(const std::string& answer) {
  if (answer == "yes") return "more than control";
  if (answer == "no") return "less than control";
  return answer == "too_few" ? "too few units" : "not shown";
}

// On a screen the model that the others are compared with, in reports all.
std::vector<Json> shown_models(const Json& results, const ResultsWords& words) {
  std::vector<Json> models;
  for (const Json& model : at(results, "models")) {
    if (words.room == Room::report || flag_at(model, "reference")) models.push_back(model);
  }
  return models;
}

std::string ranking_words(const Json& uplift, const ResultsWords& words) {
  const std::string arm = text_at(uplift, "arm");
  if (!arm.empty()) return "arm " + arm;
  return "plan at " + words.format.budget(number_at(uplift, "budget_per_unit"));
}

std::string share_words(const Json& leaf, const ResultsWords& words) {
  const core::Interval revenue = interval_at(leaf, "revenue");
  std::string text = words.format.percent(number_at(leaf, "share"), 0) + " of units";
  if (revenue.has_ends())
    text += fmt::format(", {} {} over control", words.format.interval(revenue, decimals_of_intervals({revenue})),
                        words.revenue);
  return text;
}

}  // namespace

void add_effects(Document& document, const Json& results, const ResultsWords& words) {
  std::vector<Json> rows;
  Bullets leaves;  // in full: a table has no room for them
  for (const Json& effects : at(results, "effects")) {
    std::size_t number = 0;
    for (const Json& value : at(effects, "values")) {
      std::string segment = text_at(value, "value");
      if (!text_at(effects, "column").empty()) segment = text_at(effects, "column") + " " + segment;
      if (text_at(effects, "found") == "tree") {
        leaves.items.push_back(fmt::format("leaf {}: {}", ++number, segment));
        segment = fmt::format("leaf {}", number);
      }
      for (const Json& arm : at(value, "arms")) {
        if (!arm.is_object()) continue;
        rows.push_back(arm);
        rows.back()["segment"] = segment;
        rows.back()["units"] = at(value, "units");
        rows.back()["said"] = answer_words(text_at(arm, "answer"));
      }
    }
  }
  if (rows.empty()) return;
  document.push_back(Heading{"For whom it works"});
  Table table = json_table(rows,
                           {{"segment", "segment", Show::text},
                            {"arm", "arm", Show::text},
                            {"units", "units", Show::count},
                            {words.revenue + " over control", "revenue"},
                            {"all at once", "simultaneous", Show::ends},
                            {words.cost + " over control", "cost", Show::interval, false},
                            {"earns", "said", Show::text}},
                           words.format, words.room);
  table.title =
      fmt::format("Effects by segment ({}); intervals hold for all segments and arms at once", words.per_unit());
  if (!leaves.items.empty()) document.push_back(leaves);
  add_table(document, std::move(table));
}

void add_uplift(Document& document, const Json& results, const ResultsWords& words) {
  Bullets bullets;
  std::vector<Json> rows;
  for (const Json& model : shown_models(results, words)) {
    for (const Json& uplift : at(model, "uplift")) {
      const bool is_shown = words.room == Room::report || !text_at(uplift, "arm").empty();
      if (is_shown && !text_at(uplift, "sentence").empty())
        bullets.items.push_back(
            fmt::format("{}, {}: {}", model_name(model), ranking_words(uplift, words), text_at(uplift, "sentence")));
      std::size_t tenth = 0;
      for (const Json& decile : at(uplift, "deciles")) {
        ++tenth;
        if (words.room == Room::screen || !decile.is_object()) continue;
        rows.push_back(decile);
        rows.back()["model"] = model_name(model);
        rows.back()["ranking"] = ranking_words(uplift, words);
        rows.back()["tenth"] = tenth;
      }
    }
  }
  if (bullets.items.empty() && rows.empty()) return;
  document.push_back(Heading{"Uplift by decile"});
  if (!bullets.items.empty()) document.push_back(bullets);
  Table table = json_table(rows,
                           {{"model", "model", Show::text},
                            {"by uplift of", "ranking", Show::text},
                            {"decile", "tenth", Show::count},
                            {"units", "units", Show::count},
                            {"predicted", "predicted", Show::number},
                            {"estimated", "uplift"},
                            {"difference in means", "difference_in_means"},
                            {words.cost + " over control", "cost"},
                            {"treated by the plan", "planned", Show::percent}},
                           words.format, words.room);
  table.title = fmt::format("{} over control, {}; most predicted uplift first", words.revenue, words.per_unit());
  add_table(document, std::move(table));
}

void add_policy_trees(Document& document, const Json& results, const ResultsWords& words) {
  bool has_heading = false;
  for (const Json& model : shown_models(results, words)) {
    for (const Json& tree : at(model, "policy_trees")) {
      if (!has_heading) document.push_back(Heading{"The plan as a rule"});
      has_heading = true;
      document.push_back(
          Paragraph{fmt::format("{}, budget {} per unit. {}", model_name(model),
                                words.format.budget(number_at(tree, "budget_per_unit")), text_at(tree, "sentence"))});
      Bullets bullets;
      for (const Json& leaf : at(tree, "leaves"))
        bullets.items.push_back(
            fmt::format("{}: arm '{}' ({})", text_at(leaf, "units"), text_at(leaf, "arm"), share_words(leaf, words)));
      if (!bullets.items.empty()) document.push_back(bullets);
    }
  }
}

}  // namespace dfcl::report
