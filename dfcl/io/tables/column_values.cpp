// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/tables/column_values.h"

#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "dfcl/core/error.h"

namespace dfcl::io {
namespace {

using arrow::Type;

// Calls action(number array) with the array's own type; false where the type is not a number.
template <class Action>
bool with_number_array(const arrow::Array& array, Action&& action) {
  switch (array.type_id()) {
    case Type::BOOL: action(static_cast<const arrow::BooleanArray&>(array)); return true;
    case Type::INT8: action(static_cast<const arrow::Int8Array&>(array)); return true;
    case Type::INT16: action(static_cast<const arrow::Int16Array&>(array)); return true;
    case Type::INT32: action(static_cast<const arrow::Int32Array&>(array)); return true;
    case Type::INT64: action(static_cast<const arrow::Int64Array&>(array)); return true;
    case Type::UINT8: action(static_cast<const arrow::UInt8Array&>(array)); return true;
    case Type::UINT16: action(static_cast<const arrow::UInt16Array&>(array)); return true;
    case Type::UINT32: action(static_cast<const arrow::UInt32Array&>(array)); return true;
    case Type::UINT64: action(static_cast<const arrow::UInt64Array&>(array)); return true;
    case Type::HALF_FLOAT: action(static_cast<const arrow::HalfFloatArray&>(array)); return true;
    case Type::FLOAT: action(static_cast<const arrow::FloatArray&>(array)); return true;
    case Type::DOUBLE: action(static_cast<const arrow::DoubleArray&>(array)); return true;
    case Type::DATE32: action(static_cast<const arrow::Date32Array&>(array)); return true;
    case Type::DATE64: action(static_cast<const arrow::Date64Array&>(array)); return true;
    case Type::TIMESTAMP: action(static_cast<const arrow::TimestampArray&>(array)); return true;
    case Type::DURATION: action(static_cast<const arrow::DurationArray&>(array)); return true;
    case Type::DECIMAL32: action(static_cast<const arrow::Decimal32Array&>(array)); return true;
    case Type::DECIMAL64: action(static_cast<const arrow::Decimal64Array&>(array)); return true;
    case Type::DECIMAL128: action(static_cast<const arrow::Decimal128Array&>(array)); return true;
    case Type::DECIMAL256: action(static_cast<const arrow::Decimal256Array&>(array)); return true;
    default: return false;
  }
}

double ticks_per_day(arrow::TimeUnit::type unit) {
  constexpr double kSeconds = 86400.0;
  switch (unit) {
    case arrow::TimeUnit::SECOND: return kSeconds;
    case arrow::TimeUnit::MILLI: return kSeconds * 1e3;
    case arrow::TimeUnit::MICRO: return kSeconds * 1e6;
    case arrow::TimeUnit::NANO: return kSeconds * 1e9;
  }
  return kSeconds;
}

template <class Decimal, class Array>
double decimal_value(const Array& array, std::int64_t row) {
  return Decimal(array.GetValue(row)).ToDouble(static_cast<const arrow::DecimalType&>(*array.type()).scale());
}

// Instants (from 1970 on) and spans are in days, whatever they are counted in: libraries differ in that, and a model
// must not see other numbers for it.
template <class Array>
double value_of(const Array& array, std::int64_t row) {
  if constexpr (std::is_same_v<Array, arrow::Decimal32Array>) {
    return decimal_value<arrow::Decimal32>(array, row);
  } else if constexpr (std::is_same_v<Array, arrow::Decimal64Array>) {
    return decimal_value<arrow::Decimal64>(array, row);
  } else if constexpr (std::is_same_v<Array, arrow::Decimal128Array>) {
    return decimal_value<arrow::Decimal128>(array, row);
  } else if constexpr (std::is_same_v<Array, arrow::Decimal256Array>) {
    return decimal_value<arrow::Decimal256>(array, row);
  } else if constexpr (std::is_same_v<Array, arrow::Date64Array>) {
    return static_cast<double>(array.Value(row)) / ticks_per_day(arrow::TimeUnit::MILLI);
  } else if constexpr (std::is_same_v<Array, arrow::TimestampArray>) {
    return static_cast<double>(array.Value(row)) /
           ticks_per_day(static_cast<const arrow::TimestampType&>(*array.type()).unit());
  } else if constexpr (std::is_same_v<Array, arrow::DurationArray>) {
    return static_cast<double>(array.Value(row)) /
           ticks_per_day(static_cast<const arrow::DurationType&>(*array.type()).unit());
  } else if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>) {
    return arrow::util::Float16::FromBits(array.Value(row)).ToDouble();
  } else {
    return static_cast<double>(array.Value(row));
  }
}

template <class Out>
void fill(const arrow::Array& array, std::int64_t begin, std::int64_t end, Out* out, std::int64_t stride) {
  const bool known = with_number_array(array, [&](const auto& typed) {
    if (array.null_count() == 0) {
      for (std::int64_t row = begin; row < end; ++row)
        out[(row - begin) * stride] = static_cast<Out>(value_of(typed, row));
      return;
    }
    for (std::int64_t row = begin; row < end; ++row) {
      out[(row - begin) * stride] =
          typed.IsNull(row) ? std::numeric_limits<Out>::quiet_NaN() : static_cast<Out>(value_of(typed, row));
    }
  });
  if (known) return;
  if (array.type_id() == Type::NA) {
    for (std::int64_t row = begin; row < end; ++row)
      out[(row - begin) * stride] = std::numeric_limits<Out>::quiet_NaN();
    return;
  }
  throw core::Error({.what = "a column of type " + array.type()->ToString() + " was taken for numbers"});
}

template <class Number>
std::string shortest_text(Number value) {
  constexpr auto kMostExact = static_cast<Number>(std::uint64_t{1} << std::numeric_limits<Number>::digits);
  char letters[64];
  const bool is_whole = std::abs(value) <= kMostExact && value == std::floor(value);
  const auto end = is_whole ? std::to_chars(letters, letters + sizeof(letters), static_cast<std::int64_t>(value)).ptr
                            : std::to_chars(letters, letters + sizeof(letters), value).ptr;
  return {letters, end};
}

class LabelCoder {
 public:
  std::uint32_t code(std::string_view label, std::int64_t row) {
    label = trim(label);
    if (label.empty()) return LabelColumn::kMissing;
    const auto [entry, is_new] =
        codes_.try_emplace(std::string(label), static_cast<std::uint32_t>(column_.labels.size()));
    if (is_new) {
      column_.labels.emplace_back(label);
      column_.first_row.push_back(row);
    }
    return entry->second;
  }
  LabelColumn finish(std::vector<std::uint32_t> codes) {
    column_.codes = std::move(codes);
    return std::move(column_);
  }

