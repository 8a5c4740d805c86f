// SPDX-License-Identifier: Apache-2.0
//
// From the sums of the second layer to the losses, and back to the slopes of those sums, which take their place. A
// block of threads takes tiles of 64 units of one member. Its warps stand in four slices of 16 rows and two halves of
// the columns; a lane has rows g and g + 8 of its slice and columns 4 t to 4 t + 3 of each 16, in all three products of
// the matrix units: which column a fragment's number stands for is free.
#pragma once

#include "dfcl/nn/cuda/heads_memory.cuh"
#include "dfcl/nn/cuda/unit_losses.cuh"

namespace dfcl::nn::cuda {

// Outcomes of the tile's units.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void load_facts(const TablePlan& plan, const TableJob& job,
                                           const HeadsTile<kPrecision>& tile) {
  const auto row = static_cast<int>(threadIdx.x) / 4;
  const std::uint32_t unit = tile.first_unit + row;
  const bool valid = unit < tile.batch.count;
  const float* from =
      job.records + (valid ? std::size_t{job.state->rows.row(tile.batch.begin + unit)} * plan.record_floats : 0u);
  for (int i = static_cast<int>(threadIdx.x) % 4 * 4; i < plan.record_floats; i += 16) {
    store4(HeadsMemory<kTiles>::at(HeadsMemory<kTiles>::kFacts) + place_in_tile(kTileUnits, row, i),
           valid ? load4(from + i) : float4{});
  }
}

// Chunks of the tile's sums that are on their way at the same time: as many as the registers hold.
inline constexpr int kAtOnce = kChunks / 2;
template <Precision kPrecision>
__device__ __forceinline__ void load_sums(const HeadsTile<kPrecision>& tile, const HeadsLane& lane, int first,
                                          float4 (&y)[kAtOnce][2]) {
#pragma unroll
  for (int chunk = 0; chunk < kAtOnce; ++chunk) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      y[chunk][i] = load4(tile.second + (lane.row + 8 * i) * kCardWidth + lane.column(first + chunk));
    }
  }
}

// The second hidden layer to shared memory, and its products with the heads.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void heads_forward(const TableDropout& dropout, float keep,
                                              const HeadsTile<kPrecision>& tile) {
  using Memory = HeadsMemory<kTiles>;
  const HeadsLane lane;
  float4 y[kAtOnce][2];
  float sum[kTiles][4] = {};
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (chunk % kAtOnce == 0) load_sums(tile, lane, chunk, y);
    const int column = lane.column(chunk);
    const float4 scale = load4(Memory::at(Memory::kScale) + column);
    const float4 bias = load4(Memory::at(Memory::kBias) + column);
    float4 h[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = lane.row + 8 * i;
      const std::uint32_t word = dropout.dropped > 0 ? dropout.word(tile.first_unit + row, tile.member, column) : 0u;
      const auto hidden = [&](float x, float s, float b, int byte) {
        return dropout.keeps(word, byte) ? operand<kPrecision>(fmaxf(x * s + b, 0.0f) * keep) : 0.0f;
      };
      const float4& in = y[chunk % kAtOnce][i];
      h[i] = {hidden(in.x, scale.x, bias.x, 0), hidden(in.y, scale.y, bias.y, 1), hidden(in.z, scale.z, bias.z, 2),
              hidden(in.w, scale.w, bias.w, 3)};
      store4(Memory::at(Memory::kHidden) + row * kHiddenStep + column, h[i]);
    }
    const float first[4] = {h[0].x, h[1].x, h[0].y, h[1].y};
    const float last[4] = {h[0].z, h[1].z, h[0].w, h[1].w};
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      const float4 w = load4(Memory::at(Memory::kHeadsAt) + (8 * n + lane.g) * kHeadStep + column);
      multiply_add<kOfHeads<kPrecision>>(sum[n], first, w.x, w.y);
      multiply_add<kOfHeads<kPrecision>>(sum[n], last, w.z, w.w);
    }
  }
  float* raw = Memory::at(Memory::kRaw) + lane.half * Memory::kRawSize;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    const int column = 8 * n + 2 * lane.t;
    *reinterpret_cast<float2*>(raw + place_in_tile(kTileUnits, lane.row, column)) = {sum[n][0], sum[n][1]};
    *reinterpret_cast<float2*>(raw + place_in_tile(kTileUnits, lane.row + 8, column)) = {sum[n][2], sum[n][3]};
  }
}

