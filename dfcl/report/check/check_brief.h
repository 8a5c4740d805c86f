// SPDX-License-Identifier: Apache-2.0
//
// What `dfcl check` prints unless asked for all of it: verdict, findings, the arms, two tests. Internal to report.
#pragma once

#include <string>

#include "dfcl/check/check.h"

namespace dfcl::report {

std::string check_brief(const check::CheckResult& result);

// "FIT to learn from, with 2 warnings."
std::string check_verdict(const check::CheckResult& result);

}  // namespace dfcl::report
