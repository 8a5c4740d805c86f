// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/comparison/comparison_description.h"

#include <fmt/format.h>

#include "dfcl/report/comparison/comparison_tables.h"
#include "dfcl/report/evaluation/evaluation_description.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

using compare::SeedFigure;

namespace {

struct ReportedEntry : compare::ComparisonEntry {
  std::vector<SeedFigure> over_seeds;
};

struct ReportedFailure {
  std::string name;
  std::uint64_t seed = 0;
  std::string message;
};

std::vector<ReportedEntry> reported_entries(const ComparisonReport& report) {
  std::vector<ReportedEntry> entries;
  for (std::size_t i = 0; i < report.comparison.entries.size(); ++i)
    entries.push_back({report.comparison.entries[i], report.comparison.over_seeds[i].figures});
  return entries;
}

std::vector<ReportedFailure> reported_failures(const ComparisonReport& report) {
  std::vector<ReportedFailure> failures;
  for (const compare::TrainingFailure& failure : report.comparison.failures)
    failures.push_back({report.comparison.entries[failure.entry].name, failure.seed, failure.message});
  return failures;
}

ResultsHead comparison_head(const ComparisonReport& report) {
  ResultsHead head{"comparison", report.evaluation.provenance, report.evaluation.words,
                   report.evaluation.evaluation.verdict};
  head.made_by.verb = "compare";
  head.made_by.options.emplace_back("training seeds", fmt::format("{}", fmt::join(report.comparison.seeds, ", ")));
  return head;
}

std::vector<std::string> comparison_sentences(const ComparisonReport& report) {
  std::vector<std::string> list = report.evaluation.evaluation.how;
  const std::size_t seeds = report.comparison.seeds.size();
  list.push_back(fmt::format(
      "Every model was trained by the same study on the same rows, the first with seed {}; the figures with "
      "intervals over test units are of those first models.",
      report.comparison.seeds.front()));
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

std::vector<Figure> comparison_figures(const ComparisonReport& report) {
  std::vector<Figure> figures = {revenue_figure(report)};
  for (Figure& figure : sweep_figures(report)) figures.push_back(std::move(figure));
  return figures;
}

std::vector<Table> comparison_tables(const ComparisonReport& report) {
  std::vector<Table> tables = {seeds_revenue_table(report), seeds_quality_table(report), failures_table(report)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return tables;
}

}  // namespace

static const Described<SeedFigure>& description(Of<SeedFigure>) {
  using F = SeedFigure;
  static const auto figure =
      Described<F>("SeedFigure", "A figure of a method over its training seeds.")
          .field("figure", &F::figure, "which: `revenue`, `matched_revenue`, `gain`, `share_of_oracle`, `aucc`, ...")
          .field("budget_per_unit", &F::budget_per_unit, {"null: over all budgets, or without one", kPerUnit})
          .maybe(
              "arm", [](const F& one) { return one.arm.empty() ? std::nullopt : std::optional(one.arm); },
              "label; of `aucc`")
          .field("seeds", &F::seeds, "of training")
          .field("values", &F::values, "one for each seed")
          .field("mean", &F::mean, "over the seeds")
          .field("sd", &F::sd, "standard deviation over the seeds")
          .field("difference", &F::difference, "of the mean from the reference's, over pairs of seeds");
  return figure;
}

static const Described<ReportedEntry>& description(Of<ReportedEntry>) {
  using E = ReportedEntry;
  static const auto entry =
      Described<E>("Entry", "A method, or one of the settings that were tried beside it.")
          .field("name", &E::name, "its name")
          .field("method", &E::method, "the method")
          .for_programs()
          .field("swept", &E::swept, "the key whose value was tried; empty for the method as the study says")
          .field("value", &E::value, "the value that was tried")
          .for_programs()
          .field("settings", &E::settings, "all keys it sets, as `section.key=value`")
          .for_programs()
          .field("over_seeds", &E::over_seeds, "its figures over the training seeds")
          .for_programs();
  return entry;
}

static const Described<ReportedFailure>& description(Of<ReportedFailure>) {
  using F = ReportedFailure;
  static const auto failure = Described<F>("Failure", "A model that could not be trained.")
                                  .field("name", &F::name, "its entry")
                                  .field("seed", &F::seed, "of its training")
                                  .field("message", &F::message, "what happened");
  return failure;
}

const Described<ComparisonReport>& description(Of<ComparisonReport>) {
  using R = ComparisonReport;
  static const auto comparison =
      Described<R>("ComparisonResults", "Methods side by side: the evaluation of their first models, and more seeds.")
          .include(description(Of<ResultsHead>{}), comparison_head)
          .include(evaluation_body(), &R::evaluation)
          .field("entries", reported_entries, "what was trained")
          .field("failures", reported_failures, "what could not be trained")
          .for_programs()
          .field("figures", comparison_figures, "charts that are drawn as they stand")
          .field("tables", comparison_tables, "tables that are shown as they stand")
          .field("how", comparison_sentences, "how it was made and what it does not say, in sentences");
  return comparison;
}

}  // namespace dfcl::report
