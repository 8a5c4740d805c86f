// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of one tile of rows, by the matrix units (mma m16n8k8 of tf32, m16n8k16 of bf16: in words both take
// the same places). Warps stand in kRows / 32 slices of
// 32 rows and kAcross columns. Activations lie in shared memory as place_in_tile says, so that distances are known to
// the compiler; weights come packed from the memory of the card through its caches. The order of the sums is fixed.
#pragma once

#include <cuda_bf16.h>

#include "dfcl/nn/cuda/plan.h"

namespace dfcl::nn::cuda {

__device__ __forceinline__ void mma(float (&sum)[4], const float (&a)[4], float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// A word of each is two numbers.
__device__ __forceinline__ void mma_bf16(float (&sum)[4], const float (&a)[4], float b0, float b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
__device__ __forceinline__ float word_of(float2 x) {
  const __nv_bfloat162 both = __float22bfloat162_rn(x);
  return __uint_as_float(*reinterpret_cast<const std::uint32_t*>(&both));
}
__device__ __forceinline__ float2 halves_of(float word) {
  const std::uint32_t bits = __float_as_uint(word);
  return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u)};
}

// fp32: x = high + low, both of tf32 (the units cut low, where NaN stays NaN), and the three larger products of the
// parts; tf32: x is of it already; bf16: x is two numbers of it.
template <Precision kPrecision>
__device__ __forceinline__ void multiply_add(float (&sum)[4], const float (&a)[4], float b0, float b1) {
  if constexpr (kPrecision == Precision::bf16) {
    mma_bf16(sum, a, b0, b1);
  } else if constexpr (kPrecision == Precision::tf32) {
    mma(sum, a, b0, b1);
  } else {
    float high[4];
    float low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      high[i] = rounded_number(a[i]);
      low[i] = a[i] - high[i];
    }
    const float high0 = rounded_number(b0);
    const float high1 = rounded_number(b1);
    mma(sum, low, high0, high1);
    mma(sum, high, b0 - high0, b1 - high1);
    mma(sum, high, high0, high1);
  }
}

// What products take.
template <Precision kPrecision>
__device__ __forceinline__ float operand(float x) {
  return kPrecision == Precision::fp32 ? x : rounded_number(x);
}
template <Precision kPrecision>
__device__ __forceinline__ float operand_or_nan(float x) {
  return kPrecision == Precision::fp32 ? x : rounded_to_tf32(x);
}

// Four matrices of 8 rows x 4 columns, each lane naming a row of one by its address in shared memory: a whole fragment
// of 16 rows x 8 columns.
__device__ __forceinline__ void load_fragment(std::uint32_t address, float (&fragment)[4]) {
  std::uint32_t bits[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
               : "r"(address));
#pragma unroll
  for (int i = 0; i < 4; ++i) fragment[i] = __uint_as_float(bits[i]);
}

// Eight inputs of 32 rows.
__device__ __forceinline__ void load_fragments(std::uint32_t address, float (&fragments)[2][4]) {
  constexpr std::uint32_t kSlice = 16 * 32 * sizeof(float);
#pragma unroll
  for (int m = 0; m < 2; ++m) load_fragment(address + m * kSlice, fragments[m]);
}

// By the first half of a pair's weights, or the second.
template <int kHalf, int kBlocks, Precision kPrecision>
__device__ __forceinline__ void multiply_half(const float (&a)[2][4], const float4 (&w)[kBlocks],
                                              float (&sum)[2][kBlocks][4]) {
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      multiply_add<kPrecision>(sum[m][j], a[m], kHalf == 0 ? w[j].x : w[j].z, kHalf == 0 ? w[j].y : w[j].w);
    }
  }
}

