// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/exact_sum.h"

#include <algorithm>

namespace dfcl::allocate {

void ExactSum::add(SignedWide number, unsigned place) {
  core::carry(limbs_);
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
  core::carry(limbs_);
  std::int64_t over = 0;  // of the other's limbs, which may be full
  for (std::size_t i = 0; i < kLimbs; ++i) {
    const std::int64_t limb = other.limbs_[i] + over;
    const bool last = i + 1 == kLimbs;
    over = last ? 0 : limb >> 32;
    limbs_[i] += last ? limb : limb & 0xffffffff;
  }
}

void ExactSum::save(core::ByteWriter& bytes) const {
  core::Limbs<kLimbs> normal = limbs_;
  core::carry(normal);
  bytes.write(normal);
}

ExactSum ExactSum::load(core::ByteReader& bytes) {
  ExactSum sum;
  sum.limbs_ = bytes.read<core::Limbs<kLimbs>>();
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    bytes.require(sum.limbs_[i] >= 0 && sum.limbs_[i] <= 0xffffffff, "a sum that was not carried");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // more than any units come to, with room to merge millions
  bytes.require(sum.limbs_[kLimbs - 1] > -kMost && sum.limbs_[kLimbs - 1] < kMost, "a sum that is too large");
  return sum;
}

double ExactSum::value() const { return core::rounded(limbs_, kUnit); }

}  // namespace dfcl::allocate
