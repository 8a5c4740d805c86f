// SPDX-License-Identifier: Apache-2.0
//
// Products of row-major matrices for training: those of a layer forward, of its weights' gradient and of its inputs'
// gradient, each for one tile of rows. By kernels of our own, chosen by the kind of processor, on the calling thread
// alone; nothing is allocated, a panel of 24 KiB lies on the stack. Each number of the result is a sum over the inner
// index in its order, so that it depends on one row of a, one column of b and the kind of processor, and on nothing
// else. Float64 is for checks of gradients.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/core/processor.h"

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

// All ways of doing so that this processor knows, the one used first. For tests and benchmarks.
template <class T>
struct ProductKernel {
  core::Processor processor;
  void (*multiply)(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add, T* result,
                   std::size_t result_stride);
};
template <class T>
std::vector<ProductKernel<T>> all_product_kernels();

}  // namespace dfcl::nn
