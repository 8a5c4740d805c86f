// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h, one for each number of rows in a tile and each precision.
#pragma once

#include <cooperative_groups.h>

#include "dfcl/nn/cuda/card_step.cuh"
#include "dfcl/nn/cuda/kernels.h"
#include "dfcl/nn/cuda/launch.h"
#include "dfcl/nn/cuda/tile_products.cuh"
#include "dfcl/nn/cuda/unit_losses.cuh"

namespace dfcl::nn::cuda {

// Shared memory beside the activations.
template <int kRows>
struct TileFacts {
  std::uint32_t row[2][kRows];  // records of this tile and the next
  StepSums sums[kRows / 8];     // one a warp
  double squares[kRows / 8];    // likewise
};

// A part of the batch: places begin .. begin + count - 1 of the order.
struct Tile {
  std::uint32_t begin;
  int count;
};

template <int kRows>
__device__ __forceinline__ Tile tile_at(std::uint32_t step_begin, std::uint32_t step_count, std::uint32_t tile) {
  return {step_begin + tile * kRows,
          static_cast<int>(min(static_cast<std::uint32_t>(kRows), step_count - tile * kRows))};
}

// Finds the records of a tile; four threads a row fetch each record from memory into the second-level cache.
template <int kRows>
__device__ __forceinline__ void find_rows(const NetworkPlan& plan, const Job& job, const Tile& tile,
                                          std::uint32_t* rows) {
  const int i = threadIdx.x / 4;
  const int quarter = threadIdx.x % 4;
  if (i >= tile.count) return;
  const std::uint32_t row = job.rows.row(tile.begin + i);
  if (quarter == 0) rows[i] = row;
  const char* record = reinterpret_cast<const char*>(job.records + std::size_t{row} * plan.record_floats);
  for (int byte = quarter * 32; byte < plan.record_floats * 4; byte += 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(record + byte));
  }
}

// The four warps of a slice of 32 rows meet. On the way forward no slice needs another, and one's waits are filled by
// the others' work.
__device__ __forceinline__ void meet_in_slice() {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + threadIdx.x / 128) : "memory");
}

// Records of the slice's rows.
template <int kRows>
__device__ __forceinline__ void gather(const NetworkPlan& plan, const Job& job, int count, const std::uint32_t* rows,
                                       float* inputs) {
  const int chunks = plan.record_floats / 4;
  const int first_row = threadIdx.x / 128 * 32;
  for (int i = threadIdx.x % 128; i < 32 * chunks; i += 128) {
    const int row = first_row + i / chunks;
    const int word = i % chunks * 4;
    const int place = word < plan.record_inputs ? word : word + plan.first_fact - plan.record_inputs;
    const bool valid = row < count;
    const float* from = job.records + std::size_t{valid ? rows[row] : 0u} * plan.record_floats + word;
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(inputs + place_in_tile(kRows, row, place)));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0));
  }
}

// A thin output layer: the four warps of a slice of rows take a quarter of the inputs each, and their sums stand in
// four groups of 8 columns until the losses add them up.
__device__ __forceinline__ bool in_quarters(const LayerPlan& layer) {
  return !layer.relu && layer.n8 == 8 && layer.k_pairs % 8 == 0;
}

template <int kRows, Precision kPrecision>
__device__ __forceinline__ void forward_in_quarters(const LayerPlan& layer, const float* packed, float* memory) {
  const int quarter = threadIdx.x / 32 % 4;
  const int pairs = layer.k_pairs / 4;
  float* output = memory + layer.out_offset * kRows;
  multiply_chunk<kRows, 1, kPrecision>(
      memory + layer.in_offset * kRows, reinterpret_cast<const float4*>(packed + layer.packed_forward), layer.k_pairs,
      quarter * pairs, (quarter + 1) * pairs, 0, 1,
      [&](int column) {
        const float2 bias = *reinterpret_cast<const float2*>(packed + layer.packed_bias + column);
        return quarter == 0 ? bias : make_float2(0.0f, 0.0f);
      },
      [&](int row, int column, float2 value) {
        *reinterpret_cast<float2*>(output + place_in_tile(kRows, row, column + quarter * 8)) = value;
      });
}

