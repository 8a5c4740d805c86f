// SPDX-License-Identifier: Apache-2.0
//
// The names of units: row numbers (no memory), whole numbers (8 bytes a unit) or texts. The hash is of the id as text,
// so the id 17 is the same unit whether a file stores it as a number or as letters. Numbers and texts may be kept in
// files (core/memory.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dfcl/core/column.h"
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
  Ids(const std::vector<std::int64_t>& numbers) : values_(core::Column<std::int64_t>(numbers)) {}
  Ids(core::Column<std::int64_t> numbers) : values_(std::move(numbers)) {}
  Ids(TextColumn texts) : values_(std::move(texts)) {}
  // None yet; those appended are kept in files of this folder.
  static Ids in_folder(const std::string& scratch_folder);

  std::size_t size() const;
  std::string text(std::size_t unit) const;
  // The id as a number; only where texts() is null.
  std::int64_t number(std::size_t unit) const;
  std::uint64_t hash(std::size_t unit, std::uint64_t seed = 0) const;
  // Adds the ids of the units that follow. Row numbers that do not follow on turn into numbers, and numbers into texts
  // where the other ids are.
  void append(const Ids& other);

  bool are_row_numbers() const { return std::holds_alternative<RowNumbers>(values_); }
  const core::Column<std::int64_t>* numbers() const { return std::get_if<core::Column<std::int64_t>>(&values_); }
  const TextColumn* texts() const { return std::get_if<TextColumn>(&values_); }
  friend bool operator==(const Ids& a, const Ids& b) { return a.values_ == b.values_; }

 private:
  core::Column<std::int64_t> no_numbers() const;
  TextColumn no_texts() const;

  std::variant<RowNumbers, core::Column<std::int64_t>, TextColumn> values_;
  std::string folder_;  // "": on the heap
};

}  // namespace dfcl::data