// One warp: 32 rows x kBlocks blocks of 8 columns from `first` on; columns beyond num_blocks are computed from the last
// one and dropped. `begin(column)` gives the sums' start of two columns, `end(row, column, float2)` takes the results;
// where it has them, `end.start_columns(column)` comes before the results of two columns and
// `end.finish_columns(column)` after them. The pair of 8 inputs to start with is even.
template <int kRows, int kBlocks, Precision kPrecision, int kAcross = 4, class Begin, class End>
__device__ __forceinline__ void multiply_chunk(const float* a, const float4* packed, int k_pairs, int pair,
                                               int pair_end, int first, int num_blocks, Begin&& begin, End&& end) {
  const int lane = threadIdx.x % 32;
  const int slice = threadIdx.x / (32 * kAcross) * 32;
  const int g = lane / 4;
  const int t = lane % 4;
  float sum[2][kBlocks][4];
  const float4* weights[kBlocks];
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    const int block = min(first + j, num_blocks - 1);
    const float2 start = begin(block * 8 + 2 * t);
    weights[j] = packed + (block * k_pairs + pair) * 32 + lane;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      sum[m][j][0] = sum[m][j][2] = start.x;
      sum[m][j][1] = sum[m][j][3] = start.y;
    }
  }
  // Of a block of 32 columns, the four places that hold the lane's row, in bytes.
  constexpr std::uint32_t kBlockBytes = kRows * 32 * sizeof(float);
  std::uint32_t places[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = (i * 8 + lane / 16 * 4) ^ permutation_of(lane);
    places[i] = static_cast<std::uint32_t>(__cvta_generic_to_shared(a + (slice + lane % 16) * 32 + column)) +
                pair / 2 * kBlockBytes;
  }
  float4 even[kBlocks];
  float4 odd[kBlocks];
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) even[j] = weights[j][0];
  // While one half is multiplied, the rows' next eight inputs are on their way.
  float current[2][4];
  float next[2][4];
  load_fragments(places[0], current);
  for (; pair + 1 < pair_end; pair += 2) {
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) odd[j] = weights[j][32];
    load_fragments(places[1], next);
    multiply_half<0, kBlocks, kPrecision>(current, even, sum);
    load_fragments(places[2], current);
    multiply_half<1, kBlocks, kPrecision>(next, even, sum);
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      even[j] = weights[j][64];
      weights[j] += 64;
    }
    load_fragments(places[3], next);
    multiply_half<0, kBlocks, kPrecision>(current, odd, sum);
    const std::uint32_t ahead = pair + 2 < pair_end ? kBlockBytes : 0u;  // not beyond the last block
#pragma unroll
    for (int i = 0; i < 4; ++i) places[i] += ahead;
    load_fragments(places[0], current);
    multiply_half<1, kBlocks, kPrecision>(next, odd, sum);
  }
  if (pair < pair_end) {
    load_fragments(places[1], next);
    multiply_half<0, kBlocks, kPrecision>(current, even, sum);
    multiply_half<1, kBlocks, kPrecision>(next, even, sum);
  }
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    if (first + j >= num_blocks) break;
    const int column = (first + j) * 8 + 2 * t;
    if constexpr (requires { end.start_columns(column); }) end.start_columns(column);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const int row = slice + m * 16 + g;
      end(row, column, make_float2(sum[m][j][0], sum[m][j][1]));
      end(row + 8, column, make_float2(sum[m][j][2], sum[m][j][3]));
    }
    if constexpr (requires { end.finish_columns(column); }) end.finish_columns(column);
  }
}

