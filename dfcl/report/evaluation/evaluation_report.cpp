// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/evaluation/evaluation_report.h"

#include "dfcl/report/evaluation/evaluation_description.h"
#include "dfcl/report/results/results_brief.h"
#include "dfcl/report/results/results_document.h"

namespace dfcl::report {

std::string evaluation_json(const EvaluationReport& report) {
  return dump_json(description(Of<EvaluationReport>{}).write(report));
}

std::string evaluation_text(const EvaluationReport& report, Length length) {
  const Json results = Json::parse(evaluation_json(report));
  if (length == Length::full) return document_text(screen_document(results));
  return screen_text(brief_document(results), "baselines, differences, arms, ranking, fit");
}

}  // namespace dfcl::report
