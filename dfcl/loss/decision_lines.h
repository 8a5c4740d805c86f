// SPDX-License-Identifier: Apache-2.0
//
// The mathematics that decision losses share, for kRows units at once: arrays are arms x kRows, so that on a processor
// the loops over rows become vectors (decision_block.h, 64 rows); on a graphics card a thread has one unit. Arms is
// std::size_t, or a std::integral_constant where the number is known to the compiler. No row sees another. No memory of
// its own.
//
// For each multiplier L of S:
//   score   a_j = rh_j - L ch_j;   observed reward y = r - L c
//   reward  phi_j = 1[t = j] w (y - b), b = 0 or the mean of the a_j without a gradient,
//           or phi_j = m_j + 1[t = j] w (y - m_j), m_j = mr_j - L mc_j                      (eq. 5b),
//           all times the row's sample weight, which w holds already
//   kernel  value V and slopes dV/da_j; the loss is -V
//   d loss / d rh_j = -(1/|S|) dV/da_j,   d loss / d ch_j = (L/|S|) dV/da_j                 (eq. 7)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/loss/baseline.h"

namespace dfcl::loss {

// What a kernel sees at one multiplier. It fills slope and value, and may use spare.
template <class T, std::size_t kRows, class Arms>
struct KernelBlock {
  Arms num_arms;
  const T* score;           // a
  const T* reward;          // phi
  const std::int32_t* arm;  // received, a row
  T* slope;                 // dV/da
  T* value;                 // V, a row
  T* spare;                 // arms x kRows
};

// The units, and the sums over multipliers.
template <class T, std::size_t kRows, class Arms>
struct DecisionLines {
  Arms num_arms;
  // arms x kRows
  const T* revenue;
  const T* cost;
  const T* nuisance_revenue;  // with the doubly robust baseline
  const T* nuisance_cost;     // likewise
  T* revenue_gradient;        // sums
  T* cost_gradient;           // sums
  T* score;
  T* reward;
  T* slope;
  T* spare;
  // one a row
  const std::int32_t* arm;
  const T* observed_revenue;
  const T* observed_cost;
  const T* weight;
  const T* sample;  // with the doubly robust baseline
  T* value;
  T* value_sum;  // sum

  template <class Kernel>
  DFCL_INLINE void add_multiplier(T multiplier, Baseline baseline, const Kernel& kernel) const {
    set_scores(multiplier, revenue, cost, score);
    if (baseline == Baseline::doubly_robust) {
      set_scores(multiplier, nuisance_revenue, nuisance_cost, reward);
      add_residuals(multiplier);
    } else {
      set_rewards(multiplier, baseline == Baseline::mean);
    }
    kernel(KernelBlock<T, kRows, Arms>{num_arms, score, reward, arm, slope, value, spare});
    T* const by_revenue = revenue_gradient;
    T* const by_cost = cost_gradient;
    const T* const slopes = slope;
    for (std::size_t i = 0; i < num_arms * kRows; ++i) {
      by_revenue[i] -= slopes[i];
      by_cost[i] += multiplier * slopes[i];
    }
    for (std::size_t row = 0; row < kRows; ++row) value_sum[row] -= value[row];
  }

 private:
  DFCL_INLINE void set_scores(T multiplier, const T* by_revenue, const T* by_cost, T* to) const {
    for (std::size_t i = 0; i < num_arms * kRows; ++i) to[i] = by_revenue[i] - multiplier * by_cost[i];
  }

  DFCL_INLINE void set_rewards(T multiplier, bool with_mean) const {
    std::array<T, kRows> seen;  // w (y - b)
    for (std::size_t row = 0; row < kRows; ++row) seen[row] = T(0);
    if (with_mean) {
      const T share = T(1) / static_cast<T>(num_arms);
      for (std::size_t j = 0; j < num_arms; ++j) {
        const T* const line = score + j * kRows;
        for (std::size_t row = 0; row < kRows; ++row) seen[row] += line[row];
      }
      for (std::size_t row = 0; row < kRows; ++row) seen[row] *= share;
    }
    for (std::size_t row = 0; row < kRows; ++row) {
      seen[row] = weight[row] * (observed_revenue[row] - multiplier * observed_cost[row] - seen[row]);
    }
    for (std::size_t j = 0; j < num_arms; ++j) {
      T* const line = reward + j * kRows;
      const std::int32_t index = static_cast<std::int32_t>(j);
      for (std::size_t row = 0; row < kRows; ++row) line[row] = arm[row] == index ? seen[row] : T(0);
    }
  }

  // `reward` holds m and becomes phi of eq. 5b.
  DFCL_INLINE void add_residuals(T multiplier) const {
    for (std::size_t j = 0; j < num_arms; ++j) {
      T* const line = reward + j * kRows;
      const std::int32_t index = static_cast<std::int32_t>(j);
      for (std::size_t row = 0; row < kRows; ++row) {
        const T residual = weight[row] * (observed_revenue[row] - multiplier * observed_cost[row] - line[row]);
        line[row] = sample[row] * line[row] + (arm[row] == index ? residual : T(0));
      }
    }
  }
};

}  // namespace dfcl::loss
