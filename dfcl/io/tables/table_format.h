// SPDX-License-Identifier: Apache-2.0
//
// The kinds of table file, each in one file of its own (csv_table.cpp, parquet_table.cpp, arrow_table.cpp) behind this
// seam, and one list of them. Internal to io. A new kind is a new file, a row of the list and a test.
#pragma once

#include <arrow/api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dfcl/io/tables/record_sink.h"

namespace dfcl::io {

class RecordSource;

struct TableFormat {
  const char* name;                         // for people
  std::array<std::string_view, 3> endings;  // of the names of its files; "": none
  // Holds letters only: the types of columns are guessed, and what was made how stands in a file beside it.
  bool is_text;
  // By the first bytes of a file, at most kHeadBytes.
  bool (*starts_with)(std::string_view head);
  // threads > 1 lets the columns of a file be decoded side by side.
  std::unique_ptr<RecordSource> (*open)(const std::string& path, int threads);
  // Writes to `file`, from its start to its end, and names `path` in errors; null where the format is only read.
  std::unique_ptr<RecordSink> (*create)(const OutputFile& file, const std::string& path,
                                        std::shared_ptr<arrow::Schema> schema, Values values);
};

inline constexpr std::size_t kHeadBytes = 8;

// All of them. The first whose starts_with() holds reads a file, so the pickier ones come first.
std::span<const TableFormat* const> table_formats();

}  // namespace dfcl::io
