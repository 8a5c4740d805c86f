// SPDX-License-Identifier: Apache-2.0
//
// What a kernel may use of a multiprocessor's shared memory, and how many of its blocks it holds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace dfcl::nn::cuda {

// All that a block can have: the same for every caller, since another thread may be about to start the same kernel.
template <class Kernel>
cudaError_t allow_all_memory(Kernel* kernel) {
  int device = 0;
  int most = 0;
  cudaFuncAttributes own{};
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&own, kernel);
  if (status != cudaSuccess) return status;
  const int dynamic = most - static_cast<int>(own.sharedSizeBytes);
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
}

// Blocks that one multiprocessor holds at a time; 0: its memory is too small.
template <class Kernel>
int held_blocks(Kernel* kernel, int threads, std::size_t bytes) {
  int held = 0;
  if (allow_all_memory(kernel) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel, threads, bytes) != cudaSuccess) {
    cudaGetLastError();  // so that the next call does not meet it again
    return 0;
  }
  return held;
}

}  // namespace dfcl::nn::cuda
