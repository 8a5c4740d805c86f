// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/feature_bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dfcl/core/random.h"
#include "dfcl/core/run_context.h"

namespace dfcl::trees {
namespace {

// A table of one feature.
struct Table {
  explicit Table(std::size_t num_units) : columns(1), features(num_units, 1) {
    columns[0].name = "x";
    for (std::uint32_t unit = 0; unit < num_units; ++unit) rows.push_back(unit);
  }
  std::vector<data::FeatureColumn> columns;
  core::Matrix<float> features;
  std::vector<std::uint32_t> rows;
};

FeatureBins bins_of(const std::vector<float>& values, std::size_t most_bins) {
  Table table(values.size());
  std::copy(values.begin(), values.end(), table.features.data());
  core::RunContext context(1);
  return fit_bins(table.columns, table.features.view(), table.rows, most_bins, context).front();
}

TEST(FeatureBins, GiveEveryValueItsOwnBinWhereThereAreEnough) {
  const FeatureBins bins = bins_of({3.0f, 1.0f, 2.0f, 2.0f, 1.0f}, 4);
  EXPECT_EQ(bins.num_bins(), 4u);
  EXPECT_EQ(bins.bin_of(1.0f), 1);
  EXPECT_EQ(bins.bin_of(2.0f), 2);
  EXPECT_EQ(bins.bin_of(3.0f), 3);
  EXPECT_EQ(bins.bin_of(-100.0f), 1);
  EXPECT_EQ(bins.bin_of(100.0f), 3);
}

TEST(FeatureBins, HoldAboutEqualNumbersOfUnits) {
  std::vector<float> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(std::exp(static_cast<float>(i) * 1e-3f));
  const FeatureBins bins = bins_of(values, 64);
  EXPECT_EQ(bins.num_bins(), 64u);
  std::vector<int> counts(64);
  for (const float value : values) ++counts[bins.bin_of(value)];
  EXPECT_EQ(counts[0], 0);
  for (std::size_t bin = 1; bin < 64; ++bin) EXPECT_NEAR(counts[bin], 10'000.0 / 63.0, 2.0);
}

TEST(FeatureBins, OfAValueThatMostUnitsHaveDoNotTakeTheOthersAway) {
  std::vector<float> values(900, 0.0f);
  for (int i = 1; i <= 100; ++i) values.push_back(static_cast<float>(i));
  EXPECT_GE(bins_of(values, 16).num_bins(), 14u);
}

TEST(FeatureBins, PutWhatIsNoNumberIntoTheFirstBin) {
  const float infinite = std::numeric_limits<float>::infinity();
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const FeatureBins bins = bins_of({1.0f, 2.0f, missing, infinite}, 255);
  EXPECT_EQ(bins.num_bins(), 3u);
  for (const float value : {missing, infinite, -infinite}) EXPECT_EQ(bins.bin_of(value), 0);
}

TEST(FeatureBins, NeverExceedTheMost) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(bins_of({0.0f, tiny, -tiny}, 255).num_bins(), 4u);
  EXPECT_EQ(bins_of({std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()}, 255).num_bins(), 3u);
  EXPECT_EQ(bins_of({std::numeric_limits<float>::quiet_NaN()}, 255).num_bins(), 2u);
}

TEST(FeatureBins, OfRareLevelsBeyondTheMostAreShared) {
  Table table(2000);
  table.columns[0].categorical = true;
  table.columns[0].levels.resize(400, "level");
  for (std::size_t unit = 0; unit < 2000; ++unit)
    table.features(unit, 0) = unit < 1000 ? 399.0f : static_cast<float>(unit % 400);
  core::RunContext context(1);
  const FeatureBins bins = fit_bins(table.columns, table.features.view(), table.rows, 64, context).front();
  EXPECT_EQ(bins.num_bins(), kMostBins);
  EXPECT_EQ(bins.bin_of(399.0f), 1);
  EXPECT_EQ(bins.bin_of(199.0f), kMostBins - 1);
  EXPECT_EQ(bins.bin_of(198.0f), kMostBins - 1);
  EXPECT_EQ(bins.bin_of(4000.0f), bins.bin_of(0.0f)) << "codes that no reader makes are the pool";
}

TEST(FeatureBins, ManyValuesAtOnceFindTheSameBins) {
  core::RunContext context(1);
  core::RandomStream random(3, core::stream_purpose("many bins"), 0);
  for (const std::size_t num_values : {0, 1, 2, 7, 300, 5000}) {
    FeatureBins bins;
    std::vector<float> values;
    for (std::size_t i = 0; i < num_values; ++i) values.push_back(static_cast<float>(random.normal()));
    core::Matrix<float> matrix(num_values, 1);
    std::copy(values.begin(), values.end(), matrix.data());
    std::vector<std::uint32_t> rows(num_values);
    std::iota(rows.begin(), rows.end(), 0u);
    bins = fit_bins({{.name = "x", .categorical = false, .levels = {}}}, std::as_const(matrix).view(), rows, kMostBins,
                    context)[0];
    values.insert(values.end(), bins.cuts.begin(), bins.cuts.end());
    const float infinite = std::numeric_limits<float>::infinity();
    values.insert(values.end(), {std::nanf(""), infinite, -infinite, 1e38f, -1e38f, 0.0f});
    std::vector<std::uint8_t> found(values.size());
    find_bins(bins, values, found.data());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(found[i], bins.bin_of(values[i])) << values[i];
  }
}

}  // namespace
}  // namespace dfcl::trees
