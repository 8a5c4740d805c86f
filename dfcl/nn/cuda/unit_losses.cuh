// SPDX-License-Identifier: Apache-2.0
//
// The losses of one unit, by four neighbouring threads: predictions from the raw outputs, the prediction loss, a
// quarter of the multipliers each, and the way back to the raw outputs by the first of the four. The mathematics is
// that of the processor (head_lines.h, prediction_measure.h, decision_lines.h). Where the number of arms is known to
// the compiler everything is in registers.
#pragma once

#include <type_traits>

#include "dfcl/loss/prediction_measure.h"
#include "dfcl/nn/cuda/plan.h"

namespace dfcl::nn::cuda {

// What a unit's threads read and write.
struct UnitView {
  int tile_rows;
  int row;              // of the tile
  const float* inputs;  // of the tile; from first_fact on: what record_facts counts
  int first_fact;
  float* raw;      // raw outputs of the tile; their gradient afterwards
  bool valid;      // else a row that pads the tile
  bool train;      // else no gradient
  float* revenue;  // predictions go here; or null
  float* cost;

  __device__ __forceinline__ const float* fact_at(int i) const {
    return inputs + place_in_tile(tile_rows, row, first_fact + i);
  }
  __device__ __forceinline__ float fact(int i) const { return *fact_at(i); }
};

// Sums of this thread's part of the unit's loss, not weighted.
struct UnitSums {
  float prediction = 0.0f;
  float decision = 0.0f;
};

struct RawLines {
  float* raw;
  const std::uint8_t* column;
  int tile_rows;
  int row;
  DFCL_INLINE float* operator[](std::size_t i) const { return raw + place_in_tile(tile_rows, row, column[i]); }
};

template <class Arms>
inline constexpr int kArmsMemory = kMostArms;
template <std::size_t kArms>
inline constexpr int kArmsMemory<std::integral_constant<std::size_t, kArms>> = static_cast<int>(kArms);

using One = std::integral_constant<std::size_t, 1>;

template <class Arms>
__device__ __forceinline__ void predict_head(const HeadLines<float>& head, Arms num_arms, const RawLines& raw,
                                             float* prediction) {
  if constexpr (std::is_same_v<Arms, std::size_t>) {
    if (!head.is_plain()) {
      float steps[kMostArms];
      head.forward_steps<1>(raw, One(), steps, prediction, 1);
      return;
    }
  }
#pragma unroll
  for (std::size_t arm = 0; arm < num_arms; ++arm) head.forward_plain(raw, One(), arm, prediction, 1);
}

template <class Arms>
__device__ __forceinline__ void return_head(const HeadLines<float>& head, Arms num_arms, const RawLines& raw,
                                            const float* prediction, const float* gradient) {
  if constexpr (std::is_same_v<Arms, std::size_t>) {
    if (!head.is_plain()) {
      float steps[kMostArms];
      head.backward_steps<1>(raw, One(), steps, prediction, gradient, 1, raw);
      return;
    }
  }
  if (head.has_base()) *raw[0] = 0.0f;
#pragma unroll
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    head.backward_plain(raw, One(), arm, prediction, gradient, 1, raw);
  }
}

__device__ __forceinline__ loss::Point<float> measure(loss::OutcomeKind kind, float observed, float predicted) {
  switch (kind) {
    case loss::OutcomeKind::real: return loss::SquaredError<float>::at(observed, predicted);
    case loss::OutcomeKind::non_negative: return loss::PoissonDeviance<float>::at(observed, predicted);
    case loss::OutcomeKind::binary: break;
  }
  return loss::CrossEntropy<float>::at(observed, predicted);
}

// One outcome: the value, weighted; the slope of the arm received goes to the gradient.
template <class Arms>
__device__ __forceinline__ float add_prediction(loss::OutcomeKind kind, Arms num_arms, int arm, float observed,
                                                float weight, float factor, const float* prediction, float* gradient) {
  float predicted = 0.0f;
#pragma unroll
  for (std::size_t j = 0; j < num_arms; ++j) predicted = static_cast<int>(j) == arm ? prediction[j] : predicted;
  const loss::Point<float> point = measure(kind, observed, predicted);
  const float slope = factor * weight * point.slope;
#pragma unroll
  for (std::size_t j = 0; j < num_arms; ++j) gradient[j] += static_cast<int>(j) == arm ? slope : 0.0f;
  return weight * point.value;
}

