// SPDX-License-Identifier: Apache-2.0
//
// All that results files may hold: the list of their kinds. Internal to report.
#pragma once

#include <string>
#include <vector>

#include "dfcl/report/schema/schema.h"

namespace dfcl::report {

struct ResultsKind {
  std::string name;   // as the file says it
  std::string verb;   // that writes it
  std::string title;  // of its page
  SchemaPtr schema;   // of the whole file
};

const std::vector<ResultsKind>& results_kinds();

// What all of them begin with.
SchemaPtr results_head_schema();

// The keys of all kinds together, each of which may be absent: what a reader goes by.
SchemaPtr results_schema();

}  // namespace dfcl::report
