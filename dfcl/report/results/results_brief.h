// SPDX-License-Identifier: Apache-2.0
//
// The answer of an evaluation on one screen: the verdict, the plans at the budgets, and what targeting adds. Internal
// to report.
#pragma once

#include "dfcl/report/results/results_file.h"
#include "dfcl/report/text/document.h"

namespace dfcl::report {

// Blocks by weight, for screen_text.
Document brief_document(const Json& results);

}  // namespace dfcl::report
