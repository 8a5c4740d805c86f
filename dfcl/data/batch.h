// SPDX-License-Identifier: Apache-2.0
//
// Tables in pieces: a Batch is a few columns of equal length, and BatchSource is the interface through
// which anything streams: files (io), simulated trials (simulate), and later other machines. Memory is one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dfcl/data/text_column.h"

namespace dfcl::data {

enum class ColumnType : std::uint8_t { float32, float64, int64, uint64, text };

struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::float64;
  bool operator==(const ColumnInfo&) const = default;
};

// In the order of ColumnType. NaN in a float column and an empty text mean missing; whole numbers are never missing.
using ColumnValues = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>,
                                  std::vector<std::uint64_t>, TextColumn>;

// No values of this type yet.
ColumnValues empty_values(ColumnType type);

struct Batch {
  std::size_t num_rows = 0;
  std::vector<ColumnValues> columns;  // as BatchSource::columns names them
};

// Columns that travel beside others, row by row.
struct ExtraColumns {
  std::vector<ColumnInfo> columns;
  std::vector<ColumnValues> values;  // as many as columns
  bool empty() const { return columns.empty(); }
};
// Adds the rows [begin, end) of a column to another of the same type.
void append_rows(const ColumnValues& from, std::size_t begin, std::size_t end, ColumnValues& to);
// Adds all rows; takes over the columns where there are none yet.
void append_rows(const ExtraColumns& from, ExtraColumns& to);

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual const std::vector<ColumnInfo>& columns() const = 0;
  // The next batch in row order; false at the end. Throws core::Error.
  virtual bool next(Batch& batch) = 0;
  // Back to the first row.
  virtual void rewind() = 0;
};

}  // namespace dfcl::data
