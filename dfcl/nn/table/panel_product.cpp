// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/panel_product.h"

#include "dfcl/core/processor.h"

namespace dfcl::nn {
namespace {

// kBytes in a register; kRows x kVectors registers hold the sums. kColumns: a is packed by columns, and the sums are
// added to the result.
template <class T, std::size_t kBytes, std::size_t kRows, std::size_t kVectors, bool kColumns>
DFCL_INLINE void multiply_block(std::size_t inner, const T* a, std::size_t a_stride, const T* b, T* result,
                                std::size_t result_stride) {
  typedef T Vector __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  constexpr std::size_t kLanes = kBytes / sizeof(T);
  Vector sums[kRows][kVectors];
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[row][v] = Vector{};
  }
  for (std::size_t k = 0; k < inner; ++k) {
    Vector values[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
      values[v] = *reinterpret_cast<const Vector*>(b + k * kPanel + v * kLanes);
    for (std::size_t row = 0; row < kRows; ++row) {
      const T factor = kColumns ? a[k * kBlockRows + row] : a[row * a_stride + k];
      for (std::size_t v = 0; v < kVectors; ++v) sums[row][v] += factor * values[v];
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto* to = reinterpret_cast<Vector*>(result + row * result_stride + v * kLanes);
      *to = kColumns ? *to + sums[row][v] : sums[row][v];
    }
  }
}

template <class T, std::size_t kBytes, std::size_t kRows, std::size_t kVectors, bool kColumns>
DFCL_INLINE void multiply(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
                          std::size_t result_stride) {
  constexpr std::size_t kCols = kVectors * kBytes / sizeof(T);
  static_assert(kPanel % kCols == 0 && kBlockRows % kRows == 0);
  for (std::size_t first = 0; first < size.cols; first += kPanel) {
    const T* panel = b + first * size.inner;
    for (std::size_t row = 0; row < size.rows; row += kRows) {
      const T* from = kColumns ? a + row / kBlockRows * kBlockRows * size.inner + row % kBlockRows : a + row * a_stride;
      T* to = result + row * result_stride + first;
      for (std::size_t col = 0; col < kPanel; col += kCols)
        multiply_block<T, kBytes, kRows, kVectors, kColumns>(size.inner, from, a_stride, panel + col, to + col,
                                                             result_stride);
    }
  }
}

#ifdef DFCL_X86_LEVEL
// 32 registers of 64 bytes.
template <class T, bool kColumns>
DFCL_X86_LEVEL(4)
void multiply_level4(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
                     std::size_t result_stride) {
  multiply<T, 64, 8, 2, kColumns>(size, a, a_stride, b, result, result_stride);
}

// 16 registers of 32 bytes.
template <class T, bool kColumns>
DFCL_X86_LEVEL(3)
void multiply_level3(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
                     std::size_t result_stride) {
  multiply<T, 32, 4, 2, kColumns>(size, a, a_stride, b, result, result_stride);
}
#endif

// 16 registers of 16 bytes, or more.
template <class T, bool kColumns>
void multiply_plainly(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
                      std::size_t result_stride) {
  multiply<T, 16, 4, 2, kColumns>(size, a, a_stride, b, result, result_stride);
}

template <class T>
const PanelKernels<T>& kernels() {
  static const PanelKernels<T> best = all_panel_kernels<T>().front();
  return best;
}

}  // namespace

template <class T>
std::vector<PanelKernels<T>> all_panel_kernels() {
  std::vector<PanelKernels<T>> list;
#ifdef DFCL_X86_LEVEL
  if (core::processor() >= core::Processor::avx512)
    list.push_back({multiply_level4<T, false>, multiply_level4<T, true>});
  if (core::processor() >= core::Processor::avx2) list.push_back({multiply_level3<T, false>, multiply_level3<T, true>});
#endif
  list.push_back({multiply_plainly<T, false>, multiply_plainly<T, true>});
  return list;
}

template std::vector<PanelKernels<float>> all_panel_kernels();
template std::vector<PanelKernels<double>> all_panel_kernels();

template <class T>
void pack_panels(std::size_t rows, std::size_t cols, const T* matrix, std::size_t stride, bool transposed, T* packed) {
  for (std::size_t first = 0; first < cols; first += kPanel) {
    for (std::size_t row = 0; row < rows; ++row) {
      T* to = packed + first * rows + row * kPanel;
      const T* from = transposed ? matrix + first * stride + row : matrix + row * stride + first;
      for (std::size_t col = 0; col < kPanel; ++col) to[col] = from[transposed ? col * stride : col];
    }
  }
}

template <class T>
void pack_columns(std::size_t rows, std::size_t cols, const T* matrix, std::size_t stride, T* packed) {
  for (std::size_t first = 0; first < cols; first += kBlockRows) {
    for (std::size_t row = 0; row < rows; ++row) {
      T* to = packed + first * rows + row * kBlockRows;
      for (std::size_t col = 0; col < kBlockRows; ++col) to[col] = matrix[row * stride + first + col];
    }
  }
}

template void pack_panels(std::size_t, std::size_t, const float*, std::size_t, bool, float*);
template void pack_panels(std::size_t, std::size_t, const double*, std::size_t, bool, double*);
template void pack_columns(std::size_t, std::size_t, const float*, std::size_t, float*);
template void pack_columns(std::size_t, std::size_t, const double*, std::size_t, double*);

void panel_product(const ProductSize& size, const float* a, std::size_t a_stride, const float* b, float* result,
                   std::size_t result_stride) {
  kernels<float>().rows(size, a, a_stride, b, result, result_stride);
}
void panel_product(const ProductSize& size, const double* a, std::size_t a_stride, const double* b, double* result,
                   std::size_t result_stride) {
  kernels<double>().rows(size, a, a_stride, b, result, result_stride);
}
void columns_product(const ProductSize& size, const float* a, const float* b, float* result,
                     std::size_t result_stride) {
  kernels<float>().columns(size, a, 0, b, result, result_stride);
}
void columns_product(const ProductSize& size, const double* a, const double* b, double* result,
                     std::size_t result_stride) {
  kernels<double>().columns(size, a, 0, b, result, result_stride);
}

}  // namespace dfcl::nn
