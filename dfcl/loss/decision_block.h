// SPDX-License-Identifier: Apache-2.0
//
// Decision losses on a processor: a block of rows turned to arms x rows so that the loops over rows become vectors
// (decision_lines.h has the mathematics). A loss brings a kernel that says, for one multiplier, what a row's decision
// is worth and how that changes with its scores. A row's numbers do not depend on its place in the block. Memory: 64
// rows x arms x 10 numbers, allocated once a tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/matrix.h"
#include "dfcl/loss/decision_lines.h"
#include "dfcl/loss/decision_loss.h"
#include "dfcl/loss/loss.h"

namespace dfcl::loss {

inline constexpr std::size_t kBlockRows = 64;

template <class T>
class DecisionBlock {
 public:
  explicit DecisionBlock(std::size_t num_arms) : num_arms_(num_arms), memory_(10 * num_arms, kBlockRows) {}

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
  DFCL_INLINE void add_multiplier(T multiplier, Baseline baseline, const Kernel& kernel) {
    const DecisionLines<T, kBlockRows, std::size_t> lines{.num_arms = num_arms_,
                                                          .revenue = part(0),
                                                          .cost = part(1),
                                                          .nuisance_revenue = part(2),
                                                          .nuisance_cost = part(3),
                                                          .revenue_gradient = part(4),
                                                          .cost_gradient = part(5),
                                                          .score = part(6),
                                                          .reward = part(7),
                                                          .slope = part(8),
                                                          .spare = part(9),
                                                          .arm = arm_.data(),
                                                          .observed_revenue = observed_revenue_.data(),
                                                          .observed_cost = observed_cost_.data(),
                                                          .weight = weight_.data(),
                                                          .sample = sample_.data(),
                                                          .value = value_.data(),
                                                          .value_sum = value_sum_.data()};
    lines.add_multiplier(multiplier, baseline, kernel);
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
  const T* revenue_gradient() const { return part(4); }
  const T* cost_gradient() const { return part(5); }

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

  std::size_t num_arms_;
  core::Matrix<T> memory_;  // 10 parts of arms x kBlockRows, in the order of DecisionLines
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
                                         Gradient<T> gradient, const Kernel& kernel) {
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
  const Kernel<T> kernel(options_);
  return add_decision_gradient(rows, options_, scale, gradient, kernel);
}

}  // namespace dfcl::loss
