// SPDX-License-Identifier: Apache-2.0
//
// `<file>.meta.json`: what a CSV file cannot say itself, kept beside it. It holds the table's provenance and figures,
// and the size and a hash of the CSV it belongs to, so that one never speaks for another table. Internal to io. Reading
// costs one pass over the bytes of the CSV; memory is one block.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/provenance.h"

namespace dfcl::io {

// Beside the table itself, where the path is a link to it.
std::string meta_path(const std::string& table_path);
// Where it is such a file; anything else of that name stays.
void remove_meta(const std::string& path);

// The text of the file beside a table, whose bytes are read from the descriptor; `path` is for messages.
std::string meta_text(const data::Provenance& provenance,
                      const std::vector<std::pair<std::string, std::string>>& figures,
                      const std::vector<std::string>& columns, std::size_t num_rows, int table_file,
                      const std::string& path);

// The provenance of a CSV file with its figures as further options; kind "" where nothing lies beside it. Throws Error
// of kind data where what lies there is of another table, of kind file where it is damaged.
data::Provenance read_meta(const std::string& table_path);

}  // namespace dfcl::io
