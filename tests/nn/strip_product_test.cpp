// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/strip_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::nn {
namespace {

constexpr std::uint64_t kSeed = 17;

std::vector<double> random_numbers(std::size_t count, std::uint64_t index) {
  core::RandomStream random(kSeed, core::stream_purpose("strip product test"), index);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = random.normal();
  return numbers;
}

TEST(StripProductTest, the_kernels_of_all_processors_equal_plain_loops) {
  constexpr std::size_t kStride = 3 * kStripRows;
  for (std::size_t outputs = 1; outputs <= 17; ++outputs) {
    const std::size_t inputs = 1 + outputs * 5 % 13;
    const std::vector<double> weight = random_numbers(outputs * inputs, 4 * outputs);
    const std::vector<double> bias = random_numbers(outputs, 4 * outputs + 1);
    const std::vector<double> input = random_numbers(inputs * kStripRows, 4 * outputs + 2);
    for (const bool relu : {false, true}) {
      for (const bool bias_first : {false, true}) {
        const StripLayer<double> layer{outputs, inputs, weight.data(), bias.data(), relu, bias_first};
        for (const StripProduct<double> product : all_strip_products<double>()) {
          std::vector<double> output(outputs * kStride, -7.0);
          product(layer, input.data(), output.data(), kStride);
          for (std::size_t i = 0; i < output.size(); ++i) {
            const std::size_t o = i / kStride;
            const std::size_t row = i % kStride;
            double expected = row < kStripRows ? bias[o] : -7.0;  // what lies between the rows is left alone
            for (std::size_t k = 0; row < kStripRows && k < inputs; ++k) {
              expected += weight[o * inputs + k] * input[k * kStripRows + row];
            }
            if (relu && row < kStripRows) expected = std::max(expected, 0.0);
            ASSERT_NEAR(output[i], expected, 1e-12) << outputs << " x " << inputs << ", row " << row;
          }
        }
      }
    }
  }
}

TEST(StripProductTest, a_strip_is_the_transpose_of_its_rows_and_zeros) {
  for (const std::size_t num_rows : {std::size_t{1}, std::size_t{6}, std::size_t{8}, kStripRows}) {
    for (std::size_t features = 1; features <= 9; ++features) {
      const std::vector<double> numbers = random_numbers(num_rows * features, features);
      const std::vector<float> rows(numbers.begin(), numbers.end());
      std::vector<float> strip(features * kStripRows, -7.0f);
      fill_strip(core::MatrixView<const float>{rows.data(), num_rows, features}, strip.data());
      for (std::size_t i = 0; i < strip.size(); ++i) {
        const std::size_t row = i % kStripRows;
        ASSERT_EQ(strip[i], row < num_rows ? rows[row * features + i / kStripRows] : 0.0f) << "row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace dfcl::nn
