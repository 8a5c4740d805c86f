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
// id_column: the column whose values name units, and must (read_ids of id_values.h); "": none.
std::unique_ptr<data::BatchSource> open_batches(const std::string& path, const std::vector<std::string>& names,
                                                const std::vector<data::ColumnType>& types, core::RunContext& context,
                                                const std::string& id_column = "");

// The names of a table's columns.
std::vector<std::string> column_names(const std::string& path);

// Gives back to the system what readers have freed and their allocators keep: for a process that goes on for long after
// it has read much.
void release_read_memory();

// What the ids of a column can be streamed as, int64, uint64 or text: as the file declares it; of a text file, as its
// first rows are.
data::ColumnType id_type_in(const std::string& path, const std::string& column);

}  // namespace dfcl::io
