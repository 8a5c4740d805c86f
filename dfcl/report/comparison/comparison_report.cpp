// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/comparison/comparison_report.h"

#include <fmt/format.h>

#include "dfcl/report/comparison/comparison_description.h"
#include "dfcl/report/comparison/comparison_tables.h"
#include "dfcl/report/results/results_document.h"
#include "dfcl/report/results/results_report.h"
#include "dfcl/report/text/text_table.h"
#include "dfcl/train/methods.h"

namespace dfcl::report {
namespace {

std::string text_of(const Table& table) {
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

// Methods by their titles, unless these would be cut.
Table with_titles(Table table) {
  Table titled = table;
  for (auto& row : titled.rows) {
    if (!row.empty()) row.front() = train::method_words(row.front());
  }
  return fit_columns(titled, kScreenColumns).rows == titled.rows ? titled : table;
}

// A row for each budget where the screen has no room for a column each.
Table deployed_brief(const ComparisonReport& report) {
  const Table table = deployed_table(report);
  Table titled = with_titles(table);
  return fit_columns(titled, kScreenColumns).columns.size() == titled.columns.size() ? titled : turned(table);
}

std::string brief_text(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times) {
  Document document = {Paragraph{report.evaluation.evaluation.verdict.sentence}};
  const OrderedJson json = description(Of<ComparisonReport>{}).write(report);
  if (const std::string answers = two_answers(Json(json["verdict"])); !answers.empty())
    document.push_back(Paragraph{answers});
  if (const std::string methods = methods_sentence(report); !methods.empty()) document.push_back(Paragraph{methods});
  Bullets failed;
  for (const compare::TrainingFailure& failure : report.comparison.failures) {
    const std::string& name = report.comparison.entries[failure.entry].name;
    failed.items.push_back(fmt::format("not trained: {}, seed {}: {}", name, failure.seed, failure.message));
  }
  if (!failed.items.empty()) document.push_back(failed);
  // Of what the verdict speaks, and nothing else: other cuts of the same plans would seem to contradict it.
  document.push_back(deployed_brief(report));
  if (Table table = times_table(report, times); !table.rows.empty()) document.push_back(with_titles(std::move(table)));
  constexpr std::size_t kFileLines = 2;  // where results and page are, which the verb adds
  return screen_text(document, "differences over test units, what training seeds change, ranking and fit", kFileLines);
}

}  // namespace

std::string comparison_json(const ComparisonReport& report) {
  return dump_json(description(Of<ComparisonReport>{}).write(report));
}

std::string comparison_page(const std::string& json, const ComparisonReport& report,
                            const std::vector<compare::TrainingTime>& times) {
  OrderedJson with_times = OrderedJson::parse(json);
  const Table table = times_table(report, times);
  if (!table.rows.empty()) with_times["tables"].push_back(description(Of<Table>{}).write(table));
  return render_results(dump_json(with_times), "the comparison", ResultsFormat::html);
}

std::string comparison_text(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times,
                            Length length) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  if (length == Length::brief) return brief_text(report, times);
  std::string text = wrap(printable(evaluation.verdict.sentence), 0) + "\n";
  text += text_of(deployed_table(report));
  text += text_of(differences_table(report));
  text += text_of(seeds_revenue_table(report));
  text += text_of(seeds_quality_table(report));
  text += text_of(times_table(report, times));
  return text + failures_text(report);
}

}  // namespace dfcl::report
