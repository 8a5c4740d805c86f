// SPDX-License-Identifier: Apache-2.0
//
// Plain loops over the units of a tile, which compilers turn into vectors: the loop over arms unrolls where their number
// is known. Which processor runs it changes nothing: the sums are exact, and scores only tell what is beyond doubt.
#include "dfcl/allocate/settle_tile.h"

#include <algorithm>
#include <bit>
#include <limits>

// Compiled for several kinds of processor, chosen when the program starts. The sanitizers cannot follow that choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define DFCL_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DFCL_FOR_EACH_PROCESSOR
#endif
#define DFCL_INLINE inline __attribute__((always_inline))

namespace dfcl::allocate {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Scores closer than this part of the numbers they are made of are too close to call: 8 roundings of float32.
constexpr float kDoubt = 0x1p-20f;

struct alignas(64) Tile {
  float revenue[kTileArms][kTileUnits];
  float cost[kTileArms][kTileUnits];
  float barred[kTileArms][kTileUnits];  // 0, or infinity where the unit may not get the arm
};

// The best and the second best score at one multiplier.
struct Race {
  float best = -kInfinity;
  float second = -kInfinity;
  std::int32_t arm = 0;
  float cost = 0.0f;  // of the best
  float revenue = 0.0f;
};

DFCL_INLINE void enter(Race& race, float multiplier, float revenue, float cost, float barred, std::int32_t arm) {
  const float score = revenue - multiplier * cost - barred;
  const bool better = score > race.best;
  const float loser = better ? race.best : score;
  race.arm = better ? arm : race.arm;
  race.best = better ? score : race.best;
  race.cost = better ? cost : race.cost;
  race.revenue = better ? revenue : race.revenue;
  race.second = loser > race.second ? loser : race.second;
}

// kArms: known when compiling, or 0.
template <std::size_t kArms>
DFCL_INLINE void transpose(const float* revenue, const float* cost, std::size_t any_arms, Tile& tile) {
  const std::size_t num_arms = kArms > 0 ? kArms : any_arms;
  for (std::size_t unit = 0; unit < kTileUnits; ++unit) {
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      tile.revenue[arm][unit] = revenue[unit * num_arms + arm];
      tile.cost[arm][unit] = cost[unit * num_arms + arm];
    }
  }
}

DFCL_INLINE void bar(const std::uint8_t* eligible, std::size_t num_arms, Tile& tile) {
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    for (std::size_t unit = 0; unit < kTileUnits; ++unit) {
      const bool may = eligible[unit * num_arms + arm] != 0;
      tile.barred[arm][unit] = may ? 0.0f : kInfinity;
      if (!may) tile.revenue[arm][unit] = tile.cost[arm][unit] = 0.0f;
    }
  }
}

template <std::size_t kArms, bool kBarred>
DFCL_INLINE void settle_units(const Tile& tile, std::size_t any_arms, float high, float low, TileChoices& choices) {
  const std::size_t num_arms = kArms > 0 ? kArms : any_arms;
  std::int32_t chosen[kTileUnits];
  std::int32_t open[kTileUnits];
  for (std::size_t unit = 0; unit < kTileUnits; ++unit) {
    Race at_high, at_low;
    float magnitude = 0.0f;  // NaN or infinite where a number is
    float least_cost = kInfinity;
#pragma GCC unroll 8
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      const float revenue = tile.revenue[arm][unit];
      const float cost = tile.cost[arm][unit];
      const float barred = kBarred ? tile.barred[arm][unit] : 0.0f;
      magnitude += __builtin_fabsf(revenue) + high * __builtin_fabsf(cost);
      least_cost = cost + barred < least_cost ? cost + barred : least_cost;
      enter(at_high, high, revenue, cost, barred, static_cast<std::int32_t>(arm));
      enter(at_low, low, revenue, cost, barred, static_cast<std::int32_t>(arm));
    }
    const float margin_high = at_high.best - at_high.second;
    const float margin_low = at_low.best - at_low.second;
    const float margin = margin_high < margin_low ? margin_high : margin_low;
    const std::int32_t close = margin > kDoubt * magnitude ? 0 : 1;  // also where a number is not finite
    chosen[unit] = at_high.arm;
    open[unit] = close | (at_high.arm ^ at_low.arm);
    choices.cost[unit] = at_high.cost;
    choices.revenue[unit] = at_high.revenue;
    choices.least_cost[unit] = least_cost;
  }
  for (std::size_t unit = 0; unit < kTileUnits; ++unit) {
    choices.arm[unit] = static_cast<std::uint8_t>(chosen[unit]);
    choices.open[unit] = open[unit] != 0 ? 1 : 0;
  }
}

template <std::size_t kArms>
DFCL_INLINE void settle_arms(const float* revenue, const float* cost, const std::uint8_t* eligible,
                             std::size_t num_arms, float high, float low, TileChoices& choices) {
  Tile tile;
  transpose<kArms>(revenue, cost, num_arms, tile);
  if (eligible == nullptr) {
    settle_units<kArms, false>(tile, num_arms, high, low, choices);
  } else {
    bar(eligible, num_arms, tile);
    settle_units<kArms, true>(tile, num_arms, high, low, choices);
  }
}

}  // namespace

DFCL_FOR_EACH_PROCESSOR
void settle_tile(const float* revenue, const float* cost, const std::uint8_t* eligible, std::size_t num_arms,
                 float high, float low, TileChoices& choices) {
  switch (num_arms) {
    case 2: return settle_arms<2>(revenue, cost, eligible, num_arms, high, low, choices);
    case 3: return settle_arms<3>(revenue, cost, eligible, num_arms, high, low, choices);
    case 4: return settle_arms<4>(revenue, cost, eligible, num_arms, high, low, choices);
    case 5: return settle_arms<5>(revenue, cost, eligible, num_arms, high, low, choices);
    case 6: return settle_arms<6>(revenue, cost, eligible, num_arms, high, low, choices);
    default: return settle_arms<0>(revenue, cost, eligible, num_arms, high, low, choices);
  }
}

// Float64 adds 256 numbers of 24 bits without rounding where their exponents span no more than 53 - 24 - 8 = 21.
DFCL_FOR_EACH_PROCESSOR
void add_tile(const float* numbers, ExactSum& sum) {
  constexpr std::int32_t kExponent = 0x7f800000;
  constexpr std::int32_t kSmallest = 64 << 23;  // below it, what float64 holds may not split into float32 parts
  constexpr std::size_t kLanes = 16;
  std::int32_t largest = 0;
  std::int32_t smallest = kExponent;
  double lanes[kLanes] = {};
  for (std::size_t first = 0; first < kTileUnits; first += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float number = numbers[first + lane];
      const auto bits = std::bit_cast<std::int32_t>(number) & 0x7fffffff;
      const std::int32_t exponent = bits & kExponent;
      largest = std::max(largest, exponent);
      smallest = std::min(smallest, bits == 0 ? kExponent : exponent);
      lanes[lane] += static_cast<double>(number);
    }
  }
  if (smallest == kExponent) return;  // zeros only
  if (smallest >= kSmallest && largest - smallest <= (21 << 23) && largest < kExponent - (16 << 23)) {
    double exact = 0.0;
    for (const double lane : lanes) exact += lane;
    for (int part = 0; part < 3; ++part) {  // 3 x 24 bits hold the 53
      const auto rounded = static_cast<float>(exact);
      sum.add(rounded);
      exact -= static_cast<double>(rounded);
    }
    return;
  }
  for (std::size_t i = 0; i < kTileUnits; ++i) sum.add(numbers[i]);
}

}  // namespace dfcl::allocate
