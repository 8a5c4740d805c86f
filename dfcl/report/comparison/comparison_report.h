// SPDX-License-Identifier: Apache-2.0
//
// A comparison of methods as results.json, as a page and as a screen: the evaluation of the first seed's models, and
// beside it what training with other seeds changes, sweeps and failures. The same results are the same bytes: times of
// training are not part of the results, only of the page and the screen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dfcl/compare/comparison.h"
#include "dfcl/report/evaluation/evaluation_report.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

struct ComparisonReport {
  EvaluationReport evaluation;  // of the models of the first seed
  compare::Comparison comparison;
  // Plans and baselines as means over seeds, of which the verdict speaks; none with one seed. Part of the screen only.
  std::optional<evaluate::Evaluation> mean = {};
};

std::string comparison_json(const ComparisonReport& report);
// json: of the function above.
std::string comparison_page(const std::string& json, const ComparisonReport& report,
                            const std::vector<compare::TrainingTime>& times);
std::string comparison_text(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times,
                            Length length = Length::full);

}  // namespace dfcl::report
