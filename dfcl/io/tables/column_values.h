// SPDX-License-Identifier: Apache-2.0
//
// From Arrow arrays to plain values: numbers and labels. Internal to io. Labels are coded in order of first
// appearance, which makes them joinable across parts. Cost: one pass over the array.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfcl::io {

// Whether fill_numbers can read this type: integers, floats, booleans, decimals, and dates and times as their counts.
bool is_number(const arrow::DataType& type);

// Writes rows [begin, end) to out[0], out[stride], ...; null becomes NaN.
void fill_numbers(const arrow::Array& array, std::int64_t begin, std::int64_t end, float* out, std::int64_t stride);
void fill_numbers(const arrow::Array& array, std::int64_t begin, std::int64_t end, double* out, std::int64_t stride);

struct LabelColumn {
  static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> codes;     // per row: index into labels, or kMissing
  std::vector<std::string> labels;      // blanks around them trimmed, in order of first appearance
  std::vector<std::int64_t> first_row;  // of each label
};

// Every type has labels: numbers are written in their shortest form, 5.0 as "5". Null and blank are missing.
// name: of the column, for the Error of kind data where it holds lists or the like.
LabelColumn labels_of(const arrow::Array& array, const std::string& name = "");

std::string_view trim(std::string_view text);

// yes, true, y, t are 1; no, false, n, f are 0, in any case; numbers are themselves; other words are nothing.
std::optional<double> number_of_word(std::string word);

// The shortest text that reads back as this number, of its own width: 0.15f is "0.15".
std::string number_text(double value);
std::string number_text(float value);

}  // namespace dfcl::io
