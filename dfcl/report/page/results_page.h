// SPDX-License-Identifier: Apache-2.0
//
// Results as one HTML file that needs nothing from elsewhere. Internal to report.
#pragma once

#include <string>

#include "dfcl/report/results/results_file.h"

namespace dfcl::report {

std::string results_page(Json results);

}  // namespace dfcl::report