 private:
  std::unordered_map<std::string, std::uint32_t> codes_;
  LabelColumn column_;
};

// Texts repeat, so the last few are remembered by their bytes before the table is asked.
template <class Array>
void code_texts(const Array& array, LabelCoder& coder, std::vector<std::uint32_t>& codes) {
  std::string_view last;
  std::uint32_t last_code = LabelColumn::kMissing;
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) continue;
    const std::string_view text = array.GetView(row);
    if (row == 0 || text != last) {
      last = text;
      last_code = coder.code(text, row);
    }
    codes[static_cast<std::size_t>(row)] = last_code;
  }
}

// The label of an entry of a dictionary is worked out when a row first uses it.
void code_dictionary(const arrow::DictionaryArray& array, const std::string& name, LabelCoder& coder,
                     std::vector<std::uint32_t>& codes) {
  const LabelColumn dictionary = labels_of(*array.dictionary(), name);
  constexpr std::uint32_t kNotYet = LabelColumn::kMissing - 1;
  std::vector<std::uint32_t> code_of_entry(dictionary.codes.size(), kNotYet);
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) continue;
    const auto entry = static_cast<std::size_t>(array.GetValueIndex(row));
    if (code_of_entry[entry] == kNotYet) {
      const std::uint32_t label = dictionary.codes[entry];
      code_of_entry[entry] = label == LabelColumn::kMissing ? label : coder.code(dictionary.labels[label], row);
    }
    codes[static_cast<std::size_t>(row)] = code_of_entry[entry];
  }
}

// Whole numbers of any width, exactly: beyond 2^53 neighbours share one floating point number.
void code_integers(const arrow::Array& array, LabelCoder& coder, std::vector<std::uint32_t>& codes) {
  with_number_array(array, [&](const auto& typed) {
    if constexpr (requires { requires std::is_integral_v<decltype(typed.Value(0))>; }) {
      using Number = decltype(typed.Value(0));
      std::unordered_map<Number, std::uint32_t> code_of_value;
      constexpr std::size_t kSmall = 256;  // numbers, as those of arms are, that need no search
      std::array<std::uint32_t, kSmall> code_of_small;
      code_of_small.fill(LabelColumn::kMissing);
      for (std::int64_t row = 0; row < array.length(); ++row) {
        if (typed.IsNull(row)) continue;
        const auto place = static_cast<std::size_t>(typed.Value(row));  // of a negative number: a large one
        if (place < kSmall) {
          std::uint32_t& code = code_of_small[place];
          if (code == LabelColumn::kMissing) code = coder.code(std::to_string(typed.Value(row)), row);
          codes[static_cast<std::size_t>(row)] = code;
          continue;
        }
        const auto [entry, is_new] = code_of_value.try_emplace(typed.Value(row), 0);
        if (is_new) entry->second = coder.code(std::to_string(typed.Value(row)), row);
        codes[static_cast<std::size_t>(row)] = entry->second;
      }
    }
  });
}

