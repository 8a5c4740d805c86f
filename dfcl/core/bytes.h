// SPDX-License-Identifier: Apache-2.0
//
// Plain values as bytes, little-endian, and back: what travels between machines. A reader trusts nothing: every read is
// checked against what is left, and a count against the bytes that so many entries need, before anything is allocated.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dfcl/core/error_makers.h"
#include "dfcl/core/hash.h"

namespace dfcl::core {

static_assert(std::endian::native == std::endian::little, "bytes are copied as they lie in memory");

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void write(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T)); }
  void write_count(std::size_t count) { write(static_cast<std::uint64_t>(count)); }
  // Their number, and they.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void write_all(const std::vector<T>& values) {
    write_count(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void write_text(std::string_view text) {
    write_count(text.size());
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }
  // With a checksum of all of it at the end.
  std::string seal() && {
    write(hash_text(bytes_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

// Throws Error of kind data, with `where`, for bytes that are cut, damaged or longer than they should be.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string where) : left_(bytes), where_(std::move(where)) {}

  // Checks the checksum that ByteWriter::seal appended, and takes it off.
  void unseal() {
    std::uint64_t checksum = 0;
    if (left_.size() < sizeof(checksum)) refuse("the bytes are cut");
    std::memcpy(&checksum, left_.data() + left_.size() - sizeof(checksum), sizeof(checksum));
    left_.remove_suffix(sizeof(checksum));
    if (checksum != hash_text(left_)) refuse("the bytes are damaged");
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> T read() {
    if (left_.size() < sizeof(T)) refuse("the bytes are cut");
    T value;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_.remove_prefix(sizeof(T));
    return value;
  }
  // A number of entries of at least so many bytes each.
  std::size_t read_count(std::size_t bytes_each) {
    const auto count = read<std::uint64_t>();
    if (count > left_.size() / bytes_each) refuse("more entries than bytes");
    return static_cast<std::size_t>(count);
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> read_all() {
    std::vector<T> values(read_count(sizeof(T)));
    if (!values.empty()) std::memcpy(values.data(), left_.data(), values.size() * sizeof(T));
    left_.remove_prefix(values.size() * sizeof(T));
    return values;
  }
  std::string read_text() {
    const std::size_t size = read_count(1);
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }
  void require(bool is_right, const char* what) const {
    if (!is_right) refuse(what);
  }
  void end() const { require(left_.empty(), "bytes after the end"); }

 private:
  [[noreturn]] void refuse(const char* what) const { throw data_error(where_, what); }

  std::string_view left_;
  std::string where_;
};

}  // namespace dfcl::core
