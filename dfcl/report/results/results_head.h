// SPDX-License-Identifier: Apache-2.0
//
// What every results file begins with: what it is, how it was made, in which words and numbers it is to be shown, and
// the answer. Internal to report.
#pragma once

#include <string>

#include "dfcl/data/provenance.h"
#include "dfcl/data/report_words.h"
#include "dfcl/evaluate/evaluation.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

inline constexpr const char* kResultsFormat = "dfcl-results";
inline constexpr int kResultsVersion = 1;

using evaluate::Verdict;

using data::ReportWords;

struct ResultsHead {
  std::string kind;  // evaluation, comparison, deployment, readout, power
  data::Provenance made_by;
  ReportWords words;
  Verdict verdict;
};

const Described<ResultsHead>& description(Of<ResultsHead>);

// The words of budget_basis.
inline SchemaPtr budget_basis_schema() { return choice_schema({"incremental", "total"}); }

}  // namespace dfcl::report
