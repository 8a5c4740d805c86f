// SPDX-License-Identifier: Apache-2.0
//
// What a table file is, at a glance: its columns with types, ranges and missing values, and how it was made. Made by
// io/table_summary_reader.h in one pass; size does not grow with the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/data/provenance.h"

namespace dfcl::data {

struct ColumnSummary {
  std::string name;
  std::string type;  // as the file says it: int64, double, string, ...
  bool is_number = false;
  bool is_integer = false;  // every value is a whole number
  std::int64_t missing = 0;
  double low = 0.0;  // numbers only
  double high = 0.0;
  double mean = 0.0;
  // Distinct values, counted up to kMostDistinct; `frequent` holds the most common ones with their counts, at most 8.
  static constexpr std::size_t kMostDistinct = 1000;
  std::size_t distinct = 0;
  bool distinct_is_at_least = false;
  std::vector<std::pair<std::string, std::int64_t>> frequent;
  bool looks_unique = false;  // no value stood twice among the first 100,000 rows
};

struct TableSummary {
  std::string kind;    // trial, truth, prediction, plan, or table
  std::string format;  // CSV, Parquet, ...
  std::size_t num_files = 1;
  std::uint64_t bytes = 0;
  std::int64_t rows = 0;
  std::vector<ColumnSummary> columns;
  Provenance provenance;  // kind "" where the file does not say
};

}  // namespace dfcl::data
