// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of every kind of network do alike: sums over a warp, and Adam's step of one position.
#pragma once

#include "dfcl/nn/cuda/kernels.h"
#include "dfcl/nn/cuda/tile_products.cuh"

namespace dfcl::nn::cuda {

__device__ __forceinline__ double sum_of_warp(double x) {
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

// The losses of a step, by one warp, from those of its blocks in their order.
__device__ __forceinline__ void set_step_sums(const StepSums* block_sums, int num_blocks, StepSums* to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  StepSums sum{};
  for (int block = lane; block < num_blocks; block += 32) {
    sum.prediction += __ldcg(&block_sums[block].prediction);
    sum.decision += __ldcg(&block_sums[block].decision);
  }
  sum = {sum_of_warp(sum.prediction), sum_of_warp(sum.decision)};
  if (lane == 0) *to = sum;
}

// The length of a gradient, by one warp; all lanes have it.
__device__ __forceinline__ double gradient_norm(const double* block_squares, int num_blocks) {
  double squares = 0.0;
  for (int block = static_cast<int>(threadIdx.x) % 32; block < num_blocks; block += 32) {
    squares += __ldcg(block_squares + block);
  }
  return sqrt(sum_of_warp(squares));
}

// The parameter after the step.
template <class Job>
__device__ __forceinline__ float moved(const Job& job, const StepNumbers& step, std::size_t position, float scale) {
  const float g = scale * job.gradient[position];
  const float m = job.beta1 * job.mean[position] + (1.0f - job.beta1) * g;
  const float v = job.beta2 * job.mean_square[position] + (1.0f - job.beta2) * g * g;
  job.mean[position] = m;
  job.mean_square[position] = v;
  const float p = step.kept * job.parameters[position] - step.rate * m / (sqrtf(v) * step.root_scale + job.epsilon);
  job.parameters[position] = p;
  return p;
}

// A number as products of the precision read it; `place` counts numbers.
template <Precision kPrecision>
__device__ __forceinline__ void set_packed(float* packed, std::int32_t place, float p) {
  if constexpr (kPrecision == Precision::bf16) {
    reinterpret_cast<__nv_bfloat16*>(packed)[place] = __float2bfloat16_rn(p);
  } else {
    packed[place] = operand_or_nan<kPrecision>(p);
  }
}

}  // namespace dfcl::nn::cuda
