// SPDX-License-Identifier: Apache-2.0
//
// Numbers that start at a line of the cache, so that vectors never cross one. All zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfcl::nn {

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) : memory_(size + kLine / sizeof(T), T(0)) {}

  T* data() { return start(memory_.data()); }
  const T* data() const { return start(const_cast<T*>(memory_.data())); }
  std::size_t size() const { return memory_.empty() ? 0 : memory_.size() - kLine / sizeof(T); }

 private:
  static constexpr std::size_t kLine = 64;
  static T* start(T* memory) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(memory) + kLine - 1) / kLine * kLine);
  }
  std::vector<T> memory_;
};

}  // namespace dfcl::nn
