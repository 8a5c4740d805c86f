// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/gemm.h"

#include <cblas.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

namespace dfcl::nn {
namespace {

// OpenBLAS takes a buffer of 128 MiB for each thread that multiplies at a time, and where the system refuses it asks
// again for ever. So each thread asks first, for all threads that have multiplied so far: too much where some have
// their buffers already.
void require_buffers() {
  constexpr std::size_t kBufferBytes = (std::size_t{128} << 20) + 4096;
  static std::atomic<std::size_t> num_threads = 0;
  const std::size_t bytes = kBufferBytes * (num_threads.fetch_add(1) + 1);
  void* room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, bytes);
}

// Before a thread's first product: those of one thread are computed by it alone.
void prepare_thread() {
  thread_local const bool done = [] {
    require_buffers();
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
  prepare_thread();
  cblas_sgemm(CblasRowMajor, order_of(a.transposed), order_of(b.transposed), size_of(rows), size_of(cols),
              size_of(inner), 1.0f, a.data, size_of(a.stride), b.data, size_of(b.stride), add ? 1.0f : 0.0f, result,
              size_of(result_stride));
}

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<double> a, Factor<double> b, bool add,
              double* result, std::size_t result_stride) {
  prepare_thread();
  cblas_dgemm(CblasRowMajor, order_of(a.transposed), order_of(b.transposed), size_of(rows), size_of(cols),
              size_of(inner), 1.0, a.data, size_of(a.stride), b.data, size_of(b.stride), add ? 1.0 : 0.0, result,
              size_of(result_stride));
}

}  // namespace dfcl::nn