void code_numbers(const arrow::Array& array, LabelCoder& coder, std::vector<std::uint32_t>& codes) {
  std::unordered_map<std::uint64_t, std::uint32_t> code_of_value;
  double last = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t last_code = LabelColumn::kMissing;
  with_number_array(array, [&](const auto& typed) {
    for (std::int64_t row = 0; row < array.length(); ++row) {
      if (typed.IsNull(row)) continue;
      const double value = value_of(typed, row);
      if (std::isnan(value)) continue;
      if (value != last) {  // values repeat
        const auto [entry, is_new] = code_of_value.try_emplace(std::bit_cast<std::uint64_t>(value), 0);
        constexpr bool kIsFloat = std::is_same_v<std::remove_cvref_t<decltype(typed)>, arrow::FloatArray>;
        if (is_new)
          entry->second = coder.code(kIsFloat ? number_text(static_cast<float>(value)) : number_text(value), row);
        last = value;
        last_code = entry->second;
      }
      codes[static_cast<std::size_t>(row)] = last_code;
    }
  });
}

}  // namespace

bool is_number(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::BOOL:
    case Type::HALF_FLOAT:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::DATE32:
    case Type::DATE64:
    case Type::TIMESTAMP:
    case Type::DURATION:
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256:
    case Type::NA: return true;
    default: return arrow::is_integer(type.id());
  }
}

void fill_numbers(const arrow::Array& array, std::int64_t begin, std::int64_t end, float* out, std::int64_t stride) {
  fill(array, begin, end, out, stride);
}

void fill_numbers(const arrow::Array& array, std::int64_t begin, std::int64_t end, double* out, std::int64_t stride) {
  fill(array, begin, end, out, stride);
}

LabelColumn labels_of(const arrow::Array& array, const std::string& name) {
  LabelCoder coder;
  std::vector<std::uint32_t> codes(static_cast<std::size_t>(array.length()), LabelColumn::kMissing);
  switch (array.type_id()) {
    case Type::STRING: code_texts(static_cast<const arrow::StringArray&>(array), coder, codes); break;
    case Type::LARGE_STRING: code_texts(static_cast<const arrow::LargeStringArray&>(array), coder, codes); break;
    case Type::STRING_VIEW: code_texts(static_cast<const arrow::StringViewArray&>(array), coder, codes); break;
    case Type::DICTIONARY:
      code_dictionary(static_cast<const arrow::DictionaryArray&>(array), name, coder, codes);
      break;
    case Type::NA: break;
    case Type::BOOL: {
      const auto& booleans = static_cast<const arrow::BooleanArray&>(array);
      for (std::int64_t row = 0; row < array.length(); ++row) {
        if (!booleans.IsNull(row))
          codes[static_cast<std::size_t>(row)] = coder.code(booleans.Value(row) ? "true" : "false", row);
      }
      break;
    }
    case Type::DATE32:
    case Type::DATE64:
    case Type::TIMESTAMP: {
      for (std::int64_t row = 0; row < array.length(); ++row) {
        const auto scalar = array.GetScalar(row);
        if (scalar.ok() && (*scalar)->is_valid)
          codes[static_cast<std::size_t>(row)] = coder.code((*scalar)->ToString(), row);
      }
      break;
    }
    default:
      if (!is_number(*array.type())) {
        throw core::Error({.kind = core::ErrorKind::data,
                           .what = "a column of a type that cannot be used",
                           .where = name.empty() ? "" : "column '" + name + "'",
                           .found = array.type()->ToString(),
                           .hint = "exclude it, or write it as text or numbers"});
      }
      if (arrow::is_integer(array.type_id())) {
        code_integers(array, coder, codes);
      } else {
        code_numbers(array, coder, codes);
      }
  }
  return coder.finish(std::move(codes));
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char letter) { return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<double> number_of_word(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char letter) { return std::tolower(letter); });
  for (const char* yes : {"yes", "true", "y", "t"}) {
    if (word == yes) return 1.0;
  }
  for (const char* no : {"no", "false", "n", "f"}) {
    if (word == no) return 0.0;
  }
  double number = 0.0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == word.data() + word.size()) return number;
  return std::nullopt;
}

std::string number_text(double value) { return shortest_text(value); }

std::string number_text(float value) { return shortest_text(value); }

}  // namespace dfcl::io
