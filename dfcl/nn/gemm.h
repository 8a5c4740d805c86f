// SPDX-License-Identifier: Apache-2.0
//
// Products of row-major matrices, by OpenBLAS on the calling thread only, so that several of our threads can call at
// once and no result depends on their number. The first call of a process sets OpenBLAS to one thread.
#pragma once

#include <cstddef>

namespace dfcl::nn {

// One factor of a product; `stride` is the distance of its stored rows.
template <class T>
struct Factor {
  const T* data;
  std::size_t stride;
  bool transposed = false;
};

// result (rows x cols, row-major) = a (rows x inner) * b (inner x cols), added to the old result where `add`.
void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<float> a, Factor<float> b, bool add,
              float* result, std::size_t result_stride);
void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<double> a, Factor<double> b, bool add,
              double* result, std::size_t result_stride);

}  // namespace dfcl::nn
