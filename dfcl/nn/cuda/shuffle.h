// SPDX-License-Identifier: Apache-2.0
//
// A random order of rows without a list: index -> row is a bijection of 0..count-1, four rounds of a Feistel network on
// the next even number of bits, walked until it falls below the count (Black and Rogaway 2002). Any thread finds the
// row of any place by itself, in some 40 operations.
#pragma once

#include <cstdint>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::nn::cuda {

struct Shuffle {
  std::uint32_t count = 1;
  std::uint32_t half_bits = 1;
  std::uint32_t keys[4] = {};

  static Shuffle of(std::uint32_t count, std::uint64_t seed, std::uint64_t epoch) {
    Shuffle shuffle;
    shuffle.count = count;
    while (shuffle.half_bits < 16 && (std::uint64_t{1} << (2 * shuffle.half_bits)) < count) ++shuffle.half_bits;
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + epoch;
    for (std::uint32_t& key : shuffle.keys) {  // splitmix64
      state += 0x9e3779b97f4a7c15u;
      std::uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      key = static_cast<std::uint32_t>(z ^ (z >> 31));
    }
    return shuffle;
  }

  DFCL_INLINE std::uint32_t row(std::uint32_t index) const {
    const std::uint32_t mask = (std::uint32_t{1} << half_bits) - 1;
    do {
      std::uint32_t left = index >> half_bits;
      std::uint32_t right = index & mask;
      for (int round = 0; round < 4; ++round) {
        std::uint32_t mixed = (right + keys[round]) * 0x9e3779b1u;
        mixed = (mixed ^ (mixed >> 15)) * 0x85ebca77u;
        mixed ^= mixed >> 13;
        const std::uint32_t next = left ^ (mixed & mask);
        left = right;
        right = next;
      }
      index = (left << half_bits) | right;
    } while (index >= count);
    return index;
  }
};

}  // namespace dfcl::nn::cuda