template <int kRows, Precision kPrecision>
__device__ __forceinline__ void forward(const LayerPlan& layer, const float* packed, float* memory) {
  const float* bias = packed + layer.packed_bias;
  float* output = memory + layer.out_offset * kRows;
  const bool relu = layer.relu;
  multiply_rows<kRows, kPrecision>(
      memory + layer.in_offset * kRows, packed + layer.packed_forward, layer.k_pairs, layer.n8 / 8, layer.groups,
      layer.group_outputs, layer.group_inputs,
      [&](int column) { return *reinterpret_cast<const float2*>(bias + column); },
      [&](int row, int column, float2 value) {
        if (kPrecision == Precision::bf16 && relu) {
          output[place_in_tile(kRows, row, column / 2)] = word_of({fmaxf(value.x, 0.0f), fmaxf(value.y, 0.0f)});
          return;
        }
        if (relu) value = {operand<kPrecision>(fmaxf(value.x, 0.0f)), operand<kPrecision>(fmaxf(value.y, 0.0f))};
        *reinterpret_cast<float2*>(output + place_in_tile(kRows, row, column)) = value;
      });
}

// The slopes of the layer's inputs take the place of the inputs, through the ReLU that made them.
template <int kRows, Precision kPrecision>
__device__ __forceinline__ void backward(const LayerPlan& layer, const float* packed, float* memory) {
  float* input = memory + layer.in_offset * kRows;
  multiply_rows<kRows, kPrecision>(
      memory + layer.out_offset * kRows, packed + layer.packed_backward, layer.n_pairs, layer.k16 / 8, layer.groups,
      layer.group_inputs, layer.group_outputs, [](int) { return make_float2(0.0f, 0.0f); },
      [&](int row, int column, float2 value) {
        if constexpr (kPrecision == Precision::bf16) {
          float& word = input[place_in_tile(kRows, row, column / 2)];
          const float2 active = halves_of(word);
          word = word_of({active.x > 0.0f ? value.x : 0.0f, active.y > 0.0f ? value.y : 0.0f});
          return;
        }
        float2* at = reinterpret_cast<float2*>(input + place_in_tile(kRows, row, column));
        const float2 active = *at;
        *at = {active.x > 0.0f ? operand<kPrecision>(value.x) : 0.0f,
               active.y > 0.0f ? operand<kPrecision>(value.y) : 0.0f};
      });
}

template <int kRows, Precision kPrecision>
__device__ __forceinline__ void losses(const NetworkPlan& plan, const Job& job, const Tile& tile, double per_row,
                                       float* memory, TileFacts<kRows>& facts) {
  const int row = threadIdx.x / 4;
  const LayerPlan& last = plan.layers[plan.num_layers - 1];
  const bool valid = row < tile.count;
  const std::size_t place = std::size_t{tile.begin} + row;
  float* raw = memory + last.out_offset * kRows;
  if (in_quarters(last)) {
    for (int column = threadIdx.x % 4; column < 8; column += 4) {
      float sum = 0.0f;
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) sum += raw[place_in_tile(kRows, row, column + quarter * 8)];
      raw[place_in_tile(kRows, row, column)] = sum;
    }
    __syncwarp();
  }
  const UnitView unit{.tile_rows = kRows,
                      .row = row,
                      .inputs = memory,
                      .first_fact = plan.first_fact,
                      .raw = raw,
                      .valid = valid,
                      .train = job.train,
                      .revenue = job.revenue == nullptr ? nullptr : job.revenue + place * plan.loss.num_arms,
                      .cost = job.cost == nullptr ? nullptr : job.cost + place * plan.loss.num_arms};
  const UnitSums sums = unit_losses(plan.loss, unit, threadIdx.x % 4, per_row);
  const double prediction = sum_of_warp(sums.prediction);
  const double decision = sum_of_warp(sums.decision);
  if (threadIdx.x % 32 == 0) {
    facts.sums[threadIdx.x / 32].prediction += prediction;
    facts.sums[threadIdx.x / 32].decision += decision;
  }
  __syncwarp();
  if constexpr (kPrecision == Precision::bf16) {  // words of two take the place of the first numbers
    for (int word = threadIdx.x % 4; word < 16 * last.n_pairs; word += 4) {
      const auto slope_of = [&](int column) {
        return valid && column < last.outputs ? raw[place_in_tile(kRows, row, column)] : 0.0f;
      };
      const float both = word_of({slope_of(2 * word), slope_of(2 * word + 1)});
      __syncwarp();
      raw[place_in_tile(kRows, row, word)] = both;
      __syncwarp();
    }
    return;
  }
  for (int column = threadIdx.x % 4; column < last.outputs; column += 4) {
    float& slope = raw[place_in_tile(kRows, row, column)];
    slope = valid ? operand_or_nan<kPrecision>(slope) : 0.0f;
  }
}

