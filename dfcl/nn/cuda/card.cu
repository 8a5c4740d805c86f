// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "dfcl/nn/cuda/card.h"
#include "dfcl/nn/cuda/card_memory.h"

namespace dfcl::nn::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

CardAnswer find_card() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();  // so that the next call does not meet it again
    if (status == cudaErrorInsufficientDriver) {
      int needed = 0;
      int found = 0;
      cudaRuntimeGetVersion(&needed);
      cudaDriverGetVersion(&found);
      return {"", "the graphics driver is too old: it has CUDA " + version_text(found) + ", this build needs " +
                      version_text(needed)};
    }
    const bool none = status == cudaSuccess || status == cudaErrorNoDevice;
    return {"", none ? "no graphics card was found" : std::string("no graphics card: ") + cudaGetErrorString(status)};
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    cudaGetLastError();
    return {"", "the graphics card does not answer"};
  }
  if (properties.major < 8) {
    return {"", std::string("the graphics card is too old: ") + properties.name + " has compute capability " +
                    std::to_string(properties.major) + "." + std::to_string(properties.minor) + ", 8.0 is needed"};
  }
  return {properties.name, ""};
}

int num_processors() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device), "no device");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "reading its size");
  return count;
}

}  // namespace dfcl::nn::cuda
