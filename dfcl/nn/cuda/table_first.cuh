// SPDX-License-Identifier: Apache-2.0
//
// The first layer of a network for tables on a card, around its products: units as sparse rows, and from the layer's
// sums to the members' hidden layers and back.
#pragma once

#include "dfcl/nn/cuda/table_batch.cuh"

namespace dfcl::nn::cuda {

inline constexpr int kEncodeWarps = 8;
// Numbers of a unit that a warp puts together in shared memory at a time.
inline constexpr int kSegment = 2048;

// One warp a unit: the shares of its rows of values, and zeros.
template <Precision kPrecision>
__global__ void __launch_bounds__(32 * kEncodeWarps)
    encode_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  extern __shared__ __align__(16) float segments[];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  float* own = segments + warp * kSegment;
  for (int i = lane; i < kSegment; i += 32) own[i] = 0.0f;
  const TableBatch batch = batch_of(*job.state);
  for (std::uint32_t unit = blockIdx.x * kEncodeWarps + warp; unit < job.padded; unit += gridDim.x * kEncodeWarps) {
    const bool valid = unit < batch.count;
    const auto* lookups = reinterpret_cast<const uint2*>(job.lookups) +
                          (valid ? std::size_t{job.state->rows.row(batch.begin + unit)} * plan.num_columns : 0u);
    Number<kPrecision>* to = numbers<kPrecision>(job.encoded) + std::size_t{unit} * plan.encoded;
    for (int first = 0; first < plan.encoded; first += kSegment) {
      const int size = min(kSegment, plan.encoded - first);
      __syncwarp();
      for (int column = lane; valid && column < plan.num_columns; column += 32) {
        const uint2 lookup = __ldg(lookups + column);
        const int at = static_cast<int>(lookup.x) - first;
        const float share = __uint_as_float(lookup.y);
        if (at >= 0 && at < size) own[at] = operand<kPrecision>(1.0f - share);
        if (share != 0.0f && at + 1 >= 0 && at + 1 < size) own[at + 1] = operand<kPrecision>(share);
      }
      __syncwarp();
      for (int i = lane * 4; i < size; i += 128) {
        store4(to + first + i, load4(own + i));
        store4(own + i, {});
      }
    }
  }
}

// Four units at a time of one member, a thread for every four columns.
template <Precision kPrecision>
__global__ void __launch_bounds__(256)
    first_forward_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  constexpr int kQuads = kCardWidth / 4;
  const auto member = static_cast<int>(blockIdx.x);  // neighbours read the same sums
  const int column = static_cast<int>(threadIdx.x) % kQuads * 4;
  const float* own = job.parameters + plan.member_position(member) + column;
  const float4 scale = load4(own);
  const float4 bias = load4(own + kCardWidth);
  const float4 sign = load4(own + 2 * kCardWidth);
  const float4 start = load4(job.parameters + plan.shared_size + std::size_t(plan.num_weights) * kCardWidth + column);
  const TableDropout dropout{job.train ? job.steps[job.state->step].first_key : 0u, job.train ? job.dropped : 0u,
                             static_cast<std::uint32_t>(plan.members)};
  const float keep = job.train ? job.keep : 1.0f;
  const std::uint32_t count = batch_of(*job.state).count;
  Number<kPrecision>* to = numbers<kPrecision>(job.hidden) + std::size_t{job.capacity} * member * kCardWidth + column;
#pragma unroll 4
  for (std::uint32_t unit = blockIdx.y * 4 + threadIdx.x / kQuads; unit < job.capacity; unit += gridDim.y * 4) {
    const float4 in = sum4(load4(job.sums + std::size_t{unit} * kCardWidth + column), start);
    const std::uint32_t word = dropout.dropped > 0 ? dropout.word(unit, member, column) : 0u;
    const auto hidden = [&](float x, float s, float b, float last, int byte) {
      const float value = dropout.keeps(word, byte) ? fmaxf(x * s + b, 0.0f) * keep : 0.0f;
      return unit < count ? operand<kPrecision>(value * last) : 0.0f;
    };
    store4(to + std::size_t{unit} * kCardWidth,
           {hidden(in.x, scale.x, bias.x, sign.x, 0), hidden(in.y, scale.y, bias.y, sign.y, 1),
            hidden(in.z, scale.z, bias.z, sign.z, 2), hidden(in.w, scale.w, bias.w, sign.w, 3)});
  }
}

// Two columns of the layer: the parameters of some members, and over units the sums of what passes and of it times the
// layer's sums, from which the gradients of all three parameters follow.
struct FirstBack {
  float2 scale[kMembersAtOnce], bias[kMembersAtOnce], sign[kMembersAtOnce];
  float2 passed[kMembersAtOnce], product[kMembersAtOnce];
  int first;  // member
  int count;

