// SPDX-License-Identifier: Apache-2.0
//
// The names of units, exact: row numbers (no memory), signed or unsigned 64-bit whole numbers (8 bytes per unit) or
// texts. The hash is of the id as text, so the id 17 is the same unit whether a file stores it as a number or as
// letters. Numbers and texts may be kept in files (core/memory.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/data/batch.h"
#include "dfcl/data/text_column.h"

namespace dfcl::data {

struct RowNumbers {  // first, first + 1, ...
  std::size_t first = 0;
  std::size_t count = 0;
  bool operator==(const RowNumbers&) const = default;
};

class Ids {
 public:
  Ids() = default;
  Ids(RowNumbers rows) : values_(rows) {}
  Ids(const std::vector<std::int64_t>& numbers) : Ids(core::Column<std::int64_t>(numbers)) {}
  Ids(const std::vector<std::uint64_t>& numbers) : Ids(core::Column<std::uint64_t>(numbers)) {}
  Ids(core::Column<std::int64_t> numbers) : values_(std::move(numbers)), are_row_numbers_(false) {}
  Ids(core::Column<std::uint64_t> numbers) : values_(std::move(numbers)), are_row_numbers_(false) {}
  Ids(TextColumn texts) : values_(std::move(texts)), are_row_numbers_(false) {}
  // Units without names of their own, of which some rows were left out.
  static Ids of_rows(core::Column<std::int64_t> row_numbers);
  // None yet; those appended are kept in files of this folder.
  static Ids in_folder(const std::string& scratch_folder);

  std::size_t size() const;
  // What a column of these ids is: int64 (row numbers too), uint64 or text.
  ColumnType type() const;
  std::string text(std::size_t unit) const;
  // The id as a number; only where type() is int64.
  std::int64_t number(std::size_t unit) const;
  std::uint64_t hash(std::size_t unit, std::uint64_t seed = 0) const;
  // Adds the ids of the units that follow. What is common to both is kept: row numbers that do not follow on turn into
  // numbers, signed numbers into unsigned ones where none is negative, and numbers into texts where nothing else holds
  // all of them.
  void append(const Ids& other);
  // Those of some rows, in their order.
  template <class Rows>
  Ids chosen(const Rows& rows) const;

  // Units have no names of their own and are called by their rows.
  bool are_row_numbers() const { return are_row_numbers_; }
  const core::Column<std::int64_t>* numbers() const { return std::get_if<core::Column<std::int64_t>>(&values_); }
  const core::Column<std::uint64_t>* unsigned_numbers() const {
    return std::get_if<core::Column<std::uint64_t>>(&values_);
  }
  const TextColumn* texts() const { return std::get_if<TextColumn>(&values_); }
  friend bool operator==(const Ids& a, const Ids& b) { return a.values_ == b.values_; }

 private:
  bool has_negative() const;
  void convert_to(ColumnType type);

  std::variant<RowNumbers, core::Column<std::int64_t>, core::Column<std::uint64_t>, TextColumn> values_;
  bool are_row_numbers_ = true;
  std::string folder_;  // "": on the heap
};

// Adds the ids [begin, end) to the values of a column of int64, uint64 or text. Stops at the first unit whose id a
// column of numbers cannot hold, and returns it.
std::optional<std::size_t> append_ids(const Ids& ids, std::size_t begin, std::size_t end, ColumnValues& column);

template <class Rows>
Ids Ids::chosen(const Rows& rows) const {
  const auto pick = [&](auto all) {
    std::vector<std::remove_cvref_t<decltype(all(0))>> some;
    for (const auto row : rows) some.push_back(all(static_cast<std::size_t>(row)));
    return some;
  };
  if (type() == ColumnType::int64) {
    Ids some = pick([&](std::size_t row) { return number(row); });
    some.are_row_numbers_ = are_row_numbers_;
    return some;
  }
  if (const auto* all = unsigned_numbers()) return pick([&](std::size_t row) { return (*all)[row]; });
  TextColumn some;
  for (const auto row : rows) some.push_back((*texts())[static_cast<std::size_t>(row)]);
  return some;
}

}  // namespace dfcl::data
