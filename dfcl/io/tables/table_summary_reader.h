// SPDX-License-Identifier: Apache-2.0
//
// One pass over a table file, a glob or a folder, for `dfcl info` and `dfcl init`. Memory: a few parts a thread.
#pragma once

#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::io {

data::TableSummary summarize_table(const std::string& path, core::RunContext& context);

// How a table file was made, from its own word: options first, then figures. Reads the head of the file only; of a CSV
// file what lies beside it (meta_file.h), and throws Error of kind data where that speaks for another table. Kind ""
// where the file does not say.
data::Provenance read_provenance(const std::string& path);

}  // namespace dfcl::io
