// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table file, a glob or a folder, spread over it in blocks of 256 so that neighbours stay together. Always
// the same rows of the same table. Time: one pass. Memory: the sample, and a few parts a thread.
#pragma once

#include <cstddef>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/data/table_sample.h"
#include "dfcl/data/table_summary.h"

namespace dfcl::io {

// summary: of the same table. At most about most_cells values (rows x columns), and at most most_rows rows.
data::TableSample sample_table(const std::string& path, const data::TableSummary& summary, core::RunContext& context,
                               std::size_t most_cells = 50'000'000, std::size_t most_rows = 1'000'000);

}  // namespace dfcl::io
