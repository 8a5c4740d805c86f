// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/exact_total.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::core {
namespace {

double total_of(const std::vector<double>& numbers) {
  ExactTotal total;
  for (const double number : numbers) total.add(number);
  return total.value();
}

TEST(ExactTotal, IsExactWhereRoundedSumsLoseEverything) {
  EXPECT_EQ(total_of({}), 0.0);
  EXPECT_EQ(total_of({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(total_of({0x1p53, 1.0, 1.0}), 0x1p53 + 2.0);
  EXPECT_EQ(total_of({0x1p53, 1.0}), 0x1p53);                   // halfway: to even
  EXPECT_EQ(total_of({0x1p53, 1.0, 0x1p-1000}), 0x1p53 + 2.0);  // just above halfway
  EXPECT_EQ(total_of({-0x1p53, -1.0, -0x1p-1000}), -0x1p53 - 2.0);
  EXPECT_EQ(total_of({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(total_of({-5e-324}), -5e-324);
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(total_of({most, most, -most}), most);
  EXPECT_EQ(total_of({most, most}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(total_of({1.0, std::numeric_limits<double>::infinity()})));
}

TEST(ExactTotal, OfTwoNumbersIsTheirRoundedSum) {
  RandomStream random(11, stream_purpose("exact total test"), 0);
  for (int i = 0; i < 20'000; ++i) {
    const double a = std::ldexp(random.uniform(-1.0, 1.0), static_cast<int>(random.below(300)) - 150);
    const double b = std::ldexp(random.uniform(-1.0, 1.0), static_cast<int>(random.below(300)) - 150);
    ASSERT_EQ(total_of({a, b}), a + b) << a << " + " << b;
  }
}

TEST(ExactTotal, IsTheSameForAnyOrderAndAnyCut) {
  RandomStream random(12, stream_purpose("exact total test"), 1);
  std::vector<double> numbers;
  for (int i = 0; i < 5'000; ++i)
    numbers.push_back(std::ldexp(random.uniform(-1.0, 1.0), static_cast<int>(random.below(120)) - 60));
  const double whole = total_of(numbers);
  std::reverse(numbers.begin(), numbers.end());
  EXPECT_EQ(total_of(numbers), whole);
  ExactTotal merged;
  for (std::size_t begin = 0; begin < numbers.size(); begin += 777) {
    ExactTotal part;
    for (std::size_t i = begin; i < std::min(numbers.size(), begin + 777); ++i) part.add(numbers[i]);
    merged.add(part);
  }
  EXPECT_EQ(merged.value(), whole);
}

}  // namespace
}  // namespace dfcl::core
