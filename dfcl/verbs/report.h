// SPDX-License-Identifier: Apache-2.0
//
// Results as a page, as Markdown or as text: what `dfcl report` does, for every caller. Memory: the results and the
// page.
#pragma once

#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/report/results/results_report.h"

namespace dfcl::verbs {

struct ReportRequest {
  std::string results;                           // path of a results file
  std::optional<std::string> json;               // the results themselves, instead of the path
  std::optional<std::string> output;             // path; none: the report is only returned
  std::optional<report::ResultsFormat> format;   // none: as the output's name says, html without one
  report::Length length = report::Length::full;  // of text that is not written to a file
};

struct ReportResult {
  std::string text;
  report::ResultsFormat format = report::ResultsFormat::html;
};

ReportResult report(const ReportRequest& request, const core::RunContext& context);

}  // namespace dfcl::verbs
