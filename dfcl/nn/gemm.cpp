// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/gemm.h"

#include <algorithm>
#include <cstring>

#include "dfcl/nn/transpose_square.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kPanelBytes = 24 << 10;  // stays in the first-level cache beside the rows it is multiplied with
constexpr std::size_t kMostUnpacked = 2;       // blocks of rows below which a panel is not worth packing

// How a kernel uses the registers: kRows x kVectors of kBytes each hold the sums of a block. Panels of two vectors, and
// a last one of one vector with more rows at once, since a sum waits four steps for the one before it.
template <class T, std::size_t kRegisterBytes, std::size_t kMostRows, std::size_t kNumVectors>
struct Blocking {
  static constexpr std::size_t kBytes = kRegisterBytes;
  static constexpr std::size_t kRows = kMostRows;
  static constexpr std::size_t kVectors = kNumVectors;
  static constexpr std::size_t kCols = kVectors * kBytes / sizeof(T);           // of a panel
  static constexpr std::size_t kMostInner = kPanelBytes / (kCols * sizeof(T));  // terms that are added in one go
};

template <class T>
DFCL_INLINE void copy_few(const T* from, std::size_t count, T* to) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) *reinterpret_cast<Four*>(to + i) = *reinterpret_cast<const Four*>(from + i);
  if (i + 2 <= count) {
    to[i] = from[i];
    to[i + 1] = from[i + 1];
    i += 2;
  }
  if (i < count) to[i] = from[i];
}

// `inner` terms of sums of kRows x (kVectors x lanes) numbers, added to what the result holds where `add`.
template <class T, std::size_t kBytes, std::size_t kRows, std::size_t kVectors, bool kTransposed>
DFCL_INLINE void multiply_block(std::size_t inner, const T* a, std::size_t a_stride, const T* b, std::size_t b_stride,
                                bool add, T* result, std::size_t result_stride) {
  typedef T Vector __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  constexpr std::size_t kLanes = kBytes / sizeof(T);
  Vector sums[kRows][kVectors];
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[row][v] = add ? *reinterpret_cast<const Vector*>(result + row * result_stride + v * kLanes) : Vector{};
    }
  }
  for (std::size_t k = 0; k < inner; ++k) {
    Vector values[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) values[v] = *reinterpret_cast<const Vector*>(b + v * kLanes);
    for (std::size_t row = 0; row < kRows; ++row) {
      const T factor = kTransposed ? a[row] : a[row * a_stride];
      for (std::size_t v = 0; v < kVectors; ++v) sums[row][v] += factor * values[v];
    }
    a += kTransposed ? a_stride : 1;
    b += b_stride;
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t v = 0; v < kVectors; ++v)
      *reinterpret_cast<Vector*>(result + row * result_stride + v * kLanes) = sums[row][v];
  }
}

// A block of at most kRows rows.
template <class T, std::size_t kBytes, std::size_t kRows, std::size_t kVectors, bool kTransposed>
DFCL_INLINE void multiply_rows(std::size_t rows, std::size_t inner, const T* a, std::size_t a_stride, const T* b,
                               std::size_t b_stride, bool add, T* result, std::size_t result_stride) {
  if (rows == kRows) {
    multiply_block<T, kBytes, kRows, kVectors, kTransposed>(inner, a, a_stride, b, b_stride, add, result,
                                                            result_stride);
  } else if constexpr (kRows > 1) {
    multiply_rows<T, kBytes, kRows - 1, kVectors, kTransposed>(rows, inner, a, a_stride, b, b_stride, add, result,
                                                               result_stride);
  }
}

// packed[k][kCols] of `cols` columns of b, zeros after them.
template <class T, std::size_t kCols>
DFCL_INLINE void pack_panel(std::size_t inner, std::size_t cols, Factor<T> b, T* packed) {
  if (cols < kCols) std::fill_n(packed, inner * kCols, T(0));
  if (!b.transposed) {
    for (std::size_t k = 0; k < inner; ++k) {
      const T* from = b.data + k * b.stride;
      T* to = packed + k * kCols;
      if (cols == kCols) {
        std::memcpy(to, from, kCols * sizeof(T));
      } else {
        copy_few(from, cols, to);
      }
    }
    return;
  }
  const std::size_t full_cols = cols / 4 * 4;
  const std::size_t full_inner = inner / 4 * 4;
  for (std::size_t col = 0; col < full_cols; col += 4) {
    for (std::size_t k = 0; k < full_inner; k += 4)
      transpose_square(b.data + col * b.stride + k, b.stride, packed + k * kCols + col, kCols);
  }
  for (std::size_t col = 0; col < cols; ++col) {
    for (std::size_t k = col < full_cols ? full_inner : 0; k < inner; ++k)
      packed[k * kCols + col] = b.data[col * b.stride + k];
  }
}

// One panel of columns from all rows of a, in blocks of nearly equal height. The result of fewer columns than the
// vectors hold goes through `edge`.
template <class T, class Block, bool kTransposed>
DFCL_INLINE void multiply_panel(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, const T* b,
                                std::size_t b_stride, bool add, T* result, std::size_t result_stride) {
  alignas(64) T edge[Block::kRows * Block::kCols];
  if (cols < Block::kCols) std::fill_n(edge, Block::kRows * Block::kCols, T(0));
  const std::size_t num_blocks = (rows + Block::kRows - 1) / Block::kRows;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    const std::size_t first = block * rows / num_blocks;
    const std::size_t count = (block + 1) * rows / num_blocks - first;
    const T* from = a.data + (kTransposed ? first : first * a.stride);
    T* to = result + first * result_stride;
    const bool whole = cols == Block::kCols;
    if (add && !whole) {
      for (std::size_t row = 0; row < count; ++row) copy_few(to + row * result_stride, cols, edge + row * Block::kCols);
    }
    multiply_rows<T, Block::kBytes, Block::kRows, Block::kVectors, kTransposed>(
        count, inner, from, a.stride, b, b_stride, add, whole ? to : edge, whole ? result_stride : Block::kCols);
    if (whole) continue;
    for (std::size_t row = 0; row < count; ++row) copy_few(edge + row * Block::kCols, cols, to + row * result_stride);
  }
}

