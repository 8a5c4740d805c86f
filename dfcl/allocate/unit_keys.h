// SPDX-License-Identifier: Apache-2.0
//
// Of each unit, a hash of its id: decides between units that are equally efficient, so that a plan does not depend on
// the order of the rows. A list (8 bytes per unit, its owner's), or hashed from the ids whenever one is asked for (no
// memory, some 30 ns each): one budget over many units asks for few. What it points to must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/data/ids.h"

namespace dfcl::allocate {

class UnitKeys {
 public:
  UnitKeys() = default;
  UnitKeys(std::span<const std::uint64_t> keys) : keys_(keys), size_(keys.size()) {}
  UnitKeys(const std::vector<std::uint64_t>& keys) : UnitKeys(std::span(keys)) {}
  // None for row numbers.
  explicit UnitKeys(const data::Ids& ids) : ids_(&ids), size_(ids.are_row_numbers() ? 0 : ids.size()) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::uint64_t operator[](std::size_t unit) const { return ids_ == nullptr ? keys_[unit] : ids_->hash(first_ + unit); }
  // Those of some units in a row.
  UnitKeys slice(std::size_t first, std::size_t count) const {
    UnitKeys some = *this;
    if (ids_ == nullptr) some.keys_ = keys_.subspan(first, count);
    some.first_ += first;
    some.size_ = count;
    return some;
  }

 private:
  std::span<const std::uint64_t> keys_;
  const data::Ids* ids_ = nullptr;
  std::size_t first_ = 0;  // of the ids
  std::size_t size_ = 0;
};

}  // namespace dfcl::allocate
