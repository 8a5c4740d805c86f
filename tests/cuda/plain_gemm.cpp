// SPDX-License-Identifier: Apache-2.0
//
// The products of nn/gemm.h by plain loops, so that the processor's side of the check needs no OpenBLAS.
#include "dfcl/nn/gemm.h"

namespace dfcl::nn {
namespace {

template <class T>
void multiply_plain(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add,
                    T* result, std::size_t result_stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < inner; ++k) {
        const T left = a.transposed ? a.data[k * a.stride + i] : a.data[i * a.stride + k];
        const T right = b.transposed ? b.data[j * b.stride + k] : b.data[k * b.stride + j];
        sum += static_cast<double>(left) * static_cast<double>(right);
      }
      T& to = result[i * result_stride + j];
      to = static_cast<T>(add ? static_cast<double>(to) + sum : sum);
    }
  }
}

}  // namespace

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<float> a, Factor<float> b, bool add,
              float* result, std::size_t result_stride) {
  multiply_plain(rows, cols, inner, a, b, add, result, result_stride);
}
void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<double> a, Factor<double> b, bool add,
              double* result, std::size_t result_stride) {
  multiply_plain(rows, cols, inner, a, b, add, result, result_stride);
}

}  // namespace dfcl::nn
