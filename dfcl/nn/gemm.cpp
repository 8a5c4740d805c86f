// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/gemm.h"

#include <cblas.h>

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

}  // namespace dfcl::nn
