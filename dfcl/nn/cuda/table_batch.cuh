// SPDX-License-Identifier: Apache-2.0
//
// What all kernels of a network for tables need: the batch at hand, its units, their dropout, wide reads.
#pragma once

#include "dfcl/nn/cuda/card_step.cuh"
#include "dfcl/nn/cuda/table_job.h"
#include "dfcl/nn/table/dropout_word.h"

namespace dfcl::nn::cuda {

__device__ __forceinline__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }
__device__ __forceinline__ void store4(float* to, const float4& value) { *reinterpret_cast<float4*>(to) = value; }
__device__ __forceinline__ float2 load2(const float* from) { return *reinterpret_cast<const float2*>(from); }
__device__ __forceinline__ float4 sum4(const float4& a, const float4& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

// Numbers of bf16 widen.
__device__ __forceinline__ float2 load2(const __nv_bfloat16* from) {
  return halves_of(*reinterpret_cast<const float*>(from));
}
__device__ __forceinline__ float4 load4(const __nv_bfloat16* from) {
  const float2 words = *reinterpret_cast<const float2*>(from);
  const float2 first = halves_of(words.x);
  const float2 last = halves_of(words.y);
  return {first.x, first.y, last.x, last.y};
}
__device__ __forceinline__ void store4(__nv_bfloat16* to, const float4& value) {
  *reinterpret_cast<float2*>(to) = {word_of({value.x, value.y}), word_of({value.z, value.w})};
}
__device__ __forceinline__ void store2(__nv_bfloat16* to, const float2& value) {
  *reinterpret_cast<float*>(to) = word_of(value);
}
__device__ __forceinline__ void store2(float* to, const float2& value) { *reinterpret_cast<float2*>(to) = value; }

struct TableBatch {
  std::uint32_t begin;  // place of the first unit in the order
  std::uint32_t count;
};
__device__ __forceinline__ TableBatch batch_of(const TableState& state) {
  const std::uint32_t begin = (state.first_step + state.step) * state.rows.batch;
  return {begin, min(state.rows.batch, state.rows.num_rows - begin)};
}

// The heads' own products are small: bf16 takes tf32 there.
template <Precision kPrecision>
inline constexpr Precision kOfHeads = kPrecision == Precision::fp32 ? Precision::fp32 : Precision::tf32;

// Dropout of a hidden layer: a word for every four columns of a member's unit, as on the processor.
struct TableDropout {
  std::uint32_t key, dropped, members;

  __device__ __forceinline__ std::uint32_t word(std::uint32_t unit, int member, int column) const {
    return random_word(key, (unit * members + member) * (kCardWidth / 4) + column / 4);
  }
  __device__ __forceinline__ bool keeps(std::uint32_t word, int byte) const {
    return (word >> (8 * byte) & 255u) >= dropped;
  }
};

}  // namespace dfcl::nn::cuda
