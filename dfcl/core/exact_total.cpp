// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/exact_total.h"

#include <bit>
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

void ExactTotal::add(const ExactTotal& other) {
  Limbs<kLimbs> carried = other.limbs_;
  carry(carried);
  carry(limbs_);
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += carried[i];
  is_finite_ = is_finite_ && other.is_finite_;
}

double ExactTotal::value() const {
  if (!is_finite_) return std::numeric_limits<double>::quiet_NaN();
  return rounded(limbs_, kUnit);
}

void ExactTotal::save(ByteWriter& bytes) const {
  Limbs<kLimbs> carried = limbs_;
  carry(carried);
  bytes.write(carried);
  bytes.write(static_cast<std::uint8_t>(is_finite_ ? 1 : 0));
}

ExactTotal ExactTotal::load(ByteReader& bytes) {
  ExactTotal total;
  total.limbs_ = bytes.read<Limbs<kLimbs>>();
  for (std::size_t i = 0; i < kLimbs; ++i)
    bytes.require(total.limbs_[i] >> 32 == 0 || (i + 1 == kLimbs && total.limbs_[i] >> 32 == -1),
                  "a sum that cannot be");
  const auto is_finite = bytes.read<std::uint8_t>();
  bytes.require(is_finite <= 1, "a sum that cannot be");
  total.is_finite_ = is_finite == 1;
  return total;
}

}  // namespace dfcl::core
