// SPDX-License-Identifier: Apache-2.0
//
// The answer and tables of results as a screen: how readouts, deployments and power calculations look on a terminal.
// Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/results/results_head.h"
#include "dfcl/report/text/screen.h"
#include "dfcl/report/text/table.h"

namespace dfcl::report {

// notes: sentences under all. In brief, what fits a screen; the tables stand by their weight.
std::string results_screen(const Verdict& verdict, const std::vector<Table>& tables,
                           const std::vector<std::string>& notes, Length length);

}  // namespace dfcl::report
