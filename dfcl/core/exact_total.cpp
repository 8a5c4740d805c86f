// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/exact_total.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace dfcl::core {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr int kUnit = -1074;  // the exponent of limb 0

}  // namespace

void ExactTotal::add(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto exponent = static_cast<std::uint32_t>((bits >> 52) & 2047u);
  if (exponent == 2047u) {
    is_finite_ = false;
    return;
  }
  const std::uint64_t mantissa =
      (bits & ((std::uint64_t{1} << 52) - 1)) | (exponent != 0 ? std::uint64_t{1} << 52 : 0u);
  const std::uint32_t place = exponent != 0 ? exponent - 1 : 0;
  const Wide shifted = static_cast<Wide>(mantissa) << (place & 31u);  // 84 bits
  const std::int64_t sign = bits >> 63 != 0 ? -1 : 1;
  for (std::size_t i = 0; i < 3; ++i)
    limbs_[(place >> 5) + i] +=
        sign * static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted >> (32 * i)) & 0xffffffffu);
}

// Makes every limb but the last lie in [0, 2^32).
void ExactTotal::carry() {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t over = limbs_[i] >> 32;
    limbs_[i] &= 0xffffffff;
    limbs_[i + 1] += over;
  }
}

void ExactTotal::add(const ExactTotal& other) {
  ExactTotal carried = other;
  carried.carry();
  carry();
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += carried.limbs_[i];
  is_finite_ = is_finite_ && other.is_finite_;
}

double ExactTotal::value() const {
  if (!is_finite_) return std::numeric_limits<double>::quiet_NaN();
  ExactTotal normal = *this;
  normal.carry();
  const bool negative = normal.limbs_[kLimbs - 1] < 0;
  if (negative) {
    for (std::int64_t& limb : normal.limbs_) limb = -limb;
    normal.carry();
  }
  std::size_t top = kLimbs;
  while (top > 0 && normal.limbs_[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  const auto limb_at = [&](std::size_t below_top) {
    return below_top < top ? static_cast<std::uint64_t>(normal.limbs_[top - 1 - below_top]) : std::uint64_t{0};
  };
  // The 96 bits of the top three limbs, and whether anything lies below them: one rounding decides.
  const Wide head = (static_cast<Wide>(limb_at(0)) << 64) | (static_cast<Wide>(limb_at(1)) << 32) | limb_at(2);
  bool below = false;
  for (std::size_t i = 3; i < top; ++i) below = below || limb_at(i) != 0;
  const int length = 128 - (head >> 64 != 0 ? std::countl_zero(static_cast<std::uint64_t>(head >> 64))
                                            : 64 + std::countl_zero(static_cast<std::uint64_t>(head)));
  const int exponent_of_head = 32 * (static_cast<int>(top) - 3) + kUnit;
  // Numbers below the smallest exponent have fewer bits; all of ours are whole multiples of it, so nothing is lost.
  const int dropped = std::max({0, length - 63, kUnit - exponent_of_head});
  below = below || (head & ((Wide{1} << dropped) - 1)) != 0;
  auto leading = static_cast<std::uint64_t>(head >> dropped);
  leading |= below ? 1u : 0u;  // of 63 bits: far below the rounding place
  const double magnitude = std::ldexp(static_cast<double>(leading), exponent_of_head + dropped);
  return negative ? -magnitude : magnitude;
}

}  // namespace dfcl::core
