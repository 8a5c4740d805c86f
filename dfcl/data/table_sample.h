// SPDX-License-Identifier: Apache-2.0
//
// Some rows of a table nobody has described yet, column by column, to look at how its columns go together. Made by
// io/tables/table_sample_reader.h. Memory: 4 bytes for each number, 4 for each code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace dfcl::data {

struct SampledColumn {
  static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();
  std::string name;
  std::vector<float> numbers;  // per row, NaN where missing; numbers, and yes/no or true/false as 1 and 0; else empty
  // Per row, equal where the values are; in order of first appearance. Empty where they are real numbers that never
  // repeat.
  std::vector<std::uint32_t> codes;
  std::vector<std::string> labels;  // of the codes; empty where there are more than 1000

  bool is_number() const { return !numbers.empty(); }
};

struct TableSample {
  std::size_t num_rows = 0;  // of the sample
  bool is_whole = true;      // every row of the table
  std::vector<SampledColumn> columns;
};

}  // namespace dfcl::data