template <int kRows, Precision kPrecision>
__device__ __forceinline__ void run_tile(const NetworkPlan& plan, const Job& job, const Tile& tile, double per_row,
                                         bool fresh, float* memory, TileFacts<kRows>& facts) {
  for (int l = 0; l < plan.num_layers; ++l) {
    if (in_quarters(plan.layers[l])) {
      forward_in_quarters<kRows, kPrecision>(plan.layers[l], job.packed, memory);
    } else {
      forward<kRows, kPrecision>(plan.layers[l], job.packed, memory);
    }
    meet_in_slice();
  }
  losses<kRows, kPrecision>(plan, job, tile, per_row, memory, facts);
  if (!job.train) return;
  __syncthreads();
  float* partial = job.partials + std::size_t{blockIdx.x} * plan.layout_size;
  for (int l = plan.num_layers; l-- > 0;) {
    const LayerPlan& layer = plan.layers[l];
    add_weight_gradient<kRows, kPrecision>(layer, memory + layer.out_offset * kRows, memory + layer.in_offset * kRows,
                                           fresh, partial);
    if (l == 0) break;
    __syncthreads();
    backward<kRows, kPrecision>(layer, job.packed, memory);
    __syncthreads();
  }
}

// All tiles of this block in one step, or of a whole prediction.
template <int kRows, Precision kPrecision>
__device__ __forceinline__ void run_tiles(const NetworkPlan& plan, const Job& job, std::uint32_t begin,
                                          std::uint32_t count, float* memory, TileFacts<kRows>& facts) {
  const std::uint32_t num_tiles = (count + kRows - 1) / kRows;
  const double per_row = 1.0 / count;
  if (threadIdx.x < kRows / 8) facts.sums[threadIdx.x] = {};
  int turn = 0;
  if (blockIdx.x < num_tiles) find_rows<kRows>(plan, job, tile_at<kRows>(begin, count, blockIdx.x), facts.row[0]);
  for (std::uint32_t index = blockIdx.x; index < num_tiles; index += gridDim.x) {
    const Tile tile = tile_at<kRows>(begin, count, index);
    __syncthreads();  // the rows are known, and the tile before is done
    gather<kRows>(plan, job, tile.count, facts.row[turn], memory);
    turn ^= 1;
    const std::uint32_t next = index + gridDim.x;
    if (next < num_tiles) find_rows<kRows>(plan, job, tile_at<kRows>(begin, count, next), facts.row[turn]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    meet_in_slice();
    run_tile<kRows, kPrecision>(plan, job, tile, per_row, index == blockIdx.x, memory, facts);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    StepSums sum{};
    for (int warp = 0; warp < kRows / 8; ++warp) {
      sum.prediction += facts.sums[warp].prediction;
      sum.decision += facts.sums[warp].decision;
    }
    job.block_sums[blockIdx.x] = sum;
  }
}

template <Precision kPrecision>
__device__ __forceinline__ void adam(const Job& job, const StepNumbers& step, int position, float scale) {
  const float p = moved(job, step, position, scale);
  const std::int32_t back = job.backward_of[position];
  if (back == -2) {
    job.packed[job.forward_of[position]] = p;
  } else {
    set_packed<kPrecision>(job.packed, job.forward_of[position], p);
  }
  if (back >= 0) set_packed<kPrecision>(job.packed, back, p);
}

// Warps add up every so many blocks' gradients of kUnitPositions positions; then one thread a position.
template <int kRows, Precision kPrecision>
__device__ __forceinline__ void reduce(const NetworkPlan& plan, const Job& job, std::uint32_t step, int num_blocks,
                                       float* memory, TileFacts<kRows>& facts) {
  constexpr int kWarps = kRows / 8;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double squares = 0.0;
  for (int unit = blockIdx.x; unit * kUnitPositions < plan.layout_size; unit += gridDim.x) {
    const float* from = job.partials + unit * kUnitPositions + lane * 4;
    float4 sum = {};
#pragma unroll 8
    for (int block = warp; block < num_blocks; block += kWarps) {
      const float4 part = __ldcg(reinterpret_cast<const float4*>(from + std::size_t(block) * plan.layout_size));
      sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    }
    reinterpret_cast<float4*>(memory)[threadIdx.x] = sum;
    __syncthreads();
    for (int i = threadIdx.x; i < kUnitPositions; i += 4 * kRows) {
      const int position = unit * kUnitPositions + i;
      float total = 0.0f;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) total += memory[w * kUnitPositions + i];
      if (job.parameter_of[position] >= 0) {
        job.gradient[position] = total;
        squares += static_cast<double>(total) * total;
        if (job.clip_norm == 0.0) adam<kPrecision>(job, job.steps[step], position, 1.0f);
      }
    }
    __syncthreads();
  }
  squares = sum_of_warp(squares);
  if (lane == 0) facts.squares[warp] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0.0;
    for (int w = 0; w < kWarps; ++w) sum += facts.squares[w];
    job.block_squares[blockIdx.x] = sum;
    if (!isfinite(sum)) atomicMin(job.failed_step, job.first_step + step);
  }
  if (blockIdx.x == 0 && warp == 0) {  // the losses of the step
    set_step_sums(job.block_sums, num_blocks, job.step_sums + step);
  }
}

