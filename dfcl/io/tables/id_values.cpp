// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/id_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "dfcl/io/tables/column_values.h"

namespace dfcl::io {
namespace {

using arrow::Type;

// A whole number in its plain form: no sign but minus, no leading zeros.
template <class Number>
bool read_plain(std::string_view text, Number& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return false;
  const std::string_view digits = text.front() == '-' ? text.substr(1) : text;
  return (digits.size() == 1 || digits.front() != '0') && text != "-0";
}

template <class Array>
std::string_view id_text(const Array& array, std::int64_t row) {
  return array.IsNull(row) ? std::string_view() : trim(array.GetView(row));
}

// All ids as numbers of this type, or fewer than there are.
template <class Number, class Array>
std::vector<Number> plain_numbers(const Array& array) {
  std::vector<Number> numbers;
  numbers.reserve(static_cast<std::size_t>(array.length()));
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (!read_plain(id_text(array, row), numbers.emplace_back())) {
      numbers.pop_back();
      break;
    }
  }
  return numbers;
}

template <class Array>
data::Ids text_ids(const Array& array, Letters letters) {
  const auto length = static_cast<std::size_t>(array.length());
  if (letters == Letters::may_be_numbers) {
    const auto numbers = plain_numbers<std::int64_t>(array);
    if (numbers.size() == length) return numbers;
    // Only a number beyond int64 is worth a second try: other words are no numbers at all.
    std::uint64_t beyond = 0;
    if (read_plain(id_text(array, static_cast<std::int64_t>(numbers.size())), beyond)) {
      const auto unsigned_numbers = plain_numbers<std::uint64_t>(array);
      if (unsigned_numbers.size() == length) return unsigned_numbers;
    }
  }
  data::TextColumn texts;
  for (std::int64_t row = 0; row < array.length(); ++row) texts.push_back(id_text(array, row));
  return texts;
}

template <class Number, class Array>
std::vector<Number> copy_numbers(const arrow::Array& array) {
  const auto& typed = static_cast<const Array&>(array);
  std::vector<Number> numbers(static_cast<std::size_t>(array.length()));
  for (std::int64_t row = 0; row < array.length(); ++row)
    numbers[static_cast<std::size_t>(row)] = static_cast<Number>(typed.Value(row));
  return numbers;
}

data::Ids integer_ids(const arrow::Array& array) {
  switch (array.type_id()) {
    case Type::INT8: return copy_numbers<std::int64_t, arrow::Int8Array>(array);
    case Type::INT16: return copy_numbers<std::int64_t, arrow::Int16Array>(array);
    case Type::INT32: return copy_numbers<std::int64_t, arrow::Int32Array>(array);
    case Type::UINT8: return copy_numbers<std::int64_t, arrow::UInt8Array>(array);
    case Type::UINT16: return copy_numbers<std::int64_t, arrow::UInt16Array>(array);
    case Type::UINT32: return copy_numbers<std::int64_t, arrow::UInt32Array>(array);
    case Type::UINT64: return copy_numbers<std::uint64_t, arrow::UInt64Array>(array);
    default: return copy_numbers<std::int64_t, arrow::Int64Array>(array);
  }
}

// 17.50 is "17.5" and 17.00 is "17".
std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

template <class Array>
data::Ids decimal_ids(const arrow::Array& array) {
  const auto& typed = static_cast<const Array&>(array);
  data::TextColumn texts;
  for (std::int64_t row = 0; row < array.length(); ++row)
    texts.push_back(array.IsNull(row) ? std::string() : without_zeros(typed.FormatValue(row)));
  return texts;
}

bool is_float(const arrow::DataType& type) {
  return type.id() == Type::HALF_FLOAT || type.id() == Type::FLOAT || type.id() == Type::DOUBLE;
}

}  // namespace

data::Ids ids_of(const arrow::Array& array, Letters letters) {
  switch (array.type_id()) {
    case Type::STRING: return text_ids(static_cast<const arrow::StringArray&>(array), letters);
    case Type::LARGE_STRING: return text_ids(static_cast<const arrow::LargeStringArray&>(array), letters);
    case Type::STRING_VIEW: return text_ids(static_cast<const arrow::StringViewArray&>(array), letters);
    case Type::DECIMAL128: return decimal_ids<arrow::Decimal128Array>(array);
    case Type::DECIMAL256: return decimal_ids<arrow::Decimal256Array>(array);
    default: break;
  }
  if (arrow::is_integer(array.type_id()) && array.null_count() == 0) return integer_ids(array);
  const LabelColumn labels = labels_of(array);
  data::TextColumn texts;
  for (const std::uint32_t code : labels.codes)
    texts.push_back(code == LabelColumn::kMissing ? std::string_view() : std::string_view(labels.labels[code]));
  return texts;
}

data::Ids read_ids(const arrow::Array& array, Letters letters, const std::string& column, std::optional<BadRow>& bad) {
  const auto report = [&](std::int64_t row, const char* what, std::string found, const char* expected,
                          const char* hint) {
    if (!bad || row < bad->row) bad = BadRow{row, column, what, std::move(found), expected, hint};
  };
  if (is_float(*array.type())) {
    constexpr double kMostExact = 9007199254740992.0;  // 2^53
    std::vector<double> numbers(static_cast<std::size_t>(array.length()));
    fill_numbers(array, 0, array.length(), numbers.data(), 1);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      if (std::isnan(numbers[row])) continue;  // missing, below
      if (numbers[row] == std::floor(numbers[row]) && std::abs(numbers[row]) <= kMostExact) continue;
      report(static_cast<std::int64_t>(row), "an id that is no exact whole number", number_text(numbers[row]),
             "whole numbers up to 2^53 in a column of floats", "save ids as whole numbers or as text");
      break;
    }
  }
  data::Ids ids = ids_of(array, letters);
  if (const auto row = missing_text(ids)) report(*row, "a unit without an id", "an empty value", "", "");
  return ids;
}

std::optional<std::int64_t> missing_text(const data::Ids& ids) {
  const data::TextColumn* texts = ids.texts();
  for (std::size_t row = 0; texts != nullptr && row < texts->size(); ++row) {
    if ((*texts)[row].empty()) return static_cast<std::int64_t>(row);
  }
  return std::nullopt;
}

}  // namespace dfcl::io