__device__ __forceinline__ float sum_of_four(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The multipliers of this quarter; then the sums of all four, times the factor, go to the gradients.
template <class Kernel, class Arms>
__device__ __forceinline__ float add_decision(const LossPlan& plan, const Kernel& kernel, Arms num_arms,
                                              const UnitView& unit, int quarter, float factor, const float* revenue,
                                              const float* cost, float* revenue_gradient, float* cost_gradient) {
  constexpr int kMemory = kArmsMemory<Arms>;
  const float observed_revenue = unit.fact(0);
  const float observed_cost = unit.fact(1);
  const float weight = unit.fact(2);
  const auto arm = static_cast<std::int32_t>(unit.fact(3));
  float by_revenue[kMemory], by_cost[kMemory], score[kMemory], reward[kMemory], slope[kMemory], spare[kMemory];
  float nuisance_revenue[kMemory], nuisance_cost[kMemory];
  float value = 0.0f;
  float value_sum = 0.0f;
  const bool robust = plan.baseline == loss::Baseline::doubly_robust;
  // Read where it is used, and only by the doubly robust form: the kernels have no register to spare for it.
  const float* const sample = unit.fact_at(static_cast<int>(kRecordFacts + 2 * num_arms));
#pragma unroll
  for (std::size_t j = 0; j < num_arms; ++j) {
    by_revenue[j] = by_cost[j] = 0.0f;
    nuisance_revenue[j] = robust ? unit.fact(static_cast<int>(kRecordFacts + j)) : 0.0f;
    nuisance_cost[j] = robust ? unit.fact(static_cast<int>(kRecordFacts + num_arms + j)) : 0.0f;
  }
  const loss::DecisionLines<float, 1, Arms> lines{.num_arms = num_arms,
                                                  .revenue = revenue,
                                                  .cost = cost,
                                                  .nuisance_revenue = nuisance_revenue,
                                                  .nuisance_cost = nuisance_cost,
                                                  .revenue_gradient = by_revenue,
                                                  .cost_gradient = by_cost,
                                                  .score = score,
                                                  .reward = reward,
                                                  .slope = slope,
                                                  .spare = spare,
                                                  .arm = &arm,
                                                  .observed_revenue = &observed_revenue,
                                                  .observed_cost = &observed_cost,
                                                  .weight = &weight,
                                                  .sample = sample,
                                                  .value = &value,
                                                  .value_sum = &value_sum};
  for (int i = quarter; i < plan.num_multipliers; i += 4) {
    lines.add_multiplier(plan.multipliers[i], plan.baseline, kernel);
  }
#pragma unroll
  for (std::size_t j = 0; j < num_arms; ++j) {
    revenue_gradient[j] += factor * sum_of_four(by_revenue[j]);
    const float cost_slope = factor * sum_of_four(by_cost[j]);
    if (plan.gradient_to_cost) cost_gradient[j] += cost_slope;
  }
  return value_sum;
}

template <class Arms>
__device__ __forceinline__ UnitSums unit_losses(const LossPlan& plan, Arms num_arms, const UnitView& unit, int quarter,
                                                double per_row) {
  constexpr int kMemory = kArmsMemory<Arms>;
  const RawLines revenue_raw{unit.raw, plan.revenue_column, unit.tile_rows, unit.row};
  const RawLines cost_raw{unit.raw, plan.cost_column, unit.tile_rows, unit.row};
  float revenue[kMemory], cost[kMemory], revenue_gradient[kMemory], cost_gradient[kMemory];
  predict_head(plan.revenue, num_arms, revenue_raw, revenue);
  predict_head(plan.cost, num_arms, cost_raw, cost);
#pragma unroll
  for (std::size_t j = 0; j < num_arms; ++j) revenue_gradient[j] = cost_gradient[j] = 0.0f;
  const float weight = unit.fact(2);
  const int arm = static_cast<int>(unit.fact(3));
  UnitSums sums;
  if (quarter == 0) {
    const float factor = static_cast<float>(plan.prediction_factor * per_row);
    if (plan.use_revenue) {
      sums.prediction += add_prediction(plan.revenue.facts.kind, num_arms, arm, unit.fact(0), weight, factor, revenue,
                                        revenue_gradient);
    }
    if (plan.use_cost) {
      sums.prediction +=
          add_prediction(plan.cost.facts.kind, num_arms, arm, unit.fact(1), weight, factor, cost, cost_gradient);
    }
  }
  const float factor = static_cast<float>(plan.decision_factor * per_row);
  if (plan.decision == DecisionKind::policy) {
    sums.decision = add_decision(plan, plan.policy, num_arms, unit, quarter, factor, revenue, cost, revenue_gradient,
                                 cost_gradient);
  } else if (plan.decision == DecisionKind::ifd) {
    sums.decision =
        add_decision(plan, plan.ifd, num_arms, unit, quarter, factor, revenue, cost, revenue_gradient, cost_gradient);
  }
  if constexpr (std::is_same_v<Arms, std::size_t>) {  // the rarest runs with arms counted at run time only
    if (plan.decision == DecisionKind::ifd_softmax) {
      sums.decision = add_decision(plan, plan.ifd_softmax, num_arms, unit, quarter, factor, revenue, cost,
                                   revenue_gradient, cost_gradient);
    }
  }
  if (!unit.valid) sums = {};
  __syncwarp();  // all four have read the raw outputs
  if (quarter != 0) return sums;
  if (unit.train) {
    return_head(plan.revenue, num_arms, revenue_raw, revenue, revenue_gradient);
    return_head(plan.cost, num_arms, cost_raw, cost, cost_gradient);
  }
  if (unit.revenue != nullptr && unit.valid) {
#pragma unroll
    for (std::size_t j = 0; j < num_arms; ++j) {
      unit.revenue[j] = revenue[j];
      unit.cost[j] = cost[j];
    }
  }
  return sums;
}

__device__ __forceinline__ UnitSums unit_losses(const LossPlan& plan, const UnitView& unit, int quarter,
                                                double per_row) {
  if (plan.plain && plan.decision != DecisionKind::ifd_softmax) {
    switch (plan.num_arms) {
      case 2: return unit_losses(plan, std::integral_constant<std::size_t, 2>(), unit, quarter, per_row);
      case 3: return unit_losses(plan, std::integral_constant<std::size_t, 3>(), unit, quarter, per_row);
      case 4: return unit_losses(plan, std::integral_constant<std::size_t, 4>(), unit, quarter, per_row);
      case 5: return unit_losses(plan, std::integral_constant<std::size_t, 5>(), unit, quarter, per_row);
      default: break;
    }
  }
  return unit_losses(plan, static_cast<std::size_t>(plan.num_arms), unit, quarter, per_row);
}

}  // namespace dfcl::nn::cuda