// results (rows x 8 num_blocks) = a (rows x 16 k_pairs words) times packed. Blocks on the diagonal: columns of one
// group of `columns_per_group` have inputs only among the `inputs_per_group` of their group.
template <int kRows, Precision kPrecision, int kAcross = 4, class Begin, class End>
__device__ __forceinline__ void multiply_rows(const float* a, const float* packed, int k_pairs, int num_blocks,
                                              int groups, int columns_per_group, int inputs_per_group, Begin&& begin,
                                              End&& end) {
  const float4* weights = reinterpret_cast<const float4*>(packed);
  const int across = threadIdx.x / 32 % kAcross;
  const int chunk = num_blocks <= kAcross ? 1 : num_blocks <= 2 * kAcross ? 2 : 4;
  for (int first = across * chunk; first < num_blocks; first += kAcross * chunk) {
    int pair = 0;
    int pair_end = k_pairs;
    if (groups > 1) {
      const int last_column = min((first + chunk) * 8, groups * columns_per_group) - 1;
      constexpr int kPair = 16 * columns_per_word(kPrecision);
      pair = min(first * 8 / columns_per_group, groups - 1) * inputs_per_group / (2 * kPair) * 2;
      pair_end = min(k_pairs, ((last_column / columns_per_group + 1) * inputs_per_group + kPair - 1) / kPair);
    }
    if (chunk == 4) {
      multiply_chunk<kRows, 4, kPrecision, kAcross>(a, weights, k_pairs, pair, pair_end, first, num_blocks, begin, end);
    } else if (chunk == 2) {
      multiply_chunk<kRows, 2, kPrecision, kAcross>(a, weights, k_pairs, pair, pair_end, first, num_blocks, begin, end);
    } else {
      multiply_chunk<kRows, 1, kPrecision, kAcross>(a, weights, k_pairs, pair, pair_end, first, num_blocks, begin, end);
    }
  }
}

// Adds in the second-level cache, without waiting. Only this thread ever writes there, so the order is that of its
// steps.
__device__ __forceinline__ void add_to(float4* to, const float4& part) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(part.x), "f"(part.y), "f"(part.z),
               "f"(part.w)
               : "memory");
#else
  const float4 old = *to;
  *to = make_float4(old.x + part.x, old.y + part.y, old.z + part.z, old.w + part.w);
#endif
}

// One warp: 16 kSlices outputs x 32 inputs of the gradient of a layer's weights, summed over the rows of the tile and
// added to `to` (outputs x k32; stored where `fresh`). Which output and input a row and a column of a fragment stand
// for is free: those of a lane are neighbours, so that it reads two outputs or four inputs at once and writes eight
// inputs.
template <int kRows, int kSlices, Precision kPrecision>
__device__ __forceinline__ void weight_gradient_chunk(const float* slope, const float* input, int k32, int output,
                                                      int first_input, bool fresh, float* to) {
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  // Rows t and t + 4; eight rows on, the places are the same but for a constant.
  const float* a_place[kSlices][2];
  const float* b_place[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int m = 0; m < kSlices; ++m) {
      a_place[m][i] = slope + place_in_tile(kRows, t + i * 4, output + m * 16 + 2 * g);
    }
    b_place[i] = input + place_in_tile(kRows, t + i * 4, first_input + 4 * g);
  }
  float sum[kSlices][4][4] = {};
#pragma unroll
  for (int row = 0; row < kRows; row += 8) {
    float2 a[kSlices][2];
    float4 b[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int m = 0; m < kSlices; ++m) a[m][i] = *reinterpret_cast<const float2*>(a_place[m][i] + row * 32);
      b[i] = *reinterpret_cast<const float4*>(b_place[i] + row * 32);
    }
#pragma unroll
    for (int m = 0; m < kSlices; ++m) {
      const float fragment[4] = {a[m][0].x, a[m][0].y, a[m][1].x, a[m][1].y};
      multiply_add<kPrecision>(sum[m][0], fragment, b[0].x, b[1].x);
      multiply_add<kPrecision>(sum[m][1], fragment, b[0].y, b[1].y);
      multiply_add<kPrecision>(sum[m][2], fragment, b[0].z, b[1].z);
      multiply_add<kPrecision>(sum[m][3], fragment, b[0].w, b[1].w);
    }
  }
  // Of outputs 2 g and 2 g + 1, inputs 8 t to 8 t + 7: the sums of column 2 t, then those of 2 t + 1.
  float* const first = to + (output + 2 * g) * k32 + first_input + 8 * t;
  const auto for_each_part = [&](auto&& body) {
#pragma unroll
    for (int m = 0; m < kSlices; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        body(reinterpret_cast<float4*>(first + (m * 16 + i / 2) * k32) + i % 2,
             make_float4(sum[m][0][i], sum[m][1][i], sum[m][2][i], sum[m][3][i]));
      }
    }
  };
  if (fresh) {
    for_each_part([](float4* place, const float4& part) { *place = part; });
  } else {
    for_each_part([](float4* place, const float4& part) { add_to(place, part); });
  }
}

