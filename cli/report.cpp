// SPDX-License-Identifier: Apache-2.0
//
// dfcl report: results as a page, as Markdown or as text.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/report/results/results_report.h"

namespace dfcl::cli {
namespace {

struct ReportFlags {
  std::string results;
  std::string output;
  std::string format;
};

report::ResultsFormat format_of(const ReportFlags& flags) {
  if (flags.format == "html") return report::ResultsFormat::html;
  if (flags.format == "md") return report::ResultsFormat::markdown;
  if (flags.format == "text") return report::ResultsFormat::text;
  const std::string ending = std::filesystem::path(flags.output).extension();
  if (ending == ".md") return report::ResultsFormat::markdown;
  if (ending == ".txt") return report::ResultsFormat::text;
  if (flags.output.empty() || ending == ".html" || ending == ".htm") return report::ResultsFormat::html;
  throw core::usage_error("-o", "no kind of report has this ending", fmt::format("'{}'", flags.output),
                          ".html, .md or .txt", "or name the kind with --format");
}

int run_report(const ReportFlags& flags, bool as_json, bool quiet) {
  const report::ResultsFormat format = format_of(flags);
  if (flags.output.empty() && (format == report::ResultsFormat::html || as_json)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "no file to write the report to",
                       .hint = "add -o report.html, or --format text or md to see it here"});
  }
  if (!flags.output.empty()) require_output(flags.output, {flags.results});
  const std::string results = io::read_text_file(flags.results, report::kMostResultsBytes);
  const std::string text = report::render_results(results, flags.results, format);
  if (flags.output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  io::write_text_file(flags.output, text);
  if (as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", flags.output}, {"bytes", text.size()}}.dump(2));
  } else if (!quiet) {
    fmt::print("report: {} ({:.0f} kB)\n", flags.output, static_cast<double>(text.size()) / 1000.0);
  }
  return 0;
}

}  // namespace

void add_report(Session& session) {
  const auto flags = std::make_shared<ReportFlags>();
  CLI::App& verb = session.add_verb(
      "report",
      "results as one page that opens anywhere, as Markdown or as text\n"
      "The page is one file that loads nothing from elsewhere and holds aggregates only.",
      "dfcl simulate --preset marketing --rows 20000 --seed 1 -o trial.parquet --study study.toml\n"
      "dfcl train study.toml --method tsm --epochs 2 -o model.safetensors\n"
      "dfcl evaluate study.toml model.safetensors -o results.json\n"
      "dfcl report results.json -o report.html\n"
      "dfcl report results.json --format text",
      [flags, &session](core::RunContext&) { return run_report(*flags, session.json(), session.quiet()); });
  verb.add_option("RESULTS", flags->results, "the results file (JSON) of evaluate, compare, deploy, readout or power")
      ->required();
  verb.add_option("-o,--output", flags->output,
                  "where to write the report\nWithout it, md and text go to the terminal.");
  verb.add_option("--format", flags->format, "by default as the name of the output says: .html, .md or .txt")
      ->check(one_of({"html", "md", "text"}));
}

}  // namespace dfcl::cli
