// SPDX-License-Identifier: Apache-2.0
//
// The reference page of results files, docs/results-format.md. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/schema/schema.h"

namespace dfcl::report {

// A table of an object's keys.
std::string keys_table(const std::vector<Field>& fields);

// A heading with a table of keys for every named object that is reachable from the roots, by name, each once.
std::string objects_text(const std::vector<SchemaPtr>& roots);

}  // namespace dfcl::report
