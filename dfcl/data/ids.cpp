// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/ids.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "dfcl/core/hash.h"

namespace dfcl::data {
namespace {

struct Digits {
  char letters[24];
  std::size_t size;
  template <class Number>
  explicit Digits(Number number)
      : size(static_cast<std::size_t>(std::to_chars(letters, letters + sizeof(letters), number).ptr - letters)) {}
  std::string_view view() const { return {letters, size}; }
};

// Calls use(id as text) without a string of its own.
template <class Use>
auto with_text(const Ids& ids, std::size_t unit, Use&& use) {
  if (const TextColumn* texts = ids.texts()) return use((*texts)[unit]);
  if (const auto* numbers = ids.unsigned_numbers()) return use(Digits((*numbers)[unit]).view());
  return use(Digits(ids.number(unit)).view());
}

template <class T>
core::Column<T> empty_column(const std::string& folder) {
  return core::Column<T>(core::Memory::scratch(folder));
}

}  // namespace

std::size_t Ids::size() const {
  if (const auto* rows = std::get_if<RowNumbers>(&values_)) return rows->count;
  if (const auto* signed_ones = numbers()) return signed_ones->size();
  if (const auto* unsigned_ones = unsigned_numbers()) return unsigned_ones->size();
  return texts()->size();
}

ColumnType Ids::type() const {
  if (texts() != nullptr) return ColumnType::text;
  return unsigned_numbers() != nullptr ? ColumnType::uint64 : ColumnType::int64;
}

std::int64_t Ids::number(std::size_t unit) const {
  if (const auto* rows = std::get_if<RowNumbers>(&values_)) return static_cast<std::int64_t>(rows->first + unit);
  return std::get<core::Column<std::int64_t>>(values_)[unit];
}

std::string Ids::text(std::size_t unit) const {
  return with_text(*this, unit, [](std::string_view text) { return std::string(text); });
}

std::uint64_t Ids::hash(std::size_t unit, std::uint64_t seed) const {
  return with_text(*this, unit, [&](std::string_view text) { return core::hash_text(text, seed); });
}

Ids Ids::of_rows(core::Column<std::int64_t> row_numbers) {
  Ids ids(std::move(row_numbers));
  ids.are_row_numbers_ = true;
  return ids;
}

Ids Ids::in_folder(const std::string& scratch_folder) {
  Ids ids;
  ids.folder_ = scratch_folder;
  return ids;
}

bool Ids::has_negative() const {
  const auto* signed_ones = numbers();
  return signed_ones != nullptr &&
         std::any_of(signed_ones->begin(), signed_ones->end(), [](std::int64_t number) { return number < 0; });
}

// To a column of its own of this type, which must hold every id.
void Ids::convert_to(ColumnType type) {
  if (type == ColumnType::text) {
    TextColumn texts(empty_column<char>(folder_), empty_column<std::uint64_t>(folder_));
    for (std::size_t unit = 0; unit < size(); ++unit)
      with_text(*this, unit, [&](std::string_view text) { texts.push_back(text); });
    values_ = std::move(texts);
  } else if (type == ColumnType::uint64) {
    auto converted = empty_column<std::uint64_t>(folder_);
    for (std::size_t unit = 0; unit < size(); ++unit) converted.push_back(static_cast<std::uint64_t>(number(unit)));
    values_ = std::move(converted);
  } else {
    auto converted = empty_column<std::int64_t>(folder_);
    for (std::size_t unit = 0; unit < size(); ++unit) converted.push_back(number(unit));
    values_ = std::move(converted);
  }
}

void Ids::append(const Ids& other) {
  if (other.size() == 0) return;
  are_row_numbers_ = other.are_row_numbers_ && (size() == 0 || are_row_numbers_);
  const auto* other_rows = std::get_if<RowNumbers>(&other.values_);
  auto* rows = std::get_if<RowNumbers>(&values_);
  if (other_rows != nullptr && rows != nullptr && (size() == 0 || other_rows->first == rows->first + rows->count)) {
    if (size() == 0) rows->first = other_rows->first;
    rows->count += other_rows->count;
    return;
  }
  ColumnType common = other.type();
  if (size() > 0 && type() != common) {
    const bool has_text = type() == ColumnType::text || common == ColumnType::text;
    common = has_text || has_negative() || other.has_negative() ? ColumnType::text : ColumnType::uint64;
  }
  if (type() != common || rows != nullptr) convert_to(common);
  if (common == ColumnType::text) {
    auto& column = std::get<TextColumn>(values_);
    if (other.texts() != nullptr) {
      column.append(*other.texts());
    } else {
      for (std::size_t unit = 0; unit < other.size(); ++unit) column.push_back(other.text(unit));
    }
  } else if (common == ColumnType::uint64) {
    auto& column = std::get<core::Column<std::uint64_t>>(values_);
    const auto* theirs = other.unsigned_numbers();
    for (std::size_t unit = 0; unit < other.size(); ++unit)
      column.push_back(theirs != nullptr ? (*theirs)[unit] : static_cast<std::uint64_t>(other.number(unit)));
  } else {
    auto& column = std::get<core::Column<std::int64_t>>(values_);
    for (std::size_t unit = 0; unit < other.size(); ++unit) column.push_back(other.number(unit));
  }
}

std::optional<std::size_t> append_ids(const Ids& ids, std::size_t begin, std::size_t end, ColumnValues& column) {
  if (auto* texts = std::get_if<TextColumn>(&column)) {
    for (std::size_t unit = begin; unit < end; ++unit)
      with_text(ids, unit, [&](std::string_view text) { texts->push_back(text); });
    return std::nullopt;
  }
  const auto append = [&](auto& numbers) -> std::optional<std::size_t> {
    for (std::size_t unit = begin; unit < end; ++unit) {
      auto& number = numbers.emplace_back();
      const bool fits = with_text(ids, unit, [&](std::string_view text) {
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
        return parsed.ec == std::errc() && Digits(number).view() == text;  // "007" is not 7
      });
      if (!fits) return unit;
    }
    return std::nullopt;
  };
  if (auto* numbers = std::get_if<std::vector<std::uint64_t>>(&column)) return append(*numbers);
  auto& numbers = std::get<std::vector<std::int64_t>>(column);
  if (ids.type() != ColumnType::int64) return append(numbers);
  for (std::size_t unit = begin; unit < end; ++unit) numbers.push_back(ids.number(unit));
  return std::nullopt;
}

}  // namespace dfcl::data
