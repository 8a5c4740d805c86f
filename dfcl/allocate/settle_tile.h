// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of settle.h: the choices of 512 units at two multipliers and the sums over them, in vectors. About
// 5 ns a unit with five arms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/allocate/exact_sum.h"

namespace dfcl::allocate {

inline constexpr std::size_t kTileUnits = 512;
inline constexpr std::size_t kTileArms = 32;  // at most

struct TileChoices {
  std::uint8_t arm[kTileUnits];  // at the high multiplier
  float cost[kTileUnits];        // of that arm
  float revenue[kTileUnits];
  float least_cost[kTileUnits];  // of any arm
  std::uint8_t open[kTileUnits];  // 1: the choice differs or is too close to call, or a number is not finite
};

// revenue and cost are kTileUnits x num_arms; eligible may be null.
void settle_tile(const float* revenue, const float* cost, const std::uint8_t* eligible, std::size_t num_arms,
                 float high, float low, TileChoices& choices);

// Adds kTileUnits finite numbers.
void add_tile(const float* numbers, ExactSum& sum);

}  // namespace dfcl::allocate
