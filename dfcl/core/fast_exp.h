// SPDX-License-Identifier: Apache-2.0
//
// exp of a float by plain arithmetic, so that a loop over an array becomes vectors: about 0.4 ns a number with
// registers of 64 bytes. Relative error below 1.2e-7 from -87 to 88; below that exactly 0; above that the value at 88
// (1.65e38), never infinity; NaN gives NaN. exp(0) is exactly 1. The double overload is the C library's, for checks.
//
// Mathematics: x = n log 2 + f with n whole and |f| <= log(2) / 2; exp(x) = 2^n exp(f); exp(f) by its Taylor polynomial
// of degree 7, whose remainder is 6e-9. log 2 is taken in two parts, of which the first times n has no rounding.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::core {

DFCL_INLINE float fast_exp(float x) {
  constexpr float kLowest = -87.0f;
  constexpr float kHighest = 88.0f;
  constexpr float kInverseLog2 = 1.44269504f;
  constexpr float kLog2High = 0.693359375f;    // ten bits
  constexpr float kLog2Low = -2.12194440e-4f;  // log 2 = high + low
  constexpr float kRound = 12582912.0f;        // 1.5 x 2^23: adding it leaves a whole number in the low bits
  const float inside = x > kHighest ? kHighest : x;
  const float shifted = inside * kInverseLog2 + kRound;
  const float whole = shifted - kRound;
  const float f = (inside - whole * kLog2High) - whole * kLog2Low;
  float p = 1.0f / 5040.0f;
  p = p * f + 1.0f / 720.0f;
  p = p * f + 1.0f / 120.0f;
  p = p * f + 1.0f / 24.0f;
  p = p * f + 1.0f / 6.0f;
  p = p * f + 0.5f;
  p = p * f * f + f + 1.0f;
  // 2^n as bits: the low bits of `shifted` hold n.
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  const float result = p * std::bit_cast<float>(exponent);
  return x < kLowest ? 0.0f : result;
}

inline double fast_exp(double x) { return std::exp(x); }

}  // namespace dfcl::core