// `cols` columns, at most a panel, by parts of the inner index.
template <class T, class Block, bool kTransposed>
DFCL_INLINE void multiply_columns(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b,
                                  bool add, T* packed, T* result, std::size_t result_stride) {
  const bool pack = b.transposed || cols < Block::kCols || rows > kMostUnpacked * Block::kRows;
  const std::size_t num_parts = std::max<std::size_t>(1, (inner + Block::kMostInner - 1) / Block::kMostInner);
  for (std::size_t part = 0; part < num_parts; ++part) {
    const std::size_t begin = part * inner / num_parts;
    const std::size_t count = (part + 1) * inner / num_parts - begin;
    const Factor<T> left{a.data + (kTransposed ? begin * a.stride : begin), a.stride, a.transposed};
    const Factor<T> right{b.data + (b.transposed ? begin : begin * b.stride), b.stride, b.transposed};
    if (pack) pack_panel<T, Block::kCols>(count, cols, right, packed);
    multiply_panel<T, Block, kTransposed>(rows, cols, count, left, pack ? packed : right.data,
                                          pack ? Block::kCols : b.stride, add || part > 0, result, result_stride);
  }
}

template <class T, class Wide, class Narrow, bool kTransposed>
DFCL_INLINE void multiply_all(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add,
                              T* result, std::size_t result_stride) {
  alignas(64) T packed[kPanelBytes / sizeof(T)];
  for (std::size_t col = 0; col < cols;) {
    const Factor<T> right{b.data + (b.transposed ? col * b.stride : col), b.stride, b.transposed};
    const std::size_t width = std::min(Wide::kCols, cols - col);
    if (width > Narrow::kCols) {
      multiply_columns<T, Wide, kTransposed>(rows, width, inner, a, right, add, packed, result + col, result_stride);
    } else {
      multiply_columns<T, Narrow, kTransposed>(rows, width, inner, a, right, add, packed, result + col, result_stride);
    }
    col += width;
  }
}

template <class T, std::size_t kBytes, std::size_t kWideRows, std::size_t kNarrowRows>
DFCL_INLINE void multiply_by(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add,
                             T* result, std::size_t result_stride) {
  using Wide = Blocking<T, kBytes, kWideRows, 2>;
  using Narrow = Blocking<T, kBytes, kNarrowRows, 1>;
  if (a.transposed) {
    multiply_all<T, Wide, Narrow, true>(rows, cols, inner, a, b, add, result, result_stride);
  } else {
    multiply_all<T, Wide, Narrow, false>(rows, cols, inner, a, b, add, result, result_stride);
  }
}

#ifdef DFCL_X86_LEVEL
// 32 registers of 64 bytes.
template <class T>
DFCL_X86_LEVEL(4)
void multiply_avx512(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add,
                     T* result, std::size_t result_stride) {
  multiply_by<T, 64, 8, 12>(rows, cols, inner, a, b, add, result, result_stride);
}

// 16 registers of 32 bytes.
template <class T>
DFCL_X86_LEVEL(3)
void multiply_avx2(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add, T* result,
                   std::size_t result_stride) {
  multiply_by<T, 32, 6, 8>(rows, cols, inner, a, b, add, result, result_stride);
}
#endif

// 16 registers of 16 bytes, or more.
template <class T>
void multiply_plainly(std::size_t rows, std::size_t cols, std::size_t inner, Factor<T> a, Factor<T> b, bool add,
                      T* result, std::size_t result_stride) {
  multiply_by<T, 16, 4, 8>(rows, cols, inner, a, b, add, result, result_stride);
}

}  // namespace

template <class T>
std::vector<ProductKernel<T>> all_product_kernels() {
  std::vector<ProductKernel<T>> kernels;
#ifdef DFCL_X86_LEVEL
  if (core::processor() >= core::Processor::avx512) kernels.push_back({core::Processor::avx512, multiply_avx512<T>});
  if (core::processor() >= core::Processor::avx2) kernels.push_back({core::Processor::avx2, multiply_avx2<T>});
#endif
  kernels.push_back({core::Processor::portable, multiply_plainly<T>});
  return kernels;
}

template std::vector<ProductKernel<float>> all_product_kernels();
template std::vector<ProductKernel<double>> all_product_kernels();

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<float> a, Factor<float> b, bool add,
              float* result, std::size_t result_stride) {
  static const auto kernel = all_product_kernels<float>().front().multiply;
  kernel(rows, cols, inner, a, b, add, result, result_stride);
}

void multiply(std::size_t rows, std::size_t cols, std::size_t inner, Factor<double> a, Factor<double> b, bool add,
              double* result, std::size_t result_stride) {
  static const auto kernel = all_product_kernels<double>().front().multiply;
  kernel(rows, cols, inner, a, b, add, result, result_stride);
}

}  // namespace dfcl::nn
