// SPDX-License-Identifier: Apache-2.0
//
// Numbers by the register, for loops over more arrays than compilers can tell apart. Internal to nn.
#pragma once

#include <cstddef>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::nn {

// A register of 64 bytes, or several smaller ones.
template <class T>
struct Lanes {
  typedef T Vector __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  static constexpr std::size_t kSize = 64 / sizeof(T);
  static DFCL_INLINE Vector& at(T* data) { return *reinterpret_cast<Vector*>(data); }
  static DFCL_INLINE const Vector& at(const T* data) { return *reinterpret_cast<const Vector*>(data); }
};

}  // namespace dfcl::nn
