// SPDX-License-Identifier: Apache-2.0
//
// The work of one launch, and the launch. A launch runs any number of training steps: in each the blocks of threads
// take the batch's tiles in turn (gather, forward, losses, backward), meet, add up their gradients in the order of the
// blocks and make Adam's step, meet again and go on. No float atomics: the same bytes every time on one kind of card.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dfcl/nn/cuda/plan.h"
#include "dfcl/nn/cuda/shuffle.h"

namespace dfcl::nn::cuda {

// Calls `body` with std::integral_constant<Precision, precision>.
template <class Body>
auto with_precision(Precision precision, Body&& body) {
  switch (precision) {
    case Precision::fp32: return body(std::integral_constant<Precision, Precision::fp32>());
    case Precision::bf16: return body(std::integral_constant<Precision, Precision::bf16>());
    case Precision::tf32: break;
  }
  return body(std::integral_constant<Precision, Precision::tf32>());
}

// What Adam needs in one step.
struct StepNumbers {
  float rate;        // with the correction of the mean for its start at zero
  float root_scale;  // the correction of the mean square, under the root
  float kept;        // 1 - rate x weight decay
};

// Of the step after `made` steps, as adam_step has them.
inline StepNumbers step_numbers(const AdamOptions& options, std::uint64_t made) {
  const double rate = rate_at(options, made);
  const auto count = static_cast<double>(made + 1);
  return {static_cast<float>(rate / (1.0 - std::pow(options.beta1, count))),
          static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, count))),
          static_cast<float>(1.0 - rate * options.weight_decay)};
}

struct StepSums {
  double prediction;  // of the rows' losses
  double decision;
};

// What the steps of every kind of network need. Parameters and what belongs to them lie in the order of the layout.
template <class Step>
struct StepsJob {
  const float* records;  // rows x record_floats
  bool train;            // else predictions
  const Step* steps;     // of this launch
  StepSums* step_sums;   // likewise
  float beta1, beta2, epsilon;
  double clip_norm;  // 0: never
  const std::int32_t* parameter_of;
  const std::int32_t* forward_of;
  const std::int32_t* backward_of;
  float* parameters;
  float* mean;
  float* mean_square;
  float* gradient;
  float* packed;
  double* block_squares;       // of the gradient's length
  StepSums* block_sums;        // of losses
  std::uint32_t* failed_step;  // the first whose gradient was not finite; else the largest number
  // predictions: rows x arms, or null
  float* revenue;
  float* cost;

  bool operator==(const StepsJob&) const = default;
};

// In which order rows are taken: those named, or their own, or the shuffle's.
struct RowOrder {
  std::uint32_t num_rows;  // of an epoch, or to predict
  std::uint32_t batch;
  const std::uint32_t* order;  // or null
  bool in_order;               // place `first_place` is the first row
  std::uint32_t first_place;
  Shuffle shuffle;

  DFCL_INLINE std::uint32_t row(std::uint32_t place) const {
    return in_order ? place - first_place : order != nullptr ? order[place] : shuffle.row(place);
  }
};

struct Job : StepsJob<StepNumbers> {
  RowOrder rows;
  std::uint32_t first_step;  // of the epoch
  std::uint32_t num_steps;
  float* partials;  // blocks x layout
};

// One kernel for each size of a tile and each precision, each compiled by itself.
template <int kRows, Precision kPrecision>
struct TileKernel {
  // How many blocks one multiprocessor holds at a time; 0 where a tile does not fit.
  static int blocks(const NetworkPlan& plan);
  static cudaError_t run(const NetworkPlan& plan, const Job& job, int blocks, cudaStream_t stream);
};
extern template struct TileKernel<32, Precision::tf32>;
extern template struct TileKernel<64, Precision::tf32>;
extern template struct TileKernel<128, Precision::tf32>;
extern template struct TileKernel<32, Precision::fp32>;
extern template struct TileKernel<64, Precision::fp32>;
extern template struct TileKernel<128, Precision::fp32>;
extern template struct TileKernel<32, Precision::bf16>;
extern template struct TileKernel<64, Precision::bf16>;
extern template struct TileKernel<128, Precision::bf16>;

}  // namespace dfcl::nn::cuda
