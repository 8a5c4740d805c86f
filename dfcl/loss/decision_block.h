// SPDX-License-Identifier: Apache-2.0
//
// What the decision losses share: scores, reward estimates and the sum over multipliers, for a block of rows turned to
// arms x rows so that the loops over rows become vectors. A loss brings a kernel that says, for one multiplier, what a
// row's decision is worth and how that changes with its scores. No row sees another, and a row's numbers do not depend
// on its place in the block. Memory: 64 rows x arms x 9 numbers, allocated once a tile.
//
// For each multiplier L of S:
//   score   a_j = rh_j - L ch_j;   observed reward y = r - L c
//   reward  phi_j = 1[t = j] w (y - b), b = 0 or the mean of the a_j without a gradient,
//           or phi_j = m_j + 1[t = j] w (y - m_j), m_j = mr_j - L mc_j                      (eq. 5b),
//           all times the row's sample weight, which w holds already
//   kernel  value V and slopes dV/da_j; the loss is -V
//   d loss / d rh_j = -(1/|S|) dV/da_j,   d loss / d ch_j = (L/|S|) dV/da_j                 (eq. 7)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/matrix.h"
#include "dfcl/loss/decision_loss.h"
#include "dfcl/loss/loss.h"

namespace dfcl::loss {

inline constexpr std::size_t kBlockRows = 64;

// What a kernel sees of a block at one multiplier: arms x kBlockRows, and one number a row. It fills slope and value.
template <class T>
struct KernelBlock {
  std::size_t num_arms;
  const T* score;           // a
  const T* reward;          // phi
  const std::int32_t* arm;  // received, a row
  T* slope;                 // dV/da
  T* value;                 // V, a row
};

template <class T>
class DecisionBlock {
 public:
  explicit DecisionBlock(std::size_t num_arms) : num_arms_(num_arms), memory_(9 * num_arms, kBlockRows) {}

  DFCL_INLINE void load(const Rows<T>& rows, std::size_t first, std::size_t count, bool with_nuisance) {
    turn(rows.revenue.data, first, count, revenue());
    turn(rows.cost.data, first, count, cost());
    if (with_nuisance) {
      turn(rows.nuisance_revenue.data, first, count, nuisance_revenue());
      turn(rows.nuisance_cost.data, first, count, nuisance_cost());
    }
    fill(rows.arm.data() + first, count, arm_);
    fill(rows.observed_revenue.data() + first, count, observed_revenue_);
    fill(rows.observed_cost.data() + first, count, observed_cost_);
    fill(rows.weight.data() + first, count, weight_);
    sample_.fill(T(1));
    if (!rows.sample.empty()) fill(rows.sample.data() + first, count, sample_);
    std::fill_n(revenue_gradient(), 2 * num_arms_ * kBlockRows, T(0));
    value_sum_.fill(T(0));
  }

  template <class Kernel>
  DFCL_INLINE void add_multiplier(T multiplier, Baseline baseline, Kernel& kernel) {
    set_scores(multiplier, revenue(), cost(), score());
    if (baseline == Baseline::doubly_robust) {
      set_scores(multiplier, nuisance_revenue(), nuisance_cost(), reward());
      add_residuals(multiplier);
    } else {
      set_rewards(multiplier, baseline == Baseline::mean);
    }
    kernel(KernelBlock<T>{num_arms_, score(), reward(), arm_.data(), slope(), value_.data()});
    T* const by_revenue = revenue_gradient();
    T* const by_cost = cost_gradient();
    const T* const slopes = slope();
    for (std::size_t i = 0; i < num_arms_ * kBlockRows; ++i) {
      by_revenue[i] -= slopes[i];
      by_cost[i] += multiplier * slopes[i];
    }
    for (std::size_t row = 0; row < kBlockRows; ++row) value_sum_[row] -= value_[row];
  }

  // Adds factor x the block's gradient and returns the sum of its rows' losses; both are sums over the multipliers.
  DFCL_INLINE double store(std::size_t first, std::size_t count, T factor, bool with_cost, Gradient<T> gradient) const {
    add_turned(revenue_gradient(), first, count, factor, gradient.revenue.data);
    if (with_cost) add_turned(cost_gradient(), first, count, factor, gradient.cost.data);
    double sum = 0.0;
    for (std::size_t row = 0; row < count; ++row) sum += static_cast<double>(value_sum_[row]);
    return sum;
  }

 private:
  T* part(std::size_t index) { return memory_.data() + index * num_arms_ * kBlockRows; }
  const T* part(std::size_t index) const { return memory_.data() + index * num_arms_ * kBlockRows; }
  T* revenue() { return part(0); }
  T* cost() { return part(1); }
  T* nuisance_revenue() { return part(2); }
  T* nuisance_cost() { return part(3); }
  T* revenue_gradient() { return part(4); }
  T* cost_gradient() { return part(5); }
  const T* revenue_gradient() const { return part(4); }
  const T* cost_gradient() const { return part(5); }
  T* score() { return part(6); }
  T* reward() { return part(7); }
  T* slope() { return part(8); }

