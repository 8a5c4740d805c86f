// SPDX-License-Identifier: Apache-2.0
//
// The random bytes of dropout, the same on the processor and on a graphics card: a hash of (key, place), so nothing is
// stored.
#pragma once

#include <cstdint>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::nn {

// Four random bytes, a bijection of the counter for every key.
DFCL_INLINE std::uint32_t random_word(std::uint32_t key, std::uint32_t counter) {
  std::uint32_t x = counter * 0x9e3779b1u + key;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

}  // namespace dfcl::nn