// Four threads a unit: raw outputs become their slopes.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void heads_losses(const TablePlan& plan, const TableJob& job,
                                             const HeadsTile<kPrecision>& tile) {
  using Memory = HeadsMemory<kTiles>;
  const auto row = static_cast<int>(threadIdx.x) / 4;
  const int quarter = static_cast<int>(threadIdx.x) % 4;
  const std::uint32_t unit = tile.first_unit + row;
  const bool valid = unit < tile.batch.count;
  float* raw = Memory::at(Memory::kRaw);
#pragma unroll
  for (int column = quarter; column < 8 * kTiles; column += 4) {
    const int place = place_in_tile(kTileUnits, row, column);
    raw[place] = raw[place] + raw[Memory::kRawSize + place] + *Memory::at(Memory::kHeadBias + column);
  }
  __syncwarp();
  const std::size_t place =
      (std::size_t{job.capacity} * tile.member + unit) * static_cast<std::size_t>(plan.loss.num_arms);
  const UnitView view{.tile_rows = kTileUnits,
                      .row = row,
                      .inputs = Memory::at(Memory::kFacts),
                      .first_fact = 0,
                      .raw = raw,
                      .valid = valid,
                      .train = job.train,
                      .revenue = job.member_revenue == nullptr ? nullptr : job.member_revenue + place,
                      .cost = job.member_cost == nullptr ? nullptr : job.member_cost + place};
  const double per_row = 1.0 / (static_cast<double>(tile.batch.count) * plan.members);
  const UnitSums sums = unit_losses(plan.loss, view, quarter, per_row);
  const double prediction = sum_of_warp(sums.prediction);
  const double decision = sum_of_warp(sums.decision);
  if (threadIdx.x % 32 == 0) {
    Memory::sums(threadIdx.x / 32).prediction += prediction;
    Memory::sums(threadIdx.x / 32).decision += decision;
  }
  __syncwarp();
#pragma unroll
  for (int column = quarter; column < 8 * kTiles; column += 4) {
    float& slope = raw[place_in_tile(kTileUnits, row, column)];
    slope = valid && column < plan.outputs ? operand_or_nan<kPrecision>(slope) : 0.0f;
  }
}

// The gradient of the heads: a warp has all outputs and 32 columns.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void add_heads_gradient(float (&sum)[(kTiles + 1) / 2][4][4]) {
  using Memory = HeadsMemory<kTiles>;
  const HeadsLane lane;
  const float* raw = Memory::at(Memory::kRaw);
#pragma unroll 2
  for (int row = 0; row < kTileUnits; row += 8) {
    const float* hidden = Memory::at(Memory::kHidden) + (row + lane.t) * kHiddenStep + lane.warp * 32 + lane.g;
    float b[4][2];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      b[j][0] = hidden[j * 8];
      b[j][1] = hidden[4 * kHiddenStep + j * 8];
    }
#pragma unroll
    for (int m = 0; m < (kTiles + 1) / 2; ++m) {
      float a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = raw[place_in_tile(kTileUnits, row + lane.t + i / 2 * 4, m * 16 + lane.g + i % 2 * 8)];
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply_add<kOfHeads<kPrecision>>(sum[m][j], a, b[j][0], b[j][1]);
    }
  }
}

// Eight numbers of each of the lanes that share t: each lane gets the sum of one, 4 x (lane / 16) + 2 x (lane / 8 % 2)
// + lane / 4 % 2.
__device__ __forceinline__ float sum_of_rows(float (&v)[8]) {
#pragma unroll
  for (int size = 4; size > 0; size /= 2) {
    const bool upper = (threadIdx.x & (4 * size)) != 0;
#pragma unroll
    for (int i = 0; i < size; ++i) {
      const float sent = upper ? v[i] : v[i + size];
      const float kept = upper ? v[i + size] : v[i];
      v[i] = kept + __shfl_xor_sync(0xffffffffu, sent, 4 * size);
    }
  }
  return v[0];
}

