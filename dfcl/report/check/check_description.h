// SPDX-License-Identifier: Apache-2.0
//
// The keys of `dfcl check --json`, which are also those of `check` in an evaluation. Internal to report.
#pragma once

#include "dfcl/check/check.h"
#include "dfcl/report/schema/described.h"

namespace dfcl::report {

const Described<check::CheckResult>& description(Of<check::CheckResult>);

}  // namespace dfcl::report
