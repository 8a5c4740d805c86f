// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/panel_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::nn {
namespace {

template <class T>
std::vector<T> random_numbers(std::size_t size, std::uint64_t index) {
  core::RandomStream random(9, core::stream_purpose("panel test"), index);
  std::vector<T> numbers(size);
  for (T& number : numbers) number = static_cast<T>(random.normal());
  return numbers;
}

template <class T>
void expect_products(const PanelKernels<T>& kernels, double tolerance) {
  constexpr std::size_t kRows = 24, kCols = 64, kInner = 37;
  const std::vector<T> a = random_numbers<T>(kRows * kInner, 0);
  const std::vector<T> b = random_numbers<T>(kInner * kCols, 1);
  std::vector<T> turned_a(kInner * kRows), turned_b(kCols * kInner);
  for (std::size_t k = 0; k < kInner; ++k) {
    for (std::size_t i = 0; i < kRows; ++i) turned_a[k * kRows + i] = a[i * kInner + k];
    for (std::size_t j = 0; j < kCols; ++j) turned_b[j * kInner + k] = b[k * kCols + j];
  }
  std::vector<T> panels(kInner * kCols), same_panels(kInner * kCols), columns(kInner * kRows);
  pack_panels(kInner, kCols, b.data(), kCols, false, panels.data());
  pack_panels(kInner, kCols, turned_b.data(), kInner, true, same_panels.data());
  EXPECT_EQ(panels, same_panels);
  pack_columns(kInner, kRows, turned_a.data(), kRows, columns.data());
  std::vector<T> result(kRows * kCols, T(9)), sum(kRows * kCols, T(1));
  kernels.rows({kRows, kCols, kInner}, a.data(), kInner, panels.data(), result.data(), kCols);
  kernels.columns({kRows, kCols, kInner}, columns.data(), 0, panels.data(), sum.data(), kCols);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kCols; ++j) {
      double expected = 0.0;
      for (std::size_t k = 0; k < kInner; ++k)
        expected += static_cast<double>(a[i * kInner + k]) * static_cast<double>(b[k * kCols + j]);
      EXPECT_NEAR(static_cast<double>(result[i * kCols + j]), expected, tolerance);
      EXPECT_NEAR(static_cast<double>(sum[i * kCols + j]), expected + 1.0, tolerance);
    }
  }
}

TEST(PanelProduct, EveryKernelMultiplies) {
  for (const auto& kernels : all_panel_kernels<float>()) expect_products(kernels, 2e-5);
  for (const auto& kernels : all_panel_kernels<double>()) expect_products(kernels, 1e-12);
}

}  // namespace
}  // namespace dfcl::nn
