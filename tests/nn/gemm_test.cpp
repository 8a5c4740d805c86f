// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kGap = 3;  // numbers after each stored row, which belong to nobody

// A matrix as it is stored: rows a stride apart.
template <class T>
struct Stored {
  Stored(std::size_t rows, std::size_t cols, bool is_transposed, std::uint64_t index)
      : transposed(is_transposed), stride((is_transposed ? rows : cols) + kGap) {
    core::RandomStream random(7, core::stream_purpose("gemm test"), index);
    numbers.resize((is_transposed ? cols : rows) * stride);
    for (T& number : numbers) number = static_cast<T>(random.normal());
  }
  T at(std::size_t row, std::size_t col) const {
    return transposed ? numbers[col * stride + row] : numbers[row * stride + col];
  }
  // From this row and column on.
  Factor<T> factor(std::size_t row = 0, std::size_t col = 0) const {
    return {numbers.data() + (transposed ? col * stride + row : row * stride + col), stride, transposed};
  }

  bool transposed;
  std::size_t stride;
  std::vector<T> numbers;
};

struct Shape {
  std::size_t rows, cols, inner;
};

// Blocks of rows, panels of columns and parts of the inner index: whole, one more, one less.
const std::vector<Shape> kShapes = {{1, 1, 1},     {1, 32, 5},     {8, 32, 192},  {9, 33, 193},   {7, 31, 191},
                                    {13, 12, 256}, {128, 12, 256}, {64, 107, 96}, {10, 32, 385},  {16, 64, 7},
                                    {17, 16, 31},  {3, 50, 400},   {25, 5, 2},    {107, 256, 64}, {5, 17, 0}};

template <class T>
void expect_product(const ProductKernel<T>& kernel, const Shape& shape, bool a_transposed, bool b_transposed,
                    bool add) {
  const auto [rows, cols, inner] = shape;
  SCOPED_TRACE(std::string(core::processor_name(kernel.processor)) + ", " + std::to_string(rows) + " x " +
               std::to_string(cols) + " of " + std::to_string(inner) + (a_transposed ? ", a transposed" : "") +
               (b_transposed ? ", b transposed" : "") + (add ? ", added" : ""));
  const Stored<T> a(rows, inner, a_transposed, 0), b(inner, cols, b_transposed, 1), before(rows, cols, false, 2);
  Stored<T> result = before;
  kernel.multiply(rows, cols, inner, a.factor(), b.factor(), add, result.numbers.data(), result.stride);
  // The rounding of `inner` sums of numbers of length one, with some room.
  const double unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
  const double tolerance = 8.0 * unit * (4.0 + static_cast<double>(inner));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      long double expected = add ? static_cast<long double>(before.at(i, j)) : 0.0L;
      for (std::size_t k = 0; k < inner; ++k)
        expected += static_cast<long double>(a.at(i, k)) * static_cast<long double>(b.at(k, j));
      ASSERT_NEAR(static_cast<double>(result.at(i, j)), static_cast<double>(expected), tolerance) << i << ", " << j;
    }
    for (std::size_t j = cols; j < result.stride; ++j)
      ASSERT_EQ(result.numbers[i * result.stride + j], before.numbers[i * result.stride + j]) << "beyond row " << i;
  }
}

template <class T>
void expect_products() {
  for (const ProductKernel<T>& kernel : all_product_kernels<T>()) {
    for (const Shape& shape : kShapes) {
      for (int flags = 0; flags < 8; ++flags)
        expect_product(kernel, shape, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0);
    }
  }
}

TEST(Gemm, EveryKernelMultipliesEveryShape) {
  expect_products<float>();
  expect_products<double>();
}

// What makes a fit the same on any number of threads and a unit's numbers independent of its neighbours.
TEST(Gemm, ANumberDependsOnItsRowAndColumnAlone) {
  constexpr std::size_t kRows = 29, kCols = 75, kInner = 300;
  for (const ProductKernel<float>& kernel : all_product_kernels<float>()) {
    for (const bool transposed : {false, true}) {
      const Stored<float> a(kRows, kInner, transposed, 0), b(kInner, kCols, transposed, 1);
      std::vector<float> whole(kRows * kCols);
      kernel.multiply(kRows, kCols, kInner, a.factor(), b.factor(), false, whole.data(), kCols);
      for (const auto& [row, col, rows, cols] : std::vector<std::array<std::size_t, 4>>{
               {0, 0, 1, 1}, {3, 5, 7, 9}, {11, 40, 18, 35}, {28, 0, 1, 75}, {0, 74, 29, 1}, {5, 1, 17, 64}}) {
        std::vector<float> part(rows * cols);
        kernel.multiply(rows, cols, kInner, a.factor(row, 0), b.factor(0, col), false, part.data(), cols);
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < cols; ++j)
            ASSERT_EQ(part[i * cols + j], whole[(row + i) * kCols + col + j]) << core::processor_name(kernel.processor);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dfcl::nn
