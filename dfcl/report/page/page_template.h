// SPDX-License-Identifier: Apache-2.0
//
// The page of web/, bundled into one HTML text at build time, with three places to fill: %TITLE%, %TEXT% and %RESULTS%.
// web/build.mjs writes its source file. Internal to report.
#pragma once

#include <string_view>

namespace dfcl::report {

std::string_view page_template();

}  // namespace dfcl::report
