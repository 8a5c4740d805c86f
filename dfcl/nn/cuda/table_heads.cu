// SPDX-License-Identifier: Apache-2.0
//
// The build compiles this source once for each precision.
#include "dfcl/nn/cuda/launch.h"
#include "dfcl/nn/cuda/table_heads.cuh"

namespace dfcl::nn::cuda {
namespace {

template <class Body>
auto with_tiles(const TablePlan& plan, Body&& body) {
  if (plan.outputs <= 8) return body(std::integral_constant<int, 1>());
  if (plan.outputs <= 16) return body(std::integral_constant<int, 2>());
  if (plan.outputs <= 32) return body(std::integral_constant<int, 4>());
  return body(std::integral_constant<int, 8>());
}

}  // namespace

template <Precision kPrecision>
int HeadsKernel<kPrecision>::blocks(const TablePlan& plan) {
  return with_tiles(plan, [&](auto tiles) {
    constexpr int kTiles = decltype(tiles)::value;
    return held_blocks(heads_kernel<kTiles, kPrecision>, kHeadThreads, HeadsMemory<kTiles>::size(plan) * sizeof(float));
  });
}

template <Precision kPrecision>
cudaError_t HeadsKernel<kPrecision>::run(const TablePlan& plan, const TableJob& job, cudaStream_t stream) {
  return with_tiles(plan, [&](auto tiles) {
    constexpr int kTiles = decltype(tiles)::value;
    const std::size_t bytes = HeadsMemory<kTiles>::size(plan) * sizeof(float);
    heads_kernel<kTiles, kPrecision><<<job.head_slots * plan.members, kHeadThreads, bytes, stream>>>(plan, job);
    return cudaGetLastError();
  });
}

template struct HeadsKernel<DFCL_PRECISION>;

}  // namespace dfcl::nn::cuda
