// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/rising.h"

#include <gtest/gtest.h>

#include <vector>

namespace dfcl::learn {
namespace {

std::vector<double> rising(std::vector<double> values, std::vector<double> weights) {
  make_rising(weights, values);
  return values;
}

TEST(Rising, NeighboursThatFallTakeTheirWeightedMean) {
  EXPECT_EQ(rising({1.0, 2.0, 3.0}, {1.0, 1.0, 1.0}), (std::vector{1.0, 2.0, 3.0}));
  EXPECT_EQ(rising({1.0, 4.0, 2.0}, {1.0, 1.0, 3.0}), (std::vector{1.0, 2.5, 2.5}));
  EXPECT_EQ(rising({5.0, 4.0, 0.0}, {1.0, 1.0, 1.0}), (std::vector{3.0, 3.0, 3.0}));
}

TEST(Rising, ValuesWithoutWeightHaveNoSay) {
  EXPECT_EQ(rising({9.0, 1.0, 2.0}, {0.0, 1.0, 1.0}), (std::vector{1.0, 1.0, 2.0}));
  EXPECT_EQ(rising({1.0, -9.0, 2.0, 99.0}, {1.0, 0.0, 1.0, 0.0}), (std::vector{1.0, 1.0, 2.0, 2.0}));
  EXPECT_EQ(rising({3.0, 1.0}, {0.0, 0.0}), (std::vector{3.0, 1.0}));
  EXPECT_TRUE(rising({}, {}).empty());
}

}  // namespace
}  // namespace dfcl::learn
