// SPDX-License-Identifier: Apache-2.0
//
// The answer, tables, figure and sentences of a power calculation: what its screen, its results file and its page
// share. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/launch/power_report.h"
#include "dfcl/report/results/free_parts.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

double smallest_gain_of(const PowerFigures& figures);
std::vector<launch::GainNeed> power_needs(const PowerFigures& figures);

Verdict power_verdict(const PowerFigures& figures);
std::vector<Table> power_tables(const PowerFigures& figures);
std::vector<Figure> power_figures(const PowerFigures& figures);
std::vector<std::string> power_sentences();

}  // namespace dfcl::report
