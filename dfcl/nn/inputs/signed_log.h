// SPDX-License-Identifier: Apache-2.0
//
// sign(x) log(1 + |x|) without a call of the C library, so that the compiler can vectorise loops over it and every
// machine gives the same bits. Within 2e-7 of the exact value, or one unit in the last place of float32 where that is
// more. Internal to model.
#pragma once

#include <bit>
#include <cstdint>

namespace dfcl::nn {

inline float signed_log(float x) {
  const float size = 1.0f + (x < 0.0f ? -x : x);
  // size = 2^exponent m with m in [2/3, 4/3); log m = 2 atanh(f / (2 + f)) for f = m - 1, |f / (2 + f)| <= 1/5.
  const std::int32_t bits = std::bit_cast<std::int32_t>(size);
  const std::int32_t exponent = (bits - std::bit_cast<std::int32_t>(2.0f / 3.0f)) >> 23;
  const float f = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float series = 1.0f + z * (1.0f / 3.0f + z * (1.0f / 5.0f + z * (1.0f / 7.0f + z * (1.0f / 9.0f))));
  const float log = static_cast<float>(exponent) * 0.693147181f + 2.0f * s * series;
  return x < 0.0f ? -log : log;
}

}  // namespace dfcl::nn
