// SPDX-License-Identifier: Apache-2.0
//
// Any table file as a stream of batches. Memory: one batch of at most 65,536 rows (and Arrow's buffers for one row
// group). Every batch is validated before it is looked at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/batch.h"

namespace dfcl::io {

// path: a file, a glob or a folder. names: the columns wanted, in this order; empty: all. types, where given (one for
// each name), are what to convert to; else what the file says. An unknown name is an Error with "did you mean".
std::unique_ptr<data::BatchSource> open_batches(const std::string& path, const std::vector<std::string>& names,
                                                const std::vector<data::ColumnType>& types, core::RunContext& context);

// The names of a table's columns.
std::vector<std::string> column_names(const std::string& path);

}  // namespace dfcl::io
