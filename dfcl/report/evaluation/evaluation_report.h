// SPDX-License-Identifier: Apache-2.0
//
// An evaluation as a screen for people and as results.json for machines and the report page (docs/results-format.md has
// the keys). Equal results are equal bytes: no paths, threads or times in it.
#pragma once

#include <optional>
#include <string>

#include "dfcl/check/check.h"
#include "dfcl/data/provenance.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/evaluation.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

struct EvaluationReport {
  evaluate::Evaluation evaluation;
  data::Provenance provenance;
  data::ReportWords words;
  std::string split;  // train, validation, test, all
  std::optional<check::CheckResult> check = {};
};

std::string evaluation_json(const EvaluationReport& report);
std::string evaluation_text(const EvaluationReport& report, Length length = Length::full);

}  // namespace dfcl::report
