// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::allocate {
namespace {

TEST(ExactSum, LosesNothingBetweenVeryLargeAndVerySmallNumbers) {
  ExactSum sum;
  EXPECT_EQ(sum.value(), 0.0);
  const float smallest = std::numeric_limits<float>::denorm_min();
  const float largest = std::numeric_limits<float>::max();
  sum.add(largest);
  sum.add(smallest);
  sum.add(1.0f);
  sum.subtract(largest);
  EXPECT_EQ(sum.value(), 1.0);  // 1 + 2^-149, rounded
  sum.subtract(1.0f);
  EXPECT_EQ(sum.value(), static_cast<double>(smallest));
  sum.subtract(smallest);
  sum.subtract(smallest);
  EXPECT_EQ(sum.value(), -static_cast<double>(smallest));
}

TEST(ExactSum, RoundsOnceToTheNearestEvenNumber) {
  ExactSum sum;  // 2^53 + 1 lies half-way between two float64 numbers, and a little more rounds up
  sum.add(0x1p53f);
  sum.add(1.0f);
  EXPECT_EQ(sum.value(), 0x1p53);
  sum.add(0x1p-100f);
  EXPECT_EQ(sum.value(), 0x1p53 + 2.0);
  sum.subtract(0x1p-99f);
  EXPECT_EQ(sum.value(), 0x1p53);
}

TEST(ExactSum, EqualsTheSumOfNumbersThatFloat64HoldsExactlyInAnyOrder) {
  core::RandomStream stream(11, core::stream_purpose("exact sum"), 0);
  for (int repeat = 0; repeat < 200; ++repeat) {
    ExactSum forward, backward, left, right;
    std::vector<float> numbers;
    double expected = 0.0;
    for (int i = 0; i < 500; ++i) {
      numbers.push_back(static_cast<float>(std::ldexp(stream.uniform(-1.0, 1.0), static_cast<int>(stream.below(12)))));
      // 24 bits under 2^12 in steps of 2^-30 or so: quantise so that float64 is exact.
      numbers.back() = std::ldexp(std::round(std::ldexp(numbers.back(), 20)), -20);
      expected += static_cast<double>(numbers.back());
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      forward.add(numbers[i]);
      backward.add(numbers[numbers.size() - 1 - i]);
      (i % 3 == 0 ? left : right).add(numbers[i]);
    }
    left.add(right);
    EXPECT_EQ(forward.value(), expected);
    EXPECT_EQ(backward.value(), expected);
    EXPECT_EQ(left.value(), expected);
  }
}

}  // namespace
}  // namespace dfcl::allocate
