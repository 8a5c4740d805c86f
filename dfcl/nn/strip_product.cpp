// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/strip_product.h"

#include <algorithm>

#include "dfcl/core/processor.h"
#include "dfcl/nn/transpose_square.h"

namespace dfcl::nn {
namespace {

// kBytes in a register; kOutputs x kVectors registers hold the sums of a block.
template <class T, std::size_t kBytes, std::size_t kOutputs, std::size_t kVectors>
DFCL_INLINE void multiply_block(const StripLayer<T>& layer, std::size_t first_output, const T* input, T* output,
                                std::size_t output_stride) {
  typedef T Vector __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  constexpr std::size_t kLanes = kBytes / sizeof(T);
  const T* weight = layer.weight + first_output * layer.inputs;
  const T* bias = layer.bias + first_output;
  Vector sums[kOutputs][kVectors];
  for (std::size_t o = 0; o < kOutputs; ++o) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[o][v] = Vector{} + (layer.bias_first ? bias[o] : T(0));
  }
  for (std::size_t k = 0; k < layer.inputs; ++k) {
    Vector values[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      values[v] = *reinterpret_cast<const Vector*>(input + k * kStripRows + v * kLanes);
    }
    for (std::size_t o = 0; o < kOutputs; ++o) {
      const T factor = weight[o * layer.inputs + k];
      for (std::size_t v = 0; v < kVectors; ++v) sums[o][v] += factor * values[v];
    }
  }
  for (std::size_t o = 0; o < kOutputs; ++o) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      Vector sum = layer.bias_first ? sums[o][v] : sums[o][v] + bias[o];
      if (layer.relu) sum = sum > T(0) ? sum : Vector{};
      *reinterpret_cast<Vector*>(output + (first_output + o) * output_stride + v * kLanes) = sum;
    }
  }
}

// Six outputs at a time, then four, then one.
template <class T, std::size_t kBytes, std::size_t kVectors>
DFCL_INLINE void multiply_strip(const StripLayer<T>& layer, const T* input, T* output, std::size_t output_stride) {
  constexpr std::size_t kLanes = kBytes / sizeof(T);
  constexpr std::size_t kRows = kVectors * kLanes;
  static_assert(kStripRows % kRows == 0);
  std::size_t done = 0;
  const std::size_t sixes = layer.outputs / 6 * 6;
  const std::size_t fours = sixes + (layer.outputs - sixes) / 4 * 4;
  for (std::size_t row = 0; row < kStripRows; row += kRows) {
    for (done = 0; done < sixes; done += 6) {
      multiply_block<T, kBytes, 6, kVectors>(layer, done, input + row, output + row, output_stride);
    }
    for (; done < fours; done += 4) {
      multiply_block<T, kBytes, 4, kVectors>(layer, done, input + row, output + row, output_stride);
    }
  }
  // One output alone needs more rows at once: a sum waits four steps for the one before it.
  constexpr std::size_t kManyVectors = std::min<std::size_t>(kStripRows / kLanes, 8);
  for (; done < layer.outputs; ++done) {
    for (std::size_t row = 0; row < kStripRows; row += kManyVectors * kLanes) {
      multiply_block<T, kBytes, 1, kManyVectors>(layer, done, input + row, output + row, output_stride);
    }
  }
}

#ifdef DFCL_X86_LEVEL
// 32 registers of 64 bytes.
template <class T>
DFCL_X86_LEVEL(4)
void multiply_strip_level4(const StripLayer<T>& layer, const T* input, T* output, std::size_t output_stride) {
  multiply_strip<T, 64, 4>(layer, input, output, output_stride);
}

// 16 registers of 32 bytes.
template <class T>
DFCL_X86_LEVEL(3)
void multiply_strip_level3(const StripLayer<T>& layer, const T* input, T* output, std::size_t output_stride) {
  multiply_strip<T, 32, 2>(layer, input, output, output_stride);
}
#endif

// 16 registers of 16 bytes, or more.
template <class T>
void multiply_strip_plainly(const StripLayer<T>& layer, const T* input, T* output, std::size_t output_stride) {
  multiply_strip<T, 16, 2>(layer, input, output, output_stride);
}

// Squares of four rows and four features at a time.
template <class T>
void fill_strip_of(core::MatrixView<const T> rows, T* strip) {
  const std::size_t full_rows = rows.rows / 4 * 4;
  const std::size_t full_cols = rows.cols / 4 * 4;
  for (std::size_t row = 0; row < full_rows; row += 4) {
    for (std::size_t col = 0; col < full_cols; col += 4)
      transpose_square(rows.data + row * rows.cols + col, rows.cols, strip + col * kStripRows + row, kStripRows);
  }
  for (std::size_t col = 0; col < rows.cols; ++col) {
    const std::size_t begin = col < full_cols ? full_rows : 0;
    for (std::size_t row = begin; row < rows.rows; ++row) strip[col * kStripRows + row] = rows(row, col);
    std::fill_n(strip + col * kStripRows + rows.rows, kStripRows - rows.rows, T(0));
  }
}

}  // namespace

template <class T>
std::vector<StripProduct<T>> all_strip_products() {
  std::vector<StripProduct<T>> products;
#ifdef DFCL_X86_LEVEL
  if (core::processor() >= core::Processor::avx512) products.push_back(multiply_strip_level4<T>);
  if (core::processor() >= core::Processor::avx2) products.push_back(multiply_strip_level3<T>);
#endif
  products.push_back(multiply_strip_plainly<T>);
  return products;
}

template std::vector<StripProduct<float>> all_strip_products();
template std::vector<StripProduct<double>> all_strip_products();

void strip_product(const StripLayer<float>& layer, const float* input, float* output, std::size_t output_stride) {
  static const StripProduct<float> multiply = all_strip_products<float>().front();
  multiply(layer, input, output, output_stride);
}

void strip_product(const StripLayer<double>& layer, const double* input, double* output, std::size_t output_stride) {
  static const StripProduct<double> multiply = all_strip_products<double>().front();
  multiply(layer, input, output, output_stride);
}

void fill_strip(core::MatrixView<const float> rows, float* strip) { fill_strip_of(rows, strip); }
void fill_strip(core::MatrixView<const double> rows, double* strip) { fill_strip_of(rows, strip); }

}  // namespace dfcl::nn
