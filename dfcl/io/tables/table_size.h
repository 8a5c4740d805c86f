// SPDX-License-Identifier: Apache-2.0
//
// How large a table is, before it is read: what a limit on memory is held against. Parquet files and tables in memory
// say how many rows they have; of the others the first block says how many rows a byte holds. Time: the heads of the
// files, and of the first one two blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dfcl::io {

struct TableSize {
  double rows = 0.0;
  double columns = 0.0;     // that are wanted
  double part_rows = 0.0;   // in a part (record_source.h), of which each thread reads one
  double text_bytes = 0.0;  // of a part of a text file
  double held_bytes = 0.0;  // beside the parts: a group of rows that is read as a whole

  // What reading on so many threads takes, where a value of a part takes so many bytes while it is converted.
  double reading_bytes(int threads, double bytes_per_value) const;
};

// path: a file, a glob or a folder. columns: those that are wanted; empty: all. Throws Error as reading does.
TableSize table_size(const std::string& path, const std::vector<std::string>& columns = {});

}  // namespace dfcl::io
