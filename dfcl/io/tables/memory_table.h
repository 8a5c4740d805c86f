// SPDX-License-Identifier: Apache-2.0
//
// A table that a caller holds in memory, under a name that every reader of this room takes for a path: what works on
// files works on data frames. The name is known while the MemoryTable lives. Numbers and texts are not copied: the
// table shares the caller's memory. Readers cut it into parts of at most 65,536 rows as they do with files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dfcl/data/text_column.h"

struct ArrowArray;  // of the Arrow C interfaces
struct ArrowArrayStream;
struct ArrowSchema;

namespace dfcl::io {

struct MemoryRecords;

// One column of plain memory. Texts where `values` is null: the empty text is missing.
struct MemoryColumn {
  enum class Type : std::uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };
  enum class Time : std::uint8_t { none, instant, span };
  enum class Unit : std::uint8_t { second, millisecond, microsecond, nanosecond };
  std::string name;
  Type type = Type::float64;
  const void* values = nullptr;
  std::shared_ptr<const void> owner = {};  // keeps the values
  data::TextColumn texts = {};
  // Of int64 values that are instants or spans of time, what they count; the lowest value is missing.
  Time time = Time::none;
  Unit unit = Unit::second;
};

class MemoryTable {
 public:
  // Takes over the stream and reads it to its end. `label` names the table in messages: "trial" becomes <trial>.
  // Throws Error of kind data where the stream fails.
  MemoryTable(ArrowArrayStream* stream, const std::string& label);
  // Takes over one record batch. Throws Error of kind data where the two do not fit each other.
  MemoryTable(ArrowSchema* schema, ArrowArray* batch, const std::string& label);
  // Columns of num_rows values each.
  MemoryTable(std::vector<MemoryColumn> columns, std::size_t num_rows, const std::string& label);
  ~MemoryTable();
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t num_rows() const;
  std::vector<std::string> column_names() const;

 private:
  std::string path_;
  std::shared_ptr<const MemoryRecords> records_;
};

// Whether a table of this name is there.
bool is_memory_table(const std::string& path);

}  // namespace dfcl::io
