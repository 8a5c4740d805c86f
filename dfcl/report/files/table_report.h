// SPDX-License-Identifier: Apache-2.0
//
// What a table file is, as a screen for people and as JSON for machines.
#pragma once

#include <string>

#include "dfcl/data/table_summary.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

std::string table_text(const data::TableSummary& summary, const std::string& path, Length length = Length::full);
std::string table_json(const data::TableSummary& summary);

}  // namespace dfcl::report
