// SPDX-License-Identifier: Apache-2.0
//
// Many short texts in two blocks of memory: their bytes, and 8 bytes a text for where each ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dfcl/core/column.h"

namespace dfcl::data {

class TextColumn {
 public:
  TextColumn() = default;
  // What they hold are the first texts; ends must rise and the last must be the number of bytes.
  TextColumn(core::Column<char> bytes, core::Column<std::uint64_t> ends)
      : bytes_(std::move(bytes)), ends_(std::move(ends)) {}

  void push_back(std::string_view text) {
    bytes_.append(text.begin(), text.end());
    ends_.push_back(bytes_.size());
  }
  void append(const TextColumn& other) {
    const std::uint64_t offset = bytes_.size();
    bytes_.append(other.bytes_.begin(), other.bytes_.end());
    for (const std::uint64_t end : other.ends_) ends_.push_back(offset + end);
  }
  std::string_view operator[](std::size_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }
  std::size_t size() const { return ends_.size(); }
  const core::Column<char>& bytes() const { return bytes_; }
  const core::Column<std::uint64_t>& ends() const { return ends_; }
  bool operator==(const TextColumn&) const = default;

 private:
  core::Column<char> bytes_;
  core::Column<std::uint64_t> ends_;
};

}  // namespace dfcl::data
