// SPDX-License-Identifier: Apache-2.0
//
// One column of a table of units as labels, with the units' ids: for looking at results by segment. Memory: 4 bytes a
// row, the ids and the labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/ids.h"

namespace dfcl::io {

struct UnitLabels {
  data::Ids ids;                     // row numbers from 1 where there is no id column
  std::vector<std::uint32_t> label;  // per row, index into labels
  std::vector<std::string> labels;   // in order of first appearance; an empty value is "(missing)"
};

// path: a file, a glob or a folder. id_column: "" where there is none. Throws Error of kind data for an unknown column,
// with "did you mean".
UnitLabels read_unit_labels(const std::string& path, const std::string& id_column, const std::string& column,
                            core::RunContext& context);

}  // namespace dfcl::io