// Four matrices of 8 rows x 8 numbers of bf16, transposed: a lane gets two rows of one column of each.
__device__ __forceinline__ void load_transposed(std::uint32_t address, float (&fragment)[4]) {
  std::uint32_t bits[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
               : "r"(address));
#pragma unroll
  for (int i = 0; i < 4; ++i) fragment[i] = __uint_as_float(bits[i]);
}

// weight_gradient_chunk of bf16: products over 16 rows at a time.
template <int kRows, int kSlices>
__device__ __forceinline__ void weight_gradient_halves(const float* slope, const float* input, int k32, int output,
                                                       int first_input, bool fresh, float* to) {
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  // The lane names a row of one of the matrices: of slopes, outputs change first; of inputs, rows do.
  std::uint32_t a_place[kSlices];
  std::uint32_t b_place[2];
#pragma unroll
  for (int m = 0; m < kSlices; ++m) {
    const int word = (output + m * 16) / 2 + lane / 8 % 2 * 4;
    a_place[m] = static_cast<std::uint32_t>(
        __cvta_generic_to_shared(slope + place_in_tile(kRows, lane % 8 + lane / 16 * 8, word)));
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int word = (first_input + j * 16) / 2 + lane / 16 * 4;
    b_place[j] = static_cast<std::uint32_t>(
        __cvta_generic_to_shared(input + place_in_tile(kRows, lane % 8 + lane / 8 % 2 * 8, word)));
  }
  float sum[kSlices][4][4] = {};
#pragma unroll 2
  for (int row = 0; row < kRows; row += 16) {
    float a[kSlices][4];
    float b[2][4];
#pragma unroll
    for (int j = 0; j < 2; ++j) load_transposed(b_place[j] + row * 32 * sizeof(float), b[j]);
#pragma unroll
    for (int m = 0; m < kSlices; ++m) load_transposed(a_place[m] + row * 32 * sizeof(float), a[m]);
#pragma unroll
    for (int m = 0; m < kSlices; ++m) {
#pragma unroll
      for (int j = 0; j < 4; ++j) mma_bf16(sum[m][j], a[m], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int m = 0; m < kSlices; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      // A lane has two neighbouring inputs of each block of 8. Two lanes share two blocks: each gets four of one.
      const bool odd = t % 2 != 0;
      float* const first = to + (output + m * 16 + g + 8 * i) * k32 + first_input + t / 2 * 4 + (odd ? 8 : 0);
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        const float2 lower = {sum[m][j][2 * i], sum[m][j][2 * i + 1]};
        const float2 upper = {sum[m][j + 1][2 * i], sum[m][j + 1][2 * i + 1]};
        const float2 other = {__shfl_xor_sync(0xffffffffu, odd ? lower.x : upper.x, 1),
                              __shfl_xor_sync(0xffffffffu, odd ? lower.y : upper.y, 1)};
        auto* const place = reinterpret_cast<float4*>(first + j * 8);
        const float4 part =
            odd ? float4{other.x, other.y, upper.x, upper.y} : float4{lower.x, lower.y, other.x, other.y};
        if (fresh) {
          *place = part;
        } else {
          add_to(place, part);
        }
      }
    }
  }
}

