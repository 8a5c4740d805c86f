// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/ids.h"

#include <charconv>
#include <string_view>

#include "dfcl/core/hash.h"

namespace dfcl::data {
namespace {

struct Digits {
  char letters[24];
  std::size_t size;
  explicit Digits(std::int64_t number)
      : size(static_cast<std::size_t>(std::to_chars(letters, letters + sizeof(letters), number).ptr - letters)) {}
  std::string_view view() const { return {letters, size}; }
};

}  // namespace

std::size_t Ids::size() const {
  if (const auto* rows = std::get_if<RowNumbers>(&values_)) return rows->count;
  if (const auto* numbers = std::get_if<core::Column<std::int64_t>>(&values_)) return numbers->size();
  return std::get<TextColumn>(values_).size();
}

std::int64_t Ids::number(std::size_t unit) const {
  if (const auto* rows = std::get_if<RowNumbers>(&values_)) return static_cast<std::int64_t>(rows->first + unit);
  return std::get<core::Column<std::int64_t>>(values_)[unit];
}

std::string Ids::text(std::size_t unit) const {
  return std::string(texts() != nullptr ? (*texts())[unit] : Digits(number(unit)).view());
}

std::uint64_t Ids::hash(std::size_t unit, std::uint64_t seed) const {
  return texts() != nullptr ? core::hash_text((*texts())[unit], seed)
                            : core::hash_text(Digits(number(unit)).view(), seed);
}

Ids Ids::in_folder(const std::string& scratch_folder) {
  Ids ids;
  ids.folder_ = scratch_folder;
  return ids;
}

core::Column<std::int64_t> Ids::no_numbers() const {
  return core::Column<std::int64_t>(core::Memory::scratch(folder_));
}

TextColumn Ids::no_texts() const {
  return {core::Column<char>(core::Memory::scratch(folder_)),
          core::Column<std::uint64_t>(core::Memory::scratch(folder_))};
}

void Ids::append(const Ids& other) {
  if (other.size() == 0) return;
  const auto* other_rows = std::get_if<RowNumbers>(&other.values_);
  if (size() == 0) {
    if (other_rows != nullptr) {
      values_ = *other_rows;
      return;
    }
    if (other.texts() != nullptr) values_ = no_texts();
    if (other.numbers() != nullptr) values_ = no_numbers();
  }
  auto* rows = std::get_if<RowNumbers>(&values_);
  if (rows != nullptr && other_rows != nullptr && other_rows->first == rows->first + rows->count) {
    rows->count += other_rows->count;
    return;
  }
  if (texts() == nullptr && other.texts() == nullptr) {
    if (rows != nullptr) {
      core::Column<std::int64_t> converted = no_numbers();
      for (std::size_t unit = 0; unit < size(); ++unit) converted.push_back(number(unit));
      values_ = std::move(converted);
    }
    auto& column = std::get<core::Column<std::int64_t>>(values_);
    for (std::size_t unit = 0; unit < other.size(); ++unit) column.push_back(other.number(unit));
    return;
  }
  if (texts() == nullptr) {
    TextColumn converted = no_texts();
    for (std::size_t unit = 0; unit < size(); ++unit) converted.push_back(text(unit));
    values_ = std::move(converted);
  }
  auto& column = std::get<TextColumn>(values_);
  if (other.texts() != nullptr) {
    column.append(*other.texts());
  } else {
    for (std::size_t unit = 0; unit < other.size(); ++unit) column.push_back(other.text(unit));
  }
}

}  // namespace dfcl::data
