// SPDX-License-Identifier: Apache-2.0
//
// An evaluation as a screen for people and as results.json for machines and the report page (docs/evaluate.md has the
// keys). Equal results are equal bytes: no paths, threads or times in it.
#pragma once

#include <string>

#include "dfcl/data/provenance.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/evaluation.h"

namespace dfcl::report {

struct EvaluationReport {
  evaluate::Evaluation evaluation;
  data::Provenance provenance;
  data::ReportWords words;
  std::string split;          // train, validation, test, all
  std::string check = {};     // the JSON of `dfcl check`; "": not checked
};

std::string evaluation_json(const EvaluationReport& report);
std::string evaluation_text(const EvaluationReport& report);

}  // namespace dfcl::report
