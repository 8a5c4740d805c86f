// SPDX-License-Identifier: Apache-2.0
//
// Results as sheets of figures, for spreadsheets: every list of the results is a sheet, every figure a column;
// intervals have three. Internal to report.
#pragma once

#include <vector>

#include "dfcl/io/workbook/workbook.h"
#include "dfcl/report/results/results_file.h"

namespace dfcl::report {

// The first sheet, "results", has what stands outside of lists.
std::vector<io::Sheet> results_sheets(const Json& results);

}  // namespace dfcl::report
