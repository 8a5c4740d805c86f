// SPDX-License-Identifier: Apache-2.0
//
// A schema as the TypeScript types of the page: web/src/results_format.ts. Internal to report.
#pragma once

#include <string>

#include "dfcl/report/schema/schema.h"

namespace dfcl::report {

// The whole file. Every key but the required ones may be absent or null, as in any file that dfcl report takes.
std::string typescript_types(const Schema& root);

}  // namespace dfcl::report
