// SPDX-License-Identifier: Apache-2.0
//
// Plain loops over the units of a tile, which compilers turn into vectors: the loop over arms unrolls where their
// number is known. Which processor runs it changes nothing: the sums are exact, and scores only tell what is
// beyond doubt.
#include "dfcl/allocate/settle_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "dfcl/core/processor.h"

// Whether there may be registers of 64 bytes, with permutations of two of them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(DFCL_NO_AVX512) && !defined(DFCL_NO_AVX2)
#define DFCL_HAS_WIDE_VECTORS 1
#else
#define DFCL_HAS_WIDE_VECTORS 0
#endif

namespace dfcl::allocate {
namespace {

static_assert(kTileUnits <= 256, "add_tile counts on it");
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

// units x arms to arms x units. kArms: known when compiling, or 0.
struct PlainTranspose {
  template <std::size_t kArms>
  DFCL_INLINE static void run(const float* from, std::size_t any_arms, float (*to)[kTileUnits]) {
    const std::size_t num_arms = kArms > 0 ? kArms : any_arms;
    for (std::size_t unit = 0; unit < kTileUnits; ++unit) {
      for (std::size_t arm = 0; arm < num_arms; ++arm) to[arm][unit] = from[unit * num_arms + arm];
    }
  }
};

#if DFCL_HAS_WIDE_VECTORS
// Sixteen units at a time fill as many registers as there are arms; each arm is picked out of them by permutations.
// Faster than moving numbers one by one.
struct WideTranspose {
  static constexpr std::size_t kLanes = 16;
  typedef float Floats __attribute__((vector_size(4 * kLanes)));
  typedef std::int32_t Ints __attribute__((vector_size(4 * kLanes)));

  // Which numbers to take from the vectors picked so far (0-15) and from source number `source` (16-31).
  template <std::size_t kArms>
  static constexpr std::array<std::int32_t, kLanes> picks(std::size_t arm, std::size_t source) {
    std::array<std::int32_t, kLanes> result{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t place = lane * kArms + arm;
      const bool here = place / kLanes == source;
      const std::size_t kept = source == 1 ? place % kLanes : lane;  // the first time from source 0, as it was read
      result[lane] = static_cast<std::int32_t>(here ? kLanes + place % kLanes : kept);
    }
    return result;
  }

  template <std::size_t kArms>
  DFCL_INLINE static void run(const float* from, std::size_t any_arms, float (*to)[kTileUnits]) {
    if constexpr (kArms < 2) {
      PlainTranspose::run<kArms>(from, any_arms, to);
    } else {
      for (std::size_t first = 0; first < kTileUnits; first += kLanes) {
        Floats sources[kArms];
        __builtin_memcpy(sources, from + first * kArms, sizeof sources);
        for (std::size_t line = 0; line < kArms; ++line) {  // of the tile after this one
          __builtin_prefetch(from + (first + kTileUnits) * kArms + line * kLanes);
        }
        pick_arms<kArms>(sources, first, to, std::make_index_sequence<kArms>());
      }
    }
  }
  template <std::size_t kArms, std::size_t... kArm>
  DFCL_INLINE static void pick_arms(const Floats* sources, std::size_t first, float (*to)[kTileUnits],
                                    std::index_sequence<kArm...>) {
    (pick<kArms, kArm>(sources, &to[kArm][first], std::make_index_sequence<kArms - 1>()), ...);
  }
  template <std::size_t kArms, std::size_t kArm, std::size_t... kSource>
  DFCL_INLINE static void pick(const Floats* sources, float* to, std::index_sequence<kSource...>) {
    Floats picked = sources[0];
    ((pick_from<kArms, kArm, kSource + 1>(sources[kSource + 1], picked)), ...);
    __builtin_memcpy(to, &picked, sizeof picked);
  }
  template <std::size_t kArms, std::size_t kArm, std::size_t kSource>
  DFCL_INLINE static void pick_from(const Floats& source, Floats& picked) {
    static constexpr std::array<std::int32_t, kLanes> kPicks = picks<kArms>(kArm, kSource);
    Ints which;
    __builtin_memcpy(&which, kPicks.data(), sizeof which);
    picked = __builtin_shuffle(picked, source, which);
  }
};
#endif

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
DFCL_INLINE void settle_units(const Tile& tile, const TileInput& input, TileChoices& choices) {
  const std::size_t num_arms = kArms > 0 ? kArms : input.num_arms;
  const float high = input.high;
  const float low = input.low;
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

template <class Transpose, std::size_t kArms>
DFCL_INLINE void settle_arms(const TileInput& input, TileChoices& choices) {
  Tile tile;
  Transpose::template run<kArms>(input.revenue, input.num_arms, tile.revenue);
  Transpose::template run<kArms>(input.cost, input.num_arms, tile.cost);
  std::copy_n(tile.revenue[input.control], kTileUnits, choices.control_revenue);
  std::copy_n(tile.cost[input.control], kTileUnits, choices.control_cost);
  if (input.eligible == nullptr) {
    settle_units<kArms, false>(tile, input, choices);
  } else {
    bar(input.eligible, input.num_arms, tile);
    settle_units<kArms, true>(tile, input, choices);
  }
}

template <class Transpose>
DFCL_INLINE void settle_with(const TileInput& input, TileChoices& choices) {
  switch (input.num_arms) {
    case 2: return settle_arms<Transpose, 2>(input, choices);
    case 3: return settle_arms<Transpose, 3>(input, choices);
    case 4: return settle_arms<Transpose, 4>(input, choices);
    case 5: return settle_arms<Transpose, 5>(input, choices);
    case 6: return settle_arms<Transpose, 6>(input, choices);
    default: return settle_arms<Transpose, 0>(input, choices);
  }
}

DFCL_FOR_EACH_PROCESSOR
void settle_on_any(const TileInput& input, TileChoices& choices) { settle_with<PlainTranspose>(input, choices); }

#if DFCL_HAS_WIDE_VECTORS
__attribute__((target("arch=x86-64-v4"))) void settle_on_wide(const TileInput& input, TileChoices& choices) {
  settle_with<WideTranspose>(input, choices);
}
#endif

}  // namespace

void settle_tile(const TileInput& input, TileChoices& choices) {
#if DFCL_HAS_WIDE_VECTORS
  static const bool kIsWide = core::processor() == core::Processor::avx512;
  if (kIsWide) return settle_on_wide(input, choices);
#endif
  settle_on_any(input, choices);
}

// Float64 adds 256 numbers of 24 bits without rounding where their exponents span no more than 53 - 24 - 8 = 21.
DFCL_FOR_EACH_PROCESSOR
void add_tile(const float* numbers, ExactSum& sum) {
  constexpr std::uint32_t kSmallest = 64u << 23;  // below it, what float64 holds may not split into float32 parts
  constexpr std::uint32_t kLargest = 239u << 23;
  constexpr std::size_t kLanes = 16;
  std::uint32_t largest = 0;
  std::uint32_t smallest = 0xffffffffu;  // less 1, so that 0 does not count
  double lanes[kLanes] = {};
  for (std::size_t first = 0; first < kTileUnits; first += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float number = numbers[first + lane];
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(number) & 0x7fffffffu;
      largest = std::max(largest, magnitude);
      smallest = std::min(smallest, magnitude - 1u);
      lanes[lane] += static_cast<double>(number);
    }
  }
  if (largest == 0) return;  // zeros only
  const std::uint32_t span = (largest >> 23) - ((smallest + 1u) >> 23);
  if (smallest >= kSmallest && span <= 21 && largest < kLargest) {
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