  // rows x arms to arms x rows; rows beyond the last are zero.
  template <class From>
  DFCL_INLINE void turn(const From* from, std::size_t first, std::size_t count, T* to) const {
    from += first * num_arms_;
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      T* const line = to + arm * kBlockRows;
      for (std::size_t row = 0; row < count; ++row) line[row] = static_cast<T>(from[row * num_arms_ + arm]);
      for (std::size_t row = count; row < kBlockRows; ++row) line[row] = T(0);
    }
  }

  DFCL_INLINE void add_turned(const T* from, std::size_t first, std::size_t count, T factor, T* to) const {
    to += first * num_arms_;
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      const T* const line = from + arm * kBlockRows;
      for (std::size_t row = 0; row < count; ++row) to[row * num_arms_ + arm] += factor * line[row];
    }
  }

  template <class From, class To>
  DFCL_INLINE static void fill(const From* from, std::size_t count, std::array<To, kBlockRows>& to) {
    for (std::size_t row = 0; row < count; ++row) to[row] = static_cast<To>(from[row]);
    for (std::size_t row = count; row < kBlockRows; ++row) to[row] = To(0);
  }

  DFCL_INLINE void set_scores(T multiplier, const T* by_revenue, const T* by_cost, T* to) const {
    for (std::size_t i = 0; i < num_arms_ * kBlockRows; ++i) to[i] = by_revenue[i] - multiplier * by_cost[i];
  }

  DFCL_INLINE void set_rewards(T multiplier, bool with_mean) {
    std::array<T, kBlockRows> seen;  // w (y - b)
    seen.fill(T(0));
    if (with_mean) {
      const T share = T(1) / static_cast<T>(num_arms_);
      for (std::size_t arm = 0; arm < num_arms_; ++arm) {
        const T* const line = score() + arm * kBlockRows;
        for (std::size_t row = 0; row < kBlockRows; ++row) seen[row] += line[row];
      }
      for (std::size_t row = 0; row < kBlockRows; ++row) seen[row] *= share;
    }
    for (std::size_t row = 0; row < kBlockRows; ++row) {
      seen[row] = weight_[row] * (observed_revenue_[row] - multiplier * observed_cost_[row] - seen[row]);
    }
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      T* const line = reward() + arm * kBlockRows;
      const std::int32_t index = static_cast<std::int32_t>(arm);
      for (std::size_t row = 0; row < kBlockRows; ++row) line[row] = arm_[row] == index ? seen[row] : T(0);
    }
  }

  // reward() holds m and becomes phi of eq. 5b.
  DFCL_INLINE void add_residuals(T multiplier) {
    for (std::size_t arm = 0; arm < num_arms_; ++arm) {
      T* const line = reward() + arm * kBlockRows;
      const std::int32_t index = static_cast<std::int32_t>(arm);
      for (std::size_t row = 0; row < kBlockRows; ++row) {
        const T residual = weight_[row] * (observed_revenue_[row] - multiplier * observed_cost_[row] - line[row]);
        line[row] = sample_[row] * line[row] + (arm_[row] == index ? residual : T(0));
      }
    }
  }

  std::size_t num_arms_;
  core::Matrix<T> memory_;  // 9 parts of arms x kBlockRows
  std::array<std::int32_t, kBlockRows> arm_;
  std::array<T, kBlockRows> observed_revenue_;
  std::array<T, kBlockRows> observed_cost_;
  std::array<T, kBlockRows> weight_;
  std::array<T, kBlockRows> sample_;
  std::array<T, kBlockRows> value_;
  std::array<T, kBlockRows> value_sum_;
};

// The whole of a decision loss: call it from a function marked DFCL_FOR_EACH_PROCESSOR.
template <class T, class Kernel>
DFCL_INLINE double add_decision_gradient(const Rows<T>& rows, const DecisionOptions& options, double scale,
                                         Gradient<T> gradient, Kernel& kernel) {
  require_nuisance(options, rows.revenue.size(), std::min(rows.nuisance_revenue.size(), rows.nuisance_cost.size()));
  DecisionBlock<T> block(rows.num_arms());
  const double share = 1.0 / static_cast<double>(options.multipliers.size());
  const T factor = static_cast<T>(scale * share);
  double sum = 0.0;
  for (std::size_t first = 0; first < rows.num_rows(); first += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, rows.num_rows() - first);
    block.load(rows, first, count, options.baseline == Baseline::doubly_robust);
    for (const double multiplier : options.multipliers) {
      block.add_multiplier(static_cast<T>(multiplier), options.baseline, kernel);
    }
    sum += block.store(first, count, factor, options.gradient_to_cost, gradient);
  }
  return share * sum;
}

template <class T, template <class> class Kernel>
double DecisionLoss<T, Kernel>::run(const Rows<T>& rows, double scale, Gradient<T> gradient) const {
  Kernel<T> kernel(options_, rows.num_arms());
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

}  // namespace dfcl::loss