// Sixteen columns of the way back; y: the lane's sums. Returns the sum over the slice's rows of one gradient, of a
// scale (g below 4) or of a bias.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ float heads_back_chunk(float keep, const HeadsTile<kPrecision>& tile, const HeadsLane& lane,
                                                  int column, const float (&a)[kTiles][4], const float4 (&y)[2]) {
  using Memory = HeadsMemory<kTiles>;
  float slope[2][4] = {};
  const float* heads = Memory::at(Memory::kHeadsAt) + column - 4 * lane.t + lane.g / 2 * 4 + lane.g % 2;
#pragma unroll
  for (int k = 0; k < kTiles; ++k) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const float* w = heads + (8 * k + lane.t) * kHeadStep + 2 * q;
      multiply_add<kOfHeads<kPrecision>>(slope[q], a[k], w[0], w[4 * kHeadStep]);
    }
  }
  const float4 scale = load4(Memory::at(Memory::kScale) + column);
  float sums[8] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = lane.row + 8 * i;
    const float4 h = load4(Memory::at(Memory::kHidden) + row * kHiddenStep + column);
    const float4 passed = {h.x > 0.0f ? keep * slope[0][2 * i] : 0.0f, h.y > 0.0f ? keep * slope[0][2 * i + 1] : 0.0f,
                           h.z > 0.0f ? keep * slope[1][2 * i] : 0.0f, h.w > 0.0f ? keep * slope[1][2 * i + 1] : 0.0f};
    store4(tile.second + row * kCardWidth + column,
           {operand_or_nan<kPrecision>(passed.x * scale.x), operand_or_nan<kPrecision>(passed.y * scale.y),
            operand_or_nan<kPrecision>(passed.z * scale.z), operand_or_nan<kPrecision>(passed.w * scale.w)});
    sums[0] += passed.x * y[i].x;
    sums[1] += passed.y * y[i].y;
    sums[2] += passed.z * y[i].z;
    sums[3] += passed.w * y[i].w;
    sums[4] += passed.x;
    sums[5] += passed.y;
    sums[6] += passed.z;
    sums[7] += passed.w;
  }
  return sum_of_rows(sums);
}

// From the slopes of the raw outputs to those of the second layer's sums; total: of the scales' and biases' gradients,
// bias_sum: of the heads' biases, outputs 8 k + t and 4 more.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void heads_back(float keep, const HeadsTile<kPrecision>& tile, float (&total)[kChunks],
                                           float (&bias_sum)[kTiles][2]) {
  using Memory = HeadsMemory<kTiles>;
  const HeadsLane lane;
  float a[kTiles][4];
#pragma unroll
  for (int k = 0; k < kTiles; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      a[k][i] = *Memory::at(Memory::kRaw + place_in_tile(kTileUnits, lane.row + i % 2 * 8, 8 * k + lane.t + i / 2 * 4));
    }
    bias_sum[k][0] += a[k][0] + a[k][1];
    bias_sum[k][1] += a[k][2] + a[k][3];
  }
#pragma unroll
  for (int first = 0; first < kChunks; first += kAtOnce) {
    float4 y[kAtOnce][2];
    load_sums(tile, lane, first, y);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      total[first + i] += heads_back_chunk<kTiles, kPrecision>(keep, tile, lane, lane.column(first + i), a, y[i]);
    }
  }
}

// What a block has summed up over its tiles.
template <int kTiles>
__device__ __forceinline__ void write_heads_partial(const TablePlan& plan, const float (&bias_sum)[kTiles][2],
                                                    const float (&heads)[(kTiles + 1) / 2][4][4],
                                                    const float (&total)[kChunks], float* to) {
  const HeadsLane lane;
#pragma unroll
  for (int m = 0; m < (kTiles + 1) / 2; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int output = m * 16 + lane.g + 8 * i;
      if (output >= plan.outputs) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float* at = to + kHeads - kScale2 + output * kCardWidth + lane.warp * 32 + j * 8 + 2 * lane.t;
        *reinterpret_cast<float2*>(at) = {heads[m][j][2 * i], heads[m][j][2 * i + 1]};
      }
    }
  }
  const auto thread = static_cast<int>(threadIdx.x);
  // Over the four slices: scales, biases, biases of the heads.
  using Memory = HeadsMemory<kTiles>;
  float* slices = Memory::at(Memory::kHidden);
  const int kind = lane.g / 4;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    slices[(lane.warp % 4 * 2 + kind) * kCardWidth + lane.column(chunk) + lane.g % 4] = total[chunk];
  }
  float* of_heads = slices + 8 * kCardWidth;
