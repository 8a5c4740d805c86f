// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/results_report.h"

#include "dfcl/report/page/results_page.h"
#include "dfcl/report/results/results_document.h"
#include "dfcl/report/results/results_file.h"
#include "dfcl/report/text/document.h"

namespace dfcl::report {

std::string render_results(std::string_view results, const std::string& where, ResultsFormat format) {
  const Json json = read_results(results, where);
  switch (format) {
    case ResultsFormat::html: return results_page(json);
    case ResultsFormat::markdown: return document_markdown(results_document(json));
    case ResultsFormat::text: break;
  }
  return document_text(results_document(json));
}

}  // namespace dfcl::report
