// SPDX-License-Identifier: Apache-2.0
//
// A whole number in limbs of 32 bits, each kept in 64 so that nothing carries while numbers are added: what exact sums
// are made of. Limb k counts units of 2^(32 k). No memory but the limbs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace dfcl::core {

template <std::size_t kLimbs>
using Limbs = std::array<std::int64_t, kLimbs>;

// Makes every limb but the last lie in [0, 2^32).
template <std::size_t kLimbs>
void carry(Limbs<kLimbs>& limbs) {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t over = limbs[i] >> 32;
    limbs[i] &= 0xffffffff;
    limbs[i + 1] += over;
  }
}

// The number times 2^unit, rounded once, to nearest; unit at least -1074, where the smallest float64 is, so that small
// results are exact. Infinite beyond the largest number.
template <std::size_t kLimbs>
double rounded(Limbs<kLimbs> limbs, int unit) {
  __extension__ using Wide = unsigned __int128;
  carry(limbs);
  const bool negative = limbs[kLimbs - 1] < 0;
  if (negative) {
    for (std::int64_t& limb : limbs) limb = -limb;
    carry(limbs);
  }
  std::size_t top = kLimbs;
  while (top > 0 && limbs[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  const auto limb_at = [&](std::size_t below_top) {
    return below_top < top ? static_cast<std::uint64_t>(limbs[top - 1 - below_top]) : std::uint64_t{0};
  };
  // The 96 bits of the top three limbs (more where the last is full), and whether anything lies below them: one
  // rounding decides.
  const Wide head = (static_cast<Wide>(limb_at(0)) << 64) | (static_cast<Wide>(limb_at(1)) << 32) | limb_at(2);
  bool below = false;
  for (std::size_t i = 3; i < top; ++i) below = below || limb_at(i) != 0;
  const int length = 128 - (head >> 64 != 0 ? std::countl_zero(static_cast<std::uint64_t>(head >> 64))
                                            : 64 + std::countl_zero(static_cast<std::uint64_t>(head)));
  const int dropped = std::max(0, length - 64);
  below = below || (head & ((Wide{1} << dropped) - 1)) != 0;
  const std::uint64_t leading = static_cast<std::uint64_t>(head >> dropped) | (below ? 1u : 0u);
  const double magnitude = std::ldexp(static_cast<double>(leading), dropped + 32 * (static_cast<int>(top) - 3) + unit);
  return negative ? -magnitude : magnitude;
}

}  // namespace dfcl::core