  __device__ __forceinline__ void start(const TablePlan& plan, const TableJob& job, int first_member, int column) {
    first = first_member;
    count = min(kMembersAtOnce, plan.members - first);
#pragma unroll
    for (int member = 0; member < kMembersAtOnce; ++member) {
      const float* own = job.parameters + plan.member_position(first + min(member, count - 1)) + column;
      scale[member] = load2(own);
      bias[member] = load2(own + kCardWidth);
      sign[member] = load2(own + 2 * kCardWidth);
      passed[member] = product[member] = {0.0f, 0.0f};
    }
  }
  // The slope of the unit's sums by these members.
  template <Precision kPrecision>
  __device__ __forceinline__ float2 add(const TableJob& job, const TableDropout& dropout, std::uint32_t unit,
                                        int column, float2 in) {
    const Number<kPrecision>* from =
        numbers<kPrecision>(job.hidden) + (std::size_t{job.capacity} * first + unit) * kCardWidth + column;
    float2 slope[kMembersAtOnce];
#pragma unroll
    for (int member = 0; member < kMembersAtOnce; ++member) {
      if (member < count) slope[member] = load2(from + std::size_t{job.capacity} * member * kCardWidth);
    }
    float2 total = {0.0f, 0.0f};
#pragma unroll
    for (int member = 0; member < kMembersAtOnce; ++member) {
      if (member >= count) break;
      const std::uint32_t word = dropout.dropped > 0 ? dropout.word(unit, first + member, column) : 0u;
      const auto pass = [&](float x, float s, float b, float by, int byte) {
        return x * s + b > 0.0f && dropout.keeps(word, byte) ? job.keep * by : 0.0f;
      };
      const float2 here = {pass(in.x, scale[member].x, bias[member].x, slope[member].x, column % 4),
                           pass(in.y, scale[member].y, bias[member].y, slope[member].y, column % 4 + 1)};
      passed[member] = {passed[member].x + here.x, passed[member].y + here.y};
      product[member] = {product[member].x + here.x * in.x, product[member].y + here.y * in.y};
      total = {total.x + here.x * sign[member].x * scale[member].x,
               total.y + here.y * sign[member].y * scale[member].y};
    }
    return total;
  }
};

inline constexpr int kBackThreads = 256;
using OtherHalf = float2[2 * kMembersAtOnce][kCardWidth / 2];

// What a block has summed up over its units; `other`: what the second half of its threads has.
__device__ __forceinline__ void write_first_partial(const TablePlan& plan, const TableJob& job, const FirstBack& back,
                                                    int pair, const OtherHalf& other) {
#pragma unroll
  for (int member = 0; member < kMembersAtOnce; ++member) {
    if (member >= back.count) break;
    const float2 p = {back.passed[member].x + other[2 * member][pair].x,
                      back.passed[member].y + other[2 * member][pair].y};
    const float2 q = {back.product[member].x + other[2 * member + 1][pair].x,
                      back.product[member].y + other[2 * member + 1][pair].y};
    const float2 scale = back.scale[member];
    const float2 shift = back.bias[member];
    const float2 sign = back.sign[member];
    const std::size_t place = std::size_t{blockIdx.x} * plan.members + back.first + member;
    float* to = job.first_partials + place * kScale2 + 2 * pair;
    *reinterpret_cast<float2*>(to) = {sign.x * q.x, sign.y * q.y};
    *reinterpret_cast<float2*>(to + kCardWidth) = {sign.x * p.x, sign.y * p.y};
    *reinterpret_cast<float2*>(to + 2 * kCardWidth) = {scale.x * q.x + shift.x * p.x, scale.y * q.y + shift.y * p.y};
  }
}

// Two units at a time, some members after the others.
template <Precision kPrecision>
__global__ void __launch_bounds__(kBackThreads, 2)
    first_back_kernel(const __grid_constant__ TablePlan plan, const __grid_constant__ TableJob job) {
  __shared__ OtherHalf other;
  const int pair = static_cast<int>(threadIdx.x) % (kCardWidth / 2);
  const int half = static_cast<int>(threadIdx.x) / (kCardWidth / 2);
  const int column = pair * 2;
  const float2 bias = load2(job.parameters + plan.shared_size + std::size_t(plan.num_weights) * kCardWidth + column);
  const TableDropout dropout{job.steps[job.state->step].first_key, job.dropped,
                             static_cast<std::uint32_t>(plan.members)};
  const std::uint32_t count = batch_of(*job.state).count;
  for (int first = 0; first < plan.members; first += kMembersAtOnce) {
    FirstBack back;
    back.start(plan, job, first, column);
    const bool last = first + kMembersAtOnce >= plan.members;
    for (std::uint32_t unit = blockIdx.x * 2 + half; unit < job.padded; unit += gridDim.x * 2) {
      const std::size_t place = std::size_t{unit} * kCardWidth + column;
      Number<kPrecision>* to = numbers<kPrecision>(job.sums_slopes) + place;
      float2 slope = {0.0f, 0.0f};
      if (unit < count) {
        const float2 in = load2(job.sums + place);
        slope = back.add<kPrecision>(job, dropout, unit, column, {in.x + bias.x, in.y + bias.y});
        if (first > 0) {
          const float2 before = load2(to);
          slope = {before.x + slope.x, before.y + slope.y};
        }
        if (last) slope = {operand_or_nan<kPrecision>(slope.x), operand_or_nan<kPrecision>(slope.y)};
      }
      store2(to, slope);
    }
    if (half == 1) {
#pragma unroll
      for (int member = 0; member < kMembersAtOnce; ++member) {
        other[2 * member][pair] = back.passed[member];
        other[2 * member + 1][pair] = back.product[member];
      }
    }
    __syncthreads();
    if (half == 0) write_first_partial(plan, job, back, pair, other);
    __syncthreads();
  }
}

}  // namespace dfcl::nn::cuda
