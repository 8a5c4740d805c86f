// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/resample.h"

#include <gtest/gtest.h>

#include <numeric>

#include "dfcl/core/random.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

TrialRows rows_with(const SmallTrialOptions& options) { return rows_of(small_trial(3, options).trial, std::nullopt); }

std::vector<std::array<std::uint8_t, kLanes>> all_weights(const ResampleBlock& block, std::size_t num_rows) {
  std::vector<std::array<std::uint8_t, kLanes>> all;
  ResampleBlock::Tile tile;
  for (std::uint32_t row = 0; row < num_rows; ++row) {
    block.fill({&row, 1}, tile);
    all.push_back(tile[0]);
  }
  return all;
}

TEST(Resample, WeightsAreTheBytesOfTheRowsOwnStream) {
  const TrialRows rows = rows_with({});
  const std::size_t block = 7;
  const auto weights = all_weights(ResampleBlock(rows, Weights::poisson, 0x123456789abcdefULL, block), 50);
  const int thresholds[] = {94, 189, 235, 251, 255};
  for (std::size_t row = 0; row < 50; ++row) {
    core::RandomStream stream(0x123456789abcdefULL, core::stream_purpose("resample"), row);
    for (std::size_t skip = 0; skip < 4 * block; ++skip) stream.next_u32();
    for (std::size_t word = 0; word < 4; ++word) {
      const std::uint32_t bits = stream.next_u32();
      for (std::size_t byte = 0; byte < 4; ++byte) {
        const int value = static_cast<int>((bits >> (8 * byte)) & 0xff);
        int expected = 0;
        for (const int threshold : thresholds) expected += value >= threshold ? 1 : 0;
        EXPECT_EQ(weights[row][4 * word + byte], expected);
      }
    }
  }
}

TEST(Resample, LawHasMeanAndVarianceOneExactly) {
  const int counts[] = {94, 95, 46, 16, 4, 1};
  int total = 0, sum = 0, squares = 0;
  for (int weight = 0; weight < 6; ++weight) {
    total += counts[weight];
    sum += weight * counts[weight];
    squares += weight * weight * counts[weight];
  }
  EXPECT_EQ(total, 256);
  EXPECT_EQ(sum, 256);
  EXPECT_EQ(squares - sum, 256);  // variance = E w^2 - 1 = 1
}

TEST(Resample, WeightsOfManyRowsLookLikePoisson) {
  const TrialRows rows = rows_with({.num_units = 20'000});
  const auto weights = all_weights(ResampleBlock(rows, Weights::poisson, 5, 0), rows.size());
  double sum = 0.0, squares = 0.0;
  for (const auto& row : weights) {
    for (const std::uint8_t weight : row) {
      sum += weight;
      squares += weight * weight;
    }
  }
  const double count = static_cast<double>(weights.size()) * kLanes;
  EXPECT_NEAR(sum / count, 1.0, 0.01);
  EXPECT_NEAR(squares / count, 2.0, 0.03);
}

TEST(Resample, RowsOfOneClusterShareTheirWeights) {
  for (const Weights kind : {Weights::poisson, Weights::multinomial}) {
    const TrialRows rows = rows_with({.units_per_cluster = 4});
    const auto weights = all_weights(ResampleBlock(rows, kind, 5, 2), rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) EXPECT_EQ(weights[row], weights[row - row % 4]);
  }
}

TEST(Resample, MultinomialKeepsTheSizeOfEveryArm) {
  const TrialRows rows = rows_with({});
  const auto weights = all_weights(ResampleBlock(rows, Weights::multinomial, 5, 1), rows.size());
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::vector<std::size_t> per_arm(kSmallArms);
    for (std::size_t row = 0; row < rows.size(); ++row) per_arm[rows.arm[row]] += weights[row][lane];
    EXPECT_EQ(per_arm, rows.arm_units);
  }
}

}  // namespace
}  // namespace dfcl::evaluate
