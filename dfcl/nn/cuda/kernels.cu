// SPDX-License-Identifier: Apache-2.0
//
// One of the kernels: the build compiles this source once for each, so that they compile side by side.
#include "dfcl/nn/cuda/kernels.cuh"

namespace dfcl::nn::cuda {

template struct TileKernel<DFCL_TILE_ROWS, DFCL_PRECISION>;

}  // namespace dfcl::nn::cuda