// After all blocks have said their part of the gradient's length. A gradient that is not finite changes nothing.
template <int kRows, Precision kPrecision>
__device__ __forceinline__ void clipped_adam(const NetworkPlan& plan, const Job& job, std::uint32_t step) {
  const double norm = gradient_norm(job.block_squares, static_cast<int>(gridDim.x));
  if (!isfinite(norm)) return;
  const float scale = static_cast<float>(norm > job.clip_norm ? job.clip_norm / norm : 1.0);
  for (int unit = blockIdx.x; unit * kUnitPositions < plan.layout_size; unit += gridDim.x) {
    for (int i = threadIdx.x; i < kUnitPositions; i += 4 * kRows) {
      const int position = unit * kUnitPositions + i;
      if (job.parameter_of[position] >= 0) adam<kPrecision>(job, job.steps[step], position, scale);
    }
  }
}

template <int kRows, Precision kPrecision>
__global__ void __launch_bounds__(4 * kRows, 128 / kRows)
    engine_kernel(const __grid_constant__ NetworkPlan plan, const __grid_constant__ Job job) {
  extern __shared__ __align__(16) float memory[];
  TileFacts<kRows>& facts = *reinterpret_cast<TileFacts<kRows>*>(memory + plan.row_floats * kRows);
  for (int i = threadIdx.x; i < plan.row_floats * kRows; i += 4 * kRows) memory[i] = 0.0f;  // what pads is never NaN
  __syncthreads();
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (std::uint32_t step = 0; step < job.num_steps; ++step) {
    const std::uint32_t begin = (job.first_step + step) * job.rows.batch;
    const std::uint32_t count = min(job.rows.batch, job.rows.num_rows - begin);
    run_tiles<kRows, kPrecision>(plan, job, begin, count, memory, facts);
    if (!job.train) return;  // a prediction is one batch
    grid.sync();
    const int used = static_cast<int>(min(gridDim.x, (count + kRows - 1) / kRows));
    reduce<kRows, kPrecision>(plan, job, step, used, memory, facts);
    if (job.clip_norm > 0.0) {
      grid.sync();
      clipped_adam<kRows, kPrecision>(plan, job, step);
    }
    grid.sync();
    // The reduction used the activations' memory, pads too.
    for (int i = threadIdx.x; i < kRows / 8 * kUnitPositions; i += 4 * kRows) memory[i] = 0.0f;
    __syncthreads();
  }
}

template <int kRows>
std::size_t bytes_of_tile(const NetworkPlan& plan) {
  return static_cast<std::size_t>(plan.row_floats) * kRows * sizeof(float) + sizeof(TileFacts<kRows>);
}

template <int kRows, Precision kPrecision>
int TileKernel<kRows, kPrecision>::blocks(const NetworkPlan& plan) {
  return held_blocks(engine_kernel<kRows, kPrecision>, 4 * kRows, bytes_of_tile<kRows>(plan));
}

template <int kRows, Precision kPrecision>
cudaError_t TileKernel<kRows, kPrecision>::run(const NetworkPlan& plan, const Job& job, int blocks,
                                               cudaStream_t stream) {
  const std::size_t bytes = bytes_of_tile<kRows>(plan);
  const auto kernel = engine_kernel<kRows, kPrecision>;
  const cudaError_t allowed = allow_all_memory(kernel);
  if (allowed != cudaSuccess) return allowed;
  void* arguments[] = {const_cast<NetworkPlan*>(&plan), const_cast<Job*>(&job)};
  if (job.train) {  // all blocks must be there at once, since they wait for each other
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(4 * kRows), arguments,
                                       bytes, stream);
  }
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(4 * kRows), arguments, bytes,
                          stream);
}

}  // namespace dfcl::nn::cuda
