// SPDX-License-Identifier: Apache-2.0
#include "dfcl/data/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfcl::data {
namespace {

TEST(Splits, ByHashHaveTheirShares) {
  const Study::Split split;
  std::array<int, 3> counts{};
  const Ids ids(RowNumbers{1, 100'000});
  for (std::size_t unit = 0; unit < ids.size(); ++unit) {
    ++counts[static_cast<std::size_t>(split_of_hash(ids.hash(unit, split_seed(split)), split))];
  }
  EXPECT_NEAR(counts[0], 60'000, 800);
  EXPECT_NEAR(counts[1], 10'000, 500);
  EXPECT_NEAR(counts[2], 30'000, 800);
}

TEST(Splits, ByTimeTrainEarlyAndTestLate) {
  const auto count = [](const std::vector<Split>& splits, Split part) {
    return std::count(splits.begin(), splits.end(), part);
  };
  const auto two_weeks = splits_of_times(14, {.by = "time", .train = 0.5, .validation = 0.0, .test = 0.5});
  for (std::size_t day = 0; day < 14; ++day) EXPECT_EQ(two_weeks[day], day < 7 ? Split::train : Split::test);
  const auto two_days = splits_of_times(2, Study::Split{});
  EXPECT_EQ(two_days.front(), Split::train);
  EXPECT_EQ(two_days.back(), Split::test);
  const auto ten = splits_of_times(10, Study::Split{});
  EXPECT_EQ(count(ten, Split::train), 6);
  EXPECT_EQ(count(ten, Split::validation), 1);
  EXPECT_EQ(count(ten, Split::test), 3);
  EXPECT_EQ(splits_of_times(1, Study::Split{}).front(), Split::train);
}

TEST(Splits, LeaveTestingToAnotherFile) {
  const Study::Split split = without_test({.train = 0.6, .validation = 0.2, .test = 0.2});
  EXPECT_DOUBLE_EQ(split.train, 0.75);
  EXPECT_DOUBLE_EQ(split.train + split.validation, 1.0);
  EXPECT_EQ(split.test, 0.0);
  const Study::Split again = without_test(split);
  EXPECT_EQ(again.train, split.train);
}

}  // namespace
}  // namespace dfcl::data