// Of bf16: four neighbours take two outputs, every fourth row each. Eight words of a warp, so that no bank is met
// twice.
template <int kRows>
__device__ __forceinline__ void add_bias_halves(int outputs, const float* slope, bool fresh, float* to) {
  const int quarter = static_cast<int>(threadIdx.x) % 4;
  for (int first = static_cast<int>(blockDim.x / 32 - 1 - threadIdx.x / 32) * 8; 2 * first < outputs;
       first += static_cast<int>(blockDim.x) / 4) {
    const int word = first + static_cast<int>(threadIdx.x) % 32 / 4;
    float2 sums[2] = {};
#pragma unroll 4
    for (int row = 0; row < kRows; row += 8) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float2 both = halves_of(slope[place_in_tile(kRows, quarter + 4 * i, word) + row * 32]);
        sums[i] = {sums[i].x + both.x, sums[i].y + both.y};
      }
    }
    float2 sum = {sums[0].x + sums[1].x, sums[0].y + sums[1].y};
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      sum.x += __shfl_xor_sync(0xffffffffu, sum.x, distance);
      sum.y += __shfl_xor_sync(0xffffffffu, sum.y, distance);
    }
    if (quarter != 0 || 2 * word >= outputs) continue;
    to[2 * word] = fresh ? sum.x : to[2 * word] + sum.x;
    to[2 * word + 1] = fresh ? sum.y : to[2 * word + 1] + sum.y;  // biases are padded to 16
  }
}

// From the last warps on: the first have one chunk of weights more where those do not come out even.
template <int kRows>
__device__ __forceinline__ void add_bias_gradient(int outputs, const float* slope, bool fresh, float* to) {
  for (int n = static_cast<int>(blockDim.x - 1 - threadIdx.x); n < outputs; n += static_cast<int>(blockDim.x)) {
    float sums[8] = {};
#pragma unroll 4
    for (int row = 0; row < kRows; row += 8) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] += slope[place_in_tile(kRows, i, n) + row * 32];
    }
    const float sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    to[n] = fresh ? sum : to[n] + sum;
  }
}

// The gradient of a layer's weights and biases from the slopes of its sums, added to the block's own `partial`.
template <int kRows, Precision kPrecision>
__device__ __forceinline__ void add_weight_gradient(const LayerPlan& layer, const float* slope, const float* input,
                                                    bool fresh, float* partial) {
  constexpr int kWarps = kRows / 8;
  constexpr bool kTall = kPrecision != Precision::fp32;
  const int warp = threadIdx.x / 32;
  const int across = layer.k32 / 32;
  // As tall as leaves every warp something to do; with fp32, four slices do not fit the registers.
  const auto fills = [&](int height) { return layer.n16 % height == 0 && layer.n16 / height * across >= kWarps; };
  const int height = kTall && fills(64) ? 64 : fills(32) ? 32 : 16;
  const int chunks = layer.n16 / height * across;
  for (int chunk = warp; chunk < chunks; chunk += kWarps) {
    const int output = chunk / across * height;
    const int first_input = chunk % across * 32;
    if (layer.groups > 1) {  // nothing lies off the diagonal
      const int first_group = output / layer.group_outputs;
      const int last_group = min(output + height - 1, layer.outputs - 1) / layer.group_outputs;
      if ((first_input + 31) / layer.group_inputs < first_group || first_input / layer.group_inputs > last_group) {
        continue;
      }
    }
    float* const to = partial + layer.weight;
    if constexpr (kPrecision == Precision::bf16) {
      if (height == 64) {
        weight_gradient_halves<kRows, kTall ? 4 : 2>(slope, input, layer.k32, output, first_input, fresh, to);
      } else if (height == 32) {
        weight_gradient_halves<kRows, 2>(slope, input, layer.k32, output, first_input, fresh, to);
      } else {
        weight_gradient_halves<kRows, 1>(slope, input, layer.k32, output, first_input, fresh, to);
      }
    } else if (kTall && height == 64) {
      weight_gradient_chunk<kRows, kTall ? 4 : 1, kPrecision>(slope, input, layer.k32, output, first_input, fresh, to);
    } else if (height == 32) {
      weight_gradient_chunk<kRows, 2, kPrecision>(slope, input, layer.k32, output, first_input, fresh, to);
    } else {
      weight_gradient_chunk<kRows, 1, kPrecision>(slope, input, layer.k32, output, first_input, fresh, to);
    }
  }
  if constexpr (kPrecision == Precision::bf16) {
    add_bias_halves<kRows>(layer.outputs, slope, fresh, partial + layer.bias);
  } else {
    add_bias_gradient<kRows>(layer.outputs, slope, fresh, partial + layer.bias);
  }
}

}  // namespace dfcl::nn::cuda
