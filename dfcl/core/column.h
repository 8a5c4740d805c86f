// SPDX-License-Identifier: Apache-2.0
//
// A list of plain numbers that grows at its end, one a row of a table: like std::vector, but in memory of any kind
// (memory.h), so that tables larger than the machine's memory can be worked on. Growth reserves a quarter more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "dfcl/core/memory.h"

namespace dfcl::core {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  Column() = default;
  Column(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  Column(const std::vector<T>& values) { append(values.begin(), values.end()); }
  // In memory of this kind; what it holds already are the first values.
  explicit Column(Memory memory) : memory_(std::move(memory)), size_(memory_.bytes() / sizeof(T)) {}
  Column(const Column& other) : memory_(other.memory_.another()) { append(other.begin(), other.end()); }
  Column(Column&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Column& operator=(Column other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return *(end() - 1); }
  const T& back() const { return *(end() - 1); }

  void reserve(std::size_t size) {
    if (size > capacity()) memory_.resize(size * sizeof(T));
  }
  // New values are 0.
  void resize(std::size_t size) {
    grow(size);
    if (size > size_) std::memset(static_cast<void*>(data() + size_), 0, (size - size_) * sizeof(T));
    size_ = size;
  }
  void assign(std::size_t size, T value) {
    grow(size);
    size_ = size;
    std::fill(begin(), end(), value);
  }
  void clear() { size_ = 0; }
  void push_back(T value) {
    grow(size_ + 1);
    data()[size_++] = value;
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    const auto count = static_cast<std::size_t>(last - first);
    grow(size_ + count);
    std::copy(first, last, data() + size_);
    size_ += count;
  }
  // Memory for exactly the values there are.
  void shrink_to_fit() { memory_.resize(size_ * sizeof(T)); }

  // Empty memory of the same kind (Memory::another).
  Memory another() const { return memory_.another(); }
  std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }
  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::size_t capacity() const { return memory_.bytes() / sizeof(T); }
  void grow(std::size_t size) {
    if (size > capacity()) memory_.resize(std::max(size, size_ + size_ / 4 + 64) * sizeof(T));
  }

  Memory memory_;
  std::size_t size_ = 0;
};

}  // namespace dfcl::core
