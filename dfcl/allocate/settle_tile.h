// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of settle.h: the choices of 256 units at two multipliers and the sums over them, in vectors. About
// 5 ns a unit with five arms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dfcl/allocate/exact_sum.h"

namespace dfcl::allocate {

inline constexpr std::size_t kTileUnits = 256;
inline constexpr std::size_t kTileArms = 32;  // at most

struct TileChoices {
  std::uint8_t arm[kTileUnits];  // at the high multiplier
  float cost[kTileUnits];        // of that arm
  float revenue[kTileUnits];
  float least_cost[kTileUnits];  // of any arm
  float control_cost[kTileUnits];
  float control_revenue[kTileUnits];
  std::uint8_t open[kTileUnits];  // 1: the choice differs or is too close to call, or a number is not finite
};

// revenue and cost are kTileUnits x num_arms.
struct TileInput {
  const float* revenue = nullptr;
  const float* cost = nullptr;
  const std::uint8_t* eligible = nullptr;  // may be null
  std::size_t num_arms = 0;
  std::size_t control = 0;
  float high = 0.0f, low = 0.0f;  // multipliers
};
void settle_tile(const TileInput& input, TileChoices& choices);

// Adds kTileUnits finite numbers.
void add_tile(const float* numbers, ExactSum& sum);

}  // namespace dfcl::allocate
