// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::nn {
namespace {

void use_one_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

CBLAS_TRANSPOSE order_of(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

blasint size_of(std::size_t n) { return static_cast<blasint>(n); }

}  // namespace

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<float> a, Factor<float> b, bool add,
              float* result, std::size_t result_stride) {
  use_one_thread();
  cblas_sgemm(CblasRowMajor, order_of(a.transposed), order_of(b.transposed), size_of(rows), size_of(cols),
              size_of(inner), 1.0f, a.data, size_of(a.stride), b.data, size_of(b.stride), add ? 1.0f : 0.0f, result,
              size_of(result_stride));
}

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<double> a, Factor<double> b, bool add,
              double* result, std::size_t result_stride) {
  use_one_thread();
  cblas_dgemm(CblasRowMajor, order_of(a.transposed), order_of(b.transposed), size_of(rows), size_of(cols),
              size_of(inner), 1.0, a.data, size_of(a.stride), b.data, size_of(b.stride), add ? 1.0 : 0.0, result,
              size_of(result_stride));
}

template <class T>
std::size_t steady_rows(std::size_t rows, std::size_t cols, std::size_t inner, bool transposed) {
  core::RandomStream random(0, core::stream_purpose("steady rows"), rows);
  std::vector<T> a(rows * inner);
  std::vector<T> b(inner * cols);
  std::vector<T> result(rows * cols);
  for (T& value : a) value = static_cast<T>(random.uniform(-1.0, 1.0));
  for (std::size_t k = 0; k < inner; ++k) {
    const T value = static_cast<T>(random.uniform(-1.0, 1.0));
    for (std::size_t j = 0; j < cols; ++j) b[transposed ? j * inner + k : k * cols + j] = value;
  }
  const auto is_steady = [&](std::size_t block) {
    for (std::size_t first = 0; first < rows; first += block) {
      multiply(std::min(block, rows - first), cols, inner, Factor<T>{a.data() + first * inner, inner},
               Factor<T>{b.data(), transposed ? inner : cols, transposed}, false, result.data() + first * cols, cols);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const T* row = result.data() + i * cols;
      for (std::size_t j = 1; j < cols; ++j) {
        if (std::memcmp(row, row + j, sizeof(T)) != 0) return false;
      }
    }
    return true;
  };
  for (const std::size_t block : {rows, std::size_t{8}, std::size_t{4}}) {
    if (block <= rows && is_steady(block)) return block;
  }
  return 1;
}

template std::size_t steady_rows<float>(std::size_t, std::size_t, std::size_t, bool);
template std::size_t steady_rows<double>(std::size_t, std::size_t, std::size_t, bool);

}  // namespace dfcl::nn
