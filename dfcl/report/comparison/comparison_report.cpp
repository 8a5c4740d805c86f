// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/comparison/comparison_report.h"

#include <fmt/format.h>

#include "dfcl/report/comparison/comparison_tables.h"
#include "dfcl/report/evaluation/results_report.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using compare::SeedEntry;
using compare::SeedFigure;
using nlohmann::ordered_json;

ordered_json seed_figure_json(const SeedFigure& figure) {
  ordered_json json = {{"figure", figure.figure}};
  json["budget_per_unit"] = number_json(figure.budget_per_unit);
  if (!figure.arm.empty()) json["arm"] = figure.arm;
  json["seeds"] = figure.seeds;
  json["values"] = figure.values;
  json["mean"] = number_json(figure.mean);
  json["sd"] = number_json(figure.sd);
  json["difference"] = interval_json(figure.difference);
  return json;
}

ordered_json entries_json(const ComparisonReport& report) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < report.comparison.entries.size(); ++i) {
    const compare::ComparisonEntry& entry = report.comparison.entries[i];
    ordered_json figures = ordered_json::array();
    for (const SeedFigure& figure : report.comparison.over_seeds[i].figures)
      figures.push_back(seed_figure_json(figure));
    list.push_back({{"name", entry.name},
                    {"method", entry.method},
                    {"swept", entry.swept},
                    {"value", entry.value},
                    {"settings", entry.settings},
                    {"over_seeds", figures}});
  }
  return list;
}

ordered_json failures_json(const ComparisonReport& report) {
  ordered_json list = ordered_json::array();
  for (const compare::TrainingFailure& failure : report.comparison.failures) {
    list.push_back({{"name", report.comparison.entries[failure.entry].name},
                    {"seed", failure.seed},
                    {"message", failure.message}});
  }
  return list;
}

std::vector<std::string> sentences(const ComparisonReport& report) {
  const std::size_t seeds = report.comparison.seeds.size();
  std::vector<std::string> list = {fmt::format(
      "Every model was trained by the same study on the same rows, the first with seed {}; the figures with "
      "intervals over test units are of those first models.",
      report.comparison.seeds.front())};
  if (seeds > 1) {
    list.push_back(fmt::format(
        "Intervals over training seeds are t-intervals of paired differences over {} seeds, on one set of test rows: "
        "they say what the luck of training does. Intervals over test units say what the luck of the trial does. "
        "Neither holds the other.",
        seeds));
  } else {
    list.emplace_back("One training seed: nothing is said of the luck of training; several seeds would.");
  }
  return list;
}

void add_table(ordered_json& tables, const PlainTable& table) {
  if (!table.rows.empty()) tables.push_back(table_json(table));
}

// Long names of models may stand in it.
std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string text_of(const PlainTable& table) {
  if (table.rows.empty()) return "";
  return "\n" + table_text(table) + (table.note.empty() ? "" : wrap(table.note, 0) + "\n");
}

// As lines: a table would cut the messages.
std::string failures_text(const ComparisonReport& report) {
  if (report.comparison.failures.empty()) return "";
  std::string text = "\nNot trained; the same command tries again\n\n";
  for (const compare::TrainingFailure& failure : report.comparison.failures) {
    const std::string& name = report.comparison.entries[failure.entry].name;
    text += "  " + wrap(printable(fmt::format("{}, seed {}: {}", name, failure.seed, failure.message)), 4) + "\n";
  }
  return text;
}

}  // namespace

std::string comparison_json(const ComparisonReport& report) {
  ordered_json json = ordered_json::parse(evaluation_json(report.evaluation));
  json["kind"] = "comparison";
  json["made_by"]["verb"] = "compare";
  json["made_by"]["options"].push_back({"training seeds", fmt::format("{}", fmt::join(report.comparison.seeds, ", "))});
  ordered_json tables = ordered_json::array();
  add_table(tables, seeds_revenue_table(report));
  add_table(tables, seeds_quality_table(report));
  add_table(tables, failures_table(report));
  ordered_json figures = ordered_json::array();
  figures.push_back(figure_json(revenue_figure(report)));
  for (const Figure& figure : sweep_figures(report)) figures.push_back(figure_json(figure));
  json["entries"] = entries_json(report);
  json["failures"] = failures_json(report);
  json["figures"] = std::move(figures);
  json["tables"] = std::move(tables);
  ordered_json how = json["how"];
  for (const std::string& sentence : sentences(report)) how.push_back(sentence);
  json.erase("how");
  json["how"] = std::move(how);  // the last key, as in every results file
  return dumped(json);
}

std::string comparison_page(const std::string& json, const ComparisonReport& report,
                            const std::vector<compare::TrainingTime>& times) {
  ordered_json with_times = ordered_json::parse(json);
  add_table(with_times["tables"], times_table(report, times));
  return render_results(dumped(with_times), "the comparison", ResultsFormat::html);
}

std::string comparison_text(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  std::string text = wrap(printable(evaluation.verdict.sentence), 0) + "\n";
  text += text_of(differences_table(report));
  text += text_of(seeds_revenue_table(report));
  text += text_of(seeds_quality_table(report));
  text += text_of(times_table(report, times));
  return text + failures_text(report);
}

}  // namespace dfcl::report
