// SPDX-License-Identifier: Apache-2.0
//
// The build compiles this source once for each precision.
#include <algorithm>

#include "dfcl/nn/cuda/launch.h"
#include "dfcl/nn/cuda/table_first.cuh"
#include "dfcl/nn/cuda/table_moves.cuh"

namespace dfcl::nn::cuda {

namespace {

constexpr int kStepWarps = kStepThreads / 32;

// By the last block of `reduce`, one warp: what the gradient is multiplied by.
__device__ __forceinline__ void set_scale(const TableJob& job, int blocks) {
  const double norm = gradient_norm(job.block_squares, blocks);
  if (threadIdx.x != 0) return;
  TableState& state = *job.state;
  state.done = 0;
  state.scale = static_cast<float>(job.clip_norm > 0.0 && norm > job.clip_norm ? job.clip_norm / norm : 1.0);
  if (isfinite(norm)) return;
  state.scale = nanf("");
  *job.failed_step = min(*job.failed_step, state.first_step + state.step);
}

// Blocks of shared positions, eight quadruples a warp; then blocks of columns of the table.
template <Precision kPrecision>
__global__ void __launch_bounds__(kStepThreads)
    reduce_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job, int shared_blocks) {
  __shared__ double parts[kStepWarps];
  __shared__ bool last;
  const auto block = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  double squares = 0.0;
  if (block < shared_blocks) {
    const int position = (block * kStepWarps + thread / 32) * 32 + thread % 8 * 4;
    if (position / 32 * 32 < plan.shared_size) squares = shared_gradient(plan, job, position, thread % 32 / 8);
  } else {
    squares = first_gradient(plan, job, block - shared_blocks, thread);
  }
  squares = sum_of_warp(squares);
  if (thread % 32 == 0) parts[thread / 32] = squares;
  __syncthreads();
  if (thread == 0) {
    double sum = 0.0;
    for (const double part : parts) sum += part;
    job.block_squares[block] = sum;
    __threadfence();
    last = atomicAdd(&job.state->done, 1u) == gridDim.x - 1;
  }
  if (block == 0 && thread < 32) {
    set_step_sums(job.block_sums, job.head_slots * plan.members, job.step_sums + job.state->step);
  }
  __syncthreads();
  if (last && thread < 32) set_scale(job, static_cast<int>(gridDim.x));
}

// A gradient that is not finite changes nothing.
template <Precision kPrecision>
__global__ void __launch_bounds__(kStepThreads)
    move_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  const float scale = job.state->scale;
  if (isnan(scale)) return;
  const StepNumbers step = job.steps[job.state->step].adam;
  const std::size_t position = std::size_t{blockIdx.x} * kStepThreads + threadIdx.x;
  if (position < plan.num_positions()) move_position<kPrecision>(plan, job, step, scale, position);
}

// A block takes a column of the table. Then the step is done.
template <Precision kPrecision>
__global__ void __launch_bounds__(kCardWidth)
    values_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  __shared__ typename ValueWriter<kPrecision>::Rows rows;
  write_values<kPrecision>(plan, job, job.columns[blockIdx.x], rows);
  if (blockIdx.x == 0 && threadIdx.x == 0) job.state->step += 1;
}

// The mean over members, as the processor takes it.
__global__ void __launch_bounds__(kStepThreads)
    mean_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  const TableBatch batch = batch_of(*job.state);
  const auto arms = static_cast<std::size_t>(plan.loss.num_arms);
  const std::size_t distance = job.capacity * arms;
  for (std::size_t i = std::size_t{blockIdx.x} * kStepThreads + threadIdx.x; i < batch.count * arms;
       i += std::size_t{gridDim.x} * kStepThreads) {
    double revenue = 0.0;
    double cost = 0.0;
    for (int member = 0; member < plan.members; ++member) {
      revenue += job.member_revenue[member * distance + i];
      cost += job.member_cost[member * distance + i];
    }
    job.revenue[batch.begin * arms + i] = static_cast<float>(revenue / plan.members);
    job.cost[batch.begin * arms + i] = static_cast<float>(cost / plan.members);
  }
}

int blocks_for(std::size_t items, std::size_t each) { return static_cast<int>((items + each - 1) / each); }

}  // namespace

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::encode(const TablePlan& plan, const TableJob& job, int processors,
                                             cudaStream_t stream) {
  constexpr int kBytes = kEncodeWarps * kSegment * static_cast<int>(sizeof(float));
  const auto kernel = encode_kernel<kPrecision>;
  const cudaError_t allowed = allow_all_memory(kernel);
  if (allowed != cudaSuccess) return allowed;
  const int blocks = std::min(blocks_for(job.padded, kEncodeWarps), 3 * processors);
  kernel<<<blocks, 32 * kEncodeWarps, kBytes, stream>>>(plan, job);
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::first_forward(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  const dim3 blocks(plan.members, std::min(65'535, blocks_for(job.capacity, 16)));
  first_forward_kernel<kPrecision><<<blocks, kCardWidth, 0, stream>>>(plan, job);
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::first_back(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  first_back_kernel<kPrecision><<<job.first_slots, kBackThreads, 0, stream>>>(plan, job);
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::reduce(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  reduce_kernel<kPrecision><<<reduce_blocks(plan), kStepThreads, 0, stream>>>(plan, job, shared_blocks(plan));
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::move(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  move_kernel<kPrecision><<<blocks_for(plan.num_positions(), kStepThreads), kStepThreads, 0, stream>>>(plan, job);
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::fill_values(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  values_kernel<kPrecision><<<plan.num_columns, kCardWidth, 0, stream>>>(plan, job);
  return cudaGetLastError();
}

template <Precision kPrecision>
cudaError_t TableKernels<kPrecision>::mean_predictions(const TablePlan& plan, const TableJob& job,
                                                       cudaStream_t stream) {
  mean_kernel<<<blocks_for(std::size_t{job.capacity} * plan.loss.num_arms, kStepThreads), kStepThreads, 0, stream>>>(
      plan, job);
  return cudaGetLastError();
}

template struct TableKernels<DFCL_PRECISION>;

}  // namespace dfcl::nn::cuda
