// SPDX-License-Identifier: Apache-2.0
//
// Products with one square matrix of a hidden layer, for training: the matrix is packed once a step into panels of
// kPanel columns that stay in the first-level cache, then every tile of rows is multiplied with it. Sums run over the
// inner index in its order, so a row's numbers do not depend on its neighbours or its place. Float64 is for checks of
// gradients.
#pragma once

#include <cstddef>
#include <vector>

namespace dfcl::nn {

inline constexpr std::size_t kPanel = 32;     // columns of a panel
inline constexpr std::size_t kBlockRows = 8;  // rows that are computed together

// Sizes of products: result (rows x cols) from inner terms each. rows are a multiple of kBlockRows, cols of kPanel.
struct ProductSize {
  std::size_t rows;
  std::size_t cols;
  std::size_t inner;
};

// packed[panel][row][kPanel] of a matrix of rows x cols with rows `stride` apart; of its transpose where `transposed`,
// the matrix being cols x rows then.
template <class T>
void pack_panels(std::size_t rows, std::size_t cols, const T* matrix, std::size_t stride, bool transposed, T* packed);

// packed[block][row][kBlockRows] of a matrix of rows x cols: what columns_product takes for its first factor.
template <class T>
void pack_columns(std::size_t rows, std::size_t cols, const T* matrix, std::size_t stride, T* packed);

// result = a b: a is rows x inner, its rows a_stride apart, b packed in panels.
void panel_product(const ProductSize& size, const float* a, std::size_t a_stride, const float* b, float* result,
                   std::size_t result_stride);
void panel_product(const ProductSize& size, const double* a, std::size_t a_stride, const double* b, double* result,
                   std::size_t result_stride);

// result += a' b: a is inner x rows, packed by pack_columns, b is inner x cols, packed in panels.
void columns_product(const ProductSize& size, const float* a, const float* b, float* result, std::size_t result_stride);
void columns_product(const ProductSize& size, const double* a, const double* b, double* result,
                     std::size_t result_stride);

// All ways of doing both that this processor knows, the one used first. For tests.
template <class T>
struct PanelKernels {
  void (*rows)(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
               std::size_t result_stride);
  void (*columns)(const ProductSize& size, const T* a, std::size_t a_stride, const T* b, T* result,
                  std::size_t result_stride);
};
template <class T>
std::vector<PanelKernels<T>> all_panel_kernels();

}  // namespace dfcl::nn
