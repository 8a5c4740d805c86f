// SPDX-License-Identifier: Apache-2.0
//
// The result of a check as a screen for people and as JSON for machines.
#pragma once

#include <string>

#include "dfcl/check/check.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

// The verdict first, then arms, sample ratio, balance, columns and notes.
std::string check_text(const check::CheckResult& result, Length length = Length::full);

// Every figure of the result; intervals as {"value", "low", "high"}, null where there is none.
std::string check_json(const check::CheckResult& result);

}  // namespace dfcl::report
