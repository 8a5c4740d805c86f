// SPDX-License-Identifier: Apache-2.0
//
// Where a tile of the heads' kernel (table_heads.cuh) keeps its numbers, and which of them a thread has.
#pragma once

#include "dfcl/nn/cuda/table_batch.cuh"

namespace dfcl::nn::cuda {

inline constexpr int kHeadThreads = 4 * kTileUnits;
inline constexpr int kHeadWarps = kHeadThreads / 32;
inline constexpr int kChunks = kCardWidth / 2 / 16;  // of 16 columns in a half
// Distances of rows in shared memory, so that fragments meet no bank twice.
inline constexpr int kHiddenStep = kCardWidth + 8;
inline constexpr int kHeadStep = kCardWidth + 16;

DFCL_INLINE constexpr int padded(int size, int step) { return (size + step - 1) / step * step; }

// Where things lie in shared memory, in floats; the outcomes, whose number is not known to the compiler, come last.
template <int kTiles>
struct HeadsMemory {
  static constexpr int kRows = padded(8 * kTiles, 16);                 // outputs
  static constexpr int kRawSize = kTileUnits * padded(kRows, 32);      // place_in_tile
  static constexpr int kSums = 0;                                      // StepSums, one a warp
  static constexpr int kHidden = kSums + 4 * kHeadWarps;               // tile: the second hidden layer
  static constexpr int kHeadsAt = kHidden + kTileUnits * kHiddenStep;  // outputs x width
  static constexpr int kScale = kHeadsAt + kRows * kHeadStep;          // width
  static constexpr int kBias = kScale + kCardWidth;                    // width
  static constexpr int kHeadBias = kBias + kCardWidth;                 // outputs
  static constexpr int kRaw = kHeadBias + kRows;                       // of each half of the columns
  static constexpr int kFacts = kRaw + 2 * kRawSize;                   // place_in_tile

  static int size(const TablePlan& plan) { return kFacts + kTileUnits * padded(plan.record_floats, 32); }
  // From the symbol, so that the compiler knows that it is shared memory.
  __device__ static __forceinline__ float* at(int offset) {
    extern __shared__ __align__(16) float heads_memory[];
    return heads_memory + offset;
  }
  __device__ static __forceinline__ StepSums& sums(int warp) { return reinterpret_cast<StepSums*>(at(kSums))[warp]; }
};

// Places of a lane in its tile.
struct HeadsLane {
  int warp = static_cast<int>(threadIdx.x) / 32;
  int g = static_cast<int>(threadIdx.x) % 32 / 4;
  int t = static_cast<int>(threadIdx.x) % 4;
  int row = warp % 4 * 16 + g;  // and 8 more
  int half = warp / 4;

  __device__ __forceinline__ int column(int chunk) const { return half * (kCardWidth / 2) + chunk * 16 + 4 * t; }
};

template <Precision kPrecision>
struct HeadsTile {
  std::uint32_t first_unit;  // in the batch
  TableBatch batch;
  int member;
  Number<kPrecision>* second;  // the tile's sums, later their slopes
};

}  // namespace dfcl::nn::cuda
