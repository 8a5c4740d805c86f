// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_report.h"

#include "dfcl/report/page/results_page.h"
#include "dfcl/report/results/results_brief.h"
#include "dfcl/report/results/results_document.h"
#include "dfcl/report/results/results_file.h"
#include "dfcl/report/results/results_sheets.h"
#include "dfcl/report/text/document.h"

namespace dfcl::report {

std::string render_results(std::string_view results, const std::string& where, ResultsFormat format, Length length) {
  const Json json = read_results(results, where);
  switch (format) {
    case ResultsFormat::html: return results_page(json);
    case ResultsFormat::markdown: return document_markdown(results_document(json));
    case ResultsFormat::workbook: return io::workbook_bytes(results_sheets(json));
    case ResultsFormat::csv: return io::cells_csv(results_sheets(json));
    case ResultsFormat::text: break;
  }
  if (length == Length::full) return document_text(results_document(json));
  const bool has_plans = !at(json, "models").empty();
  return screen_text(has_plans ? brief_document(json) : results_document(json), has_plans ? "every table" : "");
}

}  // namespace dfcl::report
