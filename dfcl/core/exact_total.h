// SPDX-License-Identifier: Apache-2.0
//
// The exact sum of float64 numbers, rounded once when it is asked for: neither the order of the numbers nor how they
// are cut into parts shows. One whole number in limbs of 32 bits, each kept in 64, over the whole range of float64.
// Adding is a few instructions. 552 bytes; holds up to 2^30 additions between two merges.
#pragma once

#include <cstddef>

#include "dfcl/core/bytes.h"
#include "dfcl/core/limbs.h"

namespace dfcl::core {

class ExactTotal {
 public:
  // A number that is not finite makes the value NaN.
  void add(double number);
  // Carries, so merging can go on for ever.
  void add(const ExactTotal& other);
  // To nearest; infinite where the sum is beyond the largest number.
  double value() const;

  // 545 bytes, the same for the same sum, however it was made.
  void save(ByteWriter& bytes) const;
  static ExactTotal load(ByteReader& bytes);

 private:
  // 2^-1074 is the unit of limb 0; numbers reach limb 66, and the last takes what carries.
  static constexpr std::size_t kLimbs = 68;

  Limbs<kLimbs> limbs_{};
  bool is_finite_ = true;
};

}  // namespace dfcl::core
