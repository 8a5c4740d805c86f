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

int run_report(const verbs::ReportRequest& request, bool as_json, bool quiet) {
  const bool is_page = request.format.value_or(report::ResultsFormat::html) == report::ResultsFormat::html;
  if (!request.output && (is_page || as_json)) {
    throw core::field_error("output", "no file to write the report to", "", "",
                            fmt::format("add {}, or {} or md to see it here", core::field_name("output", "report.html"),
                                        core::field_name("format", "text")));
  }
  const verbs::ReportResult result = verbs::report(request);
  if (!request.output) {
    fmt::print("{}", result.text);
  } else if (as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", *request.output}, {"bytes", result.text.size()}}.dump(2));
  } else if (!quiet) {
    fmt::print("report: {} ({:.0f} kB)\n", *request.output, static_cast<double>(result.text.size()) / 1000.0);
  }
  return 0;
}

}  // namespace

void add_report(Session& session) {
  const auto request = std::make_shared<verbs::ReportRequest>();
  CLI::App& verb = session.add_verb(
      "report",
      "results as one page that opens anywhere, as Markdown or as text\n"
      "The page is one file that loads nothing from elsewhere and holds aggregates only.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 2 -o model.safetensors\n"
      "dfcl evaluate study.toml model.safetensors -o results.json\n"
      "dfcl report results.json -o report.html\n"
      "dfcl report results.json --format text",
      [request, &session](core::RunContext&) { return run_report(*request, session.json(), session.quiet()); });
  verb.add_option("RESULTS", request->results, "the results file (JSON) of evaluate, compare, deploy, readout or power")
      ->required();
  add_field(verb, "-o,--output", request->output,
            "where to write the report\nWithout it, md and text go to the terminal.");
  add_word<report::ResultsFormat>(verb, "--format", request->format,
                                  "by default as the name of the output says: .html, .md or .txt");
}

}  // namespace dfcl::cli
