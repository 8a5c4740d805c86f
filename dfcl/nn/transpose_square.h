// SPDX-License-Identifier: Apache-2.0
//
// Four rows of four numbers to four columns, in registers. Internal to nn.
#pragma once

#include <cstddef>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::nn {

template <class T>
DFCL_INLINE void transpose_square(const T* from, std::size_t from_stride, T* to, std::size_t to_stride) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
  Four r[4];
  for (std::size_t i = 0; i < 4; ++i) r[i] = *reinterpret_cast<const Four*>(from + i * from_stride);
  const Four low01 = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  *reinterpret_cast<Four*>(to) = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + to_stride) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  *reinterpret_cast<Four*>(to + 2 * to_stride) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + 3 * to_stride) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

}  // namespace dfcl::nn
