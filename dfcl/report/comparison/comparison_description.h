// SPDX-License-Identifier: Apache-2.0
//
// The keys of a comparison of methods. Internal to report.
#pragma once

#include "dfcl/report/comparison/comparison_report.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

const Described<ComparisonReport>& description(Of<ComparisonReport>);

}  // namespace dfcl::report
