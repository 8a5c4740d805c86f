// SPDX-License-Identifier: Apache-2.0
//
// The softmax of each row of a block (arms x kRows), as the smooth decision losses need it: stabilised by the row's
// largest score, so no score overflows. No memory but the lines.
#pragma once

#include <array>
#include <cstddef>

#include "dfcl/core/fast_exp.h"
#include "dfcl/core/for_each_processor.h"

namespace dfcl::loss {

// to = softmax_j(score_j / temperature). Multiplying scores and temperature by a power of two changes no bit.
template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void set_softmax(const T* score, Arms num_arms, T inverse_temperature, T* to) {
  std::array<T, kRows> best;
  std::array<T, kRows> total;
  for (std::size_t row = 0; row < kRows; ++row) best[row] = score[row];
  for (std::size_t arm = 1; arm < num_arms; ++arm) {
    const T* const line = score + arm * kRows;
    for (std::size_t row = 0; row < kRows; ++row) best[row] = line[row] > best[row] ? line[row] : best[row];
  }
  for (std::size_t row = 0; row < kRows; ++row) total[row] = T(0);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const T* const line = score + arm * kRows;
    T* const out = to + arm * kRows;
    for (std::size_t row = 0; row < kRows; ++row) {
      const T power = core::fast_exp((line[row] - best[row]) * inverse_temperature);
      out[row] = power;
      total[row] += power;
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) total[row] = T(1) / total[row];
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    T* const out = to + arm * kRows;
    for (std::size_t row = 0; row < kRows; ++row) out[row] *= total[row];
  }
}

// slope_j = q_j (u_j - sum_l q_l u_l) / temperature: d/da of a function with derivatives u by q = softmax(a /
// temperature). mean[row] receives sum_l q_l u_l. slope may be q itself.
template <std::size_t kRows, class T, class Arms>
DFCL_INLINE void apply_softmax_jacobian(const T* q, const T* u, Arms num_arms, T inverse_temperature, T* slope,
                                        T* mean) {
  for (std::size_t row = 0; row < kRows; ++row) mean[row] = T(0);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const std::size_t offset = arm * kRows;
    for (std::size_t row = 0; row < kRows; ++row) mean[row] += q[offset + row] * u[offset + row];
  }
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const std::size_t offset = arm * kRows;
    for (std::size_t row = 0; row < kRows; ++row) {
      slope[offset + row] = q[offset + row] * (u[offset + row] - mean[row]) * inverse_temperature;
    }
  }
}

}  // namespace dfcl::loss
