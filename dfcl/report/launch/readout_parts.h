// SPDX-License-Identifier: Apache-2.0
//
// The answer, tables, figure and sentences of a readout: what its screen, its results file and its page share. Internal
// to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/launch/readout.h"
#include "dfcl/report/results/free_parts.h"
#include "dfcl/report/results/results_head.h"

namespace dfcl::report {

// Of a gain that was measured: launch where it is shown, loses where a loss is, not_shown.
std::string status_of(const core::Interval& gain);

Verdict readout_verdict(const launch::Readout& readout);
// Without those that have no rows.
std::vector<Table> readout_tables(const launch::Readout& readout);
std::vector<Figure> readout_figures(const launch::Readout& readout);
std::string holdout_sentence(const launch::Readout& readout);
std::vector<std::string> readout_sentences(const launch::Readout& readout);

}  // namespace dfcl::report
