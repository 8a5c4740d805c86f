// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/exact_sum.h"

#include <algorithm>
#include <cmath>

namespace dfcl::allocate {

// Makes every limb but the last lie in [0, 2^32).
void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t over = limbs_[i] >> 32;
    limbs_[i] &= 0xffffffff;
    limbs_[i + 1] += over;
  }
}

void ExactSum::add(SignedWide number, unsigned place) {
  carry();
  const unsigned shift = place & 31u;
  // Five limbs of the shifted number; the top one has the sign. What would lie beyond the last limb belongs into it.
  const SignedWide top = shift == 0 ? number >> 127 : number >> (128 - shift);
  __extension__ using UnsignedWide = unsigned __int128;
  const UnsignedWide low = static_cast<UnsignedWide>(number) << shift;
  for (unsigned i = 0; i < 5; ++i) {
    const auto limb =
        i < 4 ? static_cast<std::uint64_t>(low >> (32 * i)) & 0xffffffffu : static_cast<std::uint64_t>(top);
    const std::size_t index = (place >> 5) + i;
    const std::size_t target = std::min(index, kLimbs - 1);
    const std::uint64_t moved = index - target > 1 ? 0 : limb << (32 * (index - target));
    limbs_[target] = static_cast<std::int64_t>(static_cast<std::uint64_t>(limbs_[target]) + moved);
  }
}

void ExactSum::add(const ExactSum& other) {
  carry();
  std::int64_t over = 0;  // of the other's limbs, which may be full
  for (std::size_t i = 0; i < kLimbs; ++i) {
    const std::int64_t limb = other.limbs_[i] + over;
    const bool last = i + 1 == kLimbs;
    over = last ? 0 : limb >> 32;
    limbs_[i] += last ? limb : limb & 0xffffffff;
  }
}

void ExactSum::save(core::ByteWriter& bytes) const {
  ExactSum normal = *this;
  normal.carry();
  bytes.write(normal.limbs_);
}

ExactSum ExactSum::load(core::ByteReader& bytes) {
  ExactSum sum;
  sum.limbs_ = bytes.read<std::array<std::int64_t, kLimbs>>();
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    bytes.require(sum.limbs_[i] >= 0 && sum.limbs_[i] <= 0xffffffff, "a sum that was not carried");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // more than any units come to, with room to merge millions
  bytes.require(sum.limbs_[kLimbs - 1] > -kMost && sum.limbs_[kLimbs - 1] < kMost, "a sum that is too large");
  return sum;
}

double ExactSum::value() const {
  ExactSum normal = *this;
  normal.carry();
  const bool negative = normal.limbs_[kLimbs - 1] < 0;
  if (negative) {
    for (std::int64_t& limb : normal.limbs_) limb = -limb;
    normal.carry();
  }
  std::size_t top = kLimbs;
  while (top > 0 && normal.limbs_[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  // The 96 bits of the top three limbs, then whether anything lies below them, so that one rounding decides.
  const auto limb_at = [&](std::size_t below_top) {
    return below_top < top ? static_cast<std::uint64_t>(normal.limbs_[top - 1 - below_top]) : 0u;
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