#pragma unroll
  for (int k = 0; k < kTiles; ++k) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float sum = bias_sum[k][i];
      for (int distance = 4; distance < 32; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      if (lane.g == 0 && lane.half == 0) of_heads[lane.warp * 8 * kTiles + 8 * k + lane.t + 4 * i] = sum;
    }
  }
  __syncthreads();
  for (int i = thread; i < 2 * kCardWidth; i += kHeadThreads) {
    to[i] = (slices[i] + slices[2 * kCardWidth + i]) + (slices[4 * kCardWidth + i] + slices[6 * kCardWidth + i]);
  }
  if (thread < plan.outputs) {
    float sum = 0.0f;
    for (int slice = 0; slice < 4; ++slice) sum += of_heads[slice * 8 * kTiles + thread];
    to[plan.head_bias() - kScale2 + thread] = sum;
  }
}

// The member's parameters, and zeros where nothing is ever written.
template <int kTiles>
__device__ __forceinline__ void start_heads(const TablePlan& plan, const TableJob& job, int member) {
  using Memory = HeadsMemory<kTiles>;
  const auto thread = static_cast<int>(threadIdx.x);
  const float* own = job.parameters + plan.member_position(member);
  const float* packed = job.packed + plan.packed_heads(member);
  for (int i = thread; i < Memory::kRows * kCardWidth; i += kHeadThreads) {
    const int output = i / kCardWidth;
    *Memory::at(Memory::kHeadsAt + output * kHeadStep + i % kCardWidth) = output < plan.outputs ? packed[i] : 0.0f;
  }
  for (int i = thread; i < kCardWidth; i += kHeadThreads) {
    *Memory::at(Memory::kScale + i) = own[kScale2 + i];
    *Memory::at(Memory::kBias + i) = own[kBias2 + i];
  }
  for (int i = thread; i < Memory::kRows; i += kHeadThreads) {
    *Memory::at(Memory::kHeadBias + i) = i < plan.outputs ? own[plan.head_bias() + i] : 0.0f;
  }
  for (int i = thread; i < Memory::kRawSize; i += kHeadThreads) *Memory::at(Memory::kRaw + i) = 0.0f;
  if (thread < kHeadWarps) Memory::sums(thread) = {};
  __syncthreads();
}

template <int kTiles, Precision kPrecision>
__global__ void __launch_bounds__(kHeadThreads, kTiles <= 2 && kPrecision != Precision::fp32 ? 2 : 1)
    heads_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  const int member = static_cast<int>(blockIdx.x) % plan.members;
  const int slot = static_cast<int>(blockIdx.x) / plan.members;
  start_heads<kTiles>(plan, job, member);
  const TableDropout dropout{job.train ? job.steps[job.state->step].second_key : 0u, job.train ? job.dropped : 0u,
                             static_cast<std::uint32_t>(plan.members)};
  const float keep = job.train ? job.keep : 1.0f;
  const TableBatch batch = batch_of(*job.state);
  float heads_sum[(kTiles + 1) / 2][4][4] = {};
  float total[kChunks] = {};
  float bias_sum[kTiles][2] = {};
  for (std::uint32_t first = slot * kTileUnits; first < job.capacity; first += job.head_slots * kTileUnits) {
    const HeadsTile<kPrecision> tile{
        first, batch, member,
        numbers<kPrecision>(job.second) + (std::size_t{job.capacity} * member + first) * kCardWidth};
    load_facts<kTiles, kPrecision>(plan, job, tile);
    heads_forward<kTiles, kPrecision>(dropout, keep, tile);
    __syncthreads();
    heads_losses<kTiles, kPrecision>(plan, job, tile);
    __syncthreads();
    if (!job.train) continue;
    add_heads_gradient<kTiles, kPrecision>(heads_sum);
    heads_back<kTiles, kPrecision>(keep, tile, total, bias_sum);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    StepSums sum{};
    for (int warp = 0; warp < kHeadWarps; ++warp) {
      sum.prediction += HeadsMemory<kTiles>::sums(warp).prediction;
      sum.decision += HeadsMemory<kTiles>::sums(warp).decision;
    }
    job.block_sums[blockIdx.x] = sum;
  }
  if (!job.train) return;
  float* partial = job.head_partials + std::size_t{blockIdx.x} * (plan.member_size - kScale2);
  write_heads_partial<kTiles>(plan, bias_sum, heads_sum, total, partial);
}

}  // namespace dfcl::nn::cuda
