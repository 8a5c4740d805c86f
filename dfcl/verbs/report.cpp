// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/report.h"

#include <fmt/format.h>

#include <filesystem>

#include "dfcl/core/error_makers.h"
#include "dfcl/io/tables/atomic_file.h"
#include "dfcl/verbs/outputs.h"

namespace dfcl::verbs {
namespace {

report::ResultsFormat choose_format(const ReportRequest& request) {
  if (request.format) return *request.format;
  if (!request.output) return report::ResultsFormat::html;
  const std::string ending = std::filesystem::path(*request.output).extension();
  if (ending == ".md") return report::ResultsFormat::markdown;
  if (ending == ".txt") return report::ResultsFormat::text;
  if (ending == ".xlsx") return report::ResultsFormat::workbook;
  if (ending == ".csv") return report::ResultsFormat::csv;
  if (ending == ".html" || ending == ".htm") return report::ResultsFormat::html;
  throw core::field_error("output", "no kind of report has this ending", fmt::format("'{}'", *request.output),
                          ".html, .md, .txt, .xlsx or .csv",
                          fmt::format("or name the kind with {}", core::field_name("format")));
}

}  // namespace

ReportResult report(const ReportRequest& request, const core::RunContext& context) {
  require_text("output", request.output);
  const report::ResultsFormat format = choose_format(request);
  if (!request.json) require_text("results", request.results);
  if (format == report::ResultsFormat::workbook && !request.output)
    throw core::field_error("output", "no file to write the workbook to", "", "a name that ends in .xlsx");
  if (request.output) require_output("output", *request.output, {request.json ? "" : request.results}, context);
  const std::string results =
      request.json ? *request.json : io::read_text_file(request.results, report::kMostResultsBytes);
  const report::Length length = request.output ? report::Length::full : request.length;
  ReportResult result{report::render_results(results, request.json ? "results" : request.results, format, length),
                      format};
  if (request.output) io::write_text_file(*request.output, result.text);
  return result;
}

}  // namespace dfcl::verbs
