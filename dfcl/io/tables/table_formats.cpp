// SPDX-License-Identifier: Apache-2.0
//
// The list of table formats.
#include "dfcl/io/tables/table_format.h"

namespace dfcl::io {

extern const TableFormat kParquetFormat;      // parquet_table.cpp
extern const TableFormat kArrowFileFormat;    // arrow_table.cpp
extern const TableFormat kArrowStreamFormat;  // arrow_table.cpp
extern const TableFormat kGzippedCsvFormat;   // csv_table.cpp
extern const TableFormat kCsvFormat;          // csv_table.cpp

std::span<const TableFormat* const> table_formats() {
  static constexpr const TableFormat* kAll[] = {&kParquetFormat, &kArrowFileFormat, &kArrowStreamFormat,
                                                &kGzippedCsvFormat, &kCsvFormat};
  return kAll;
}

}  // namespace dfcl::io
