// SPDX-License-Identifier: Apache-2.0
//
// dfcl report: results as a page, as Markdown or as text.
#include "dfcl/verbs/report.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bind.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/verbs/words.h"

namespace dfcl::cli {
namespace {

int run_report(verbs::ReportRequest& request, const Session& session, core::RunContext& context) {
  const report::ResultsFormat format = request.format.value_or(report::ResultsFormat::html);
  const bool is_page = format == report::ResultsFormat::html || format == report::ResultsFormat::workbook;
  if (!request.output && (is_page || session.json())) {
    throw core::field_error("output", "no file to write the report to", "", "",
                            fmt::format("add {}, or {} or md to see it here", core::field_name("output", "report.html"),
                                        core::field_name("format", "text")));
  }
  request.length = session.length();
  const verbs::ReportResult result = verbs::report(request, context);
  if (!request.output) {
    fmt::print("{}", result.text);
  } else if (session.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", *request.output}, {"bytes", result.text.size()}}.dump(2));
  } else if (!session.quiet()) {
    fmt::print("report: {} ({:.0f} kB)\n", *request.output, static_cast<double>(result.text.size()) / 1000.0);
  }
  return 0;
}

}  // namespace

void add_report(Session& session) {
  const auto request = std::make_shared<verbs::ReportRequest>();
  CLI::App& verb = session.add_verb(
      "report",
      "results as one page that opens anywhere, as Markdown, text, workbook or CSV\n"
      "The page is one file that loads nothing from elsewhere and holds aggregates only.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 2 -o model.safetensors\n"
      "dfcl evaluate study.toml model.safetensors -o results.json\n"
      "dfcl report results.json -o report.html\n"
      "dfcl report results.json --format text",
      [request, &session](core::RunContext& context) { return run_report(*request, session, context); });
  verb.add_option("RESULTS", request->results, "the results file (JSON) of evaluate, compare, deploy, readout or power")
      ->required();
  add_field(verb, "-o,--output", request->output,
            "where to write the report\nWithout it, md and text go to the terminal.");
  add_word<report::ResultsFormat>(
      verb, "--format", request->format,
      "by default as the name of the output says: .html, .md, .txt, .xlsx or .csv\nA workbook has a sheet for each "
      "table; a CSV has a row for each figure: sheet, row, column, value.");
}

}  // namespace dfcl::cli
