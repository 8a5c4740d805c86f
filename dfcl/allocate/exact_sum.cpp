// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/exact_sum.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {
namespace {

__extension__ using Wide = __int128;

// Room for 256 exponents, 24 bits of mantissa and 39 bits of count, in limbs of 32 bits.
constexpr std::size_t kLimbs = 11;
using Limbs = std::array<Wide, kLimbs>;

// Makes every limb but the last lie in [0, 2^32).
void carry(Limbs& limbs) {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const Wide over = limbs[i] >> 32;
    limbs[i] -= over * (Wide{1} << 32);
    limbs[i + 1] += over;
  }
}

}  // namespace

double ExactSum::value() const {
  Limbs limbs{};
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const std::size_t shift = bin == 0 ? 0 : bin - 1;  // bins 0 and 1 have the same unit, 2^-149
    if (bins_[bin] != 0) limbs[shift / 32] += static_cast<Wide>(bins_[bin]) * (Wide{1} << (shift % 32));
  }
  carry(limbs);
  const bool negative = limbs[kLimbs - 1] < 0;
  if (negative) {
    for (Wide& limb : limbs) limb = -limb;
    carry(limbs);
  }
  std::size_t top = kLimbs;
  while (top > 0 && limbs[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  // The 96 bits of the top three limbs, then whether anything lies below them, so that one rounding decides.
  const auto limb_at = [&](std::size_t below_top) {
    return below_top < top ? static_cast<std::uint64_t>(limbs[top - 1 - below_top]) : 0u;
  };
  __extension__ using UnsignedWide = unsigned __int128;
  const UnsignedWide head = (static_cast<UnsignedWide>(limb_at(0)) << 64) | (limb_at(1) << 32) | limb_at(2);
  bool below = false;
  for (std::size_t i = 3; i < top; ++i) below |= limb_at(i) != 0;
  const int length = 128 - (head >> 64 != 0 ? std::countl_zero(static_cast<std::uint64_t>(head >> 64))
                                            : 64 + std::countl_zero(static_cast<std::uint64_t>(head)));
  const int dropped = std::max(0, length - 64);
  below |= (head & ((UnsignedWide{1} << dropped) - 1)) != 0;
  auto leading = static_cast<std::uint64_t>(head >> dropped);
  leading |= below ? 1u : 0u;
  const int exponent = dropped + 32 * (static_cast<int>(top) - 3) - 149;
  const double magnitude = std::ldexp(static_cast<double>(leading), exponent);
  return negative ? -magnitude : magnitude;
}

}  // namespace dfcl::allocate
