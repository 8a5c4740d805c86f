// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/grow_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "dfcl/boost/leaf_masks.h"
#include "made_set.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kArms = 4;

// Units with a number that is sometimes missing, a category of many levels and plain numbers.
struct Sample {
  MadeSet made;
  std::vector<trees::FeatureBins> bins;
  std::unique_ptr<BinnedUnits> units;
  std::vector<Sum> sums, half_sums;
  std::vector<std::uint32_t> rows, columns;

  Sample(std::size_t num_units, std::size_t num_features, std::uint64_t seed) {
    made = made_set(
        num_units, num_features, kArms, seed, [](auto, std::size_t) { return 1.0; },
        [](auto, std::size_t) { return 1.0; });
    made.features.columns[1].categorical = true;
    for (std::size_t level = 0; level < 40; ++level)
      made.features.columns[1].levels.push_back(fmt::format("{}", level));
    core::RunContext context(1);
    std::vector<std::uint32_t> all(num_units);
    std::iota(all.begin(), all.end(), 0u);
    for (std::uint32_t unit = 0; unit < num_units; ++unit) {
      core::RandomStream random(seed, core::stream_purpose("grow tree test"), unit);
      made.features.values(unit, 1) = static_cast<float>(random.below(40));
      if (random.below(3) == 0) made.features.values(unit, 0) = std::nanf("");
      const double pull = static_cast<double>(made.features.values(unit, 2)) * made.arm[unit] +
                          (made.features.values(unit, 1) < 7.0f ? 1.0 : 0.0);
      sums.push_back(pack(std::lround(100.0 * (pull + random.normal())), 50 + random.below(100)));
      half_sums.push_back(random.below(2) == 0 ? sums.back() : 0);
      if (random.below(10) > 0) rows.push_back(unit);
    }
    bins = trees::fit_bins(made.features.columns, made.features.values.view(), all, 64, context);
    units = std::make_unique<BinnedUnits>(bins, made.features.values.view(), all, made.arm, kArms, context);
    for (std::uint32_t column = 0; column <= num_features; ++column) columns.push_back(column);
  }

  std::vector<ColumnKind> kinds(ColumnKind arm = ColumnKind::number) const {
    std::vector<ColumnKind> kinds(columns.size(), ColumnKind::number);
    kinds[1] = ColumnKind::category;
    kinds.back() = arm;
    return kinds;
  }
  static SplitRules rules() {
    return {.steps = {0.01, 0.01}, .ridge = 1.0, .least_hessian = 10.0, .level_smooth = 5.0, .level_ridge = 5.0};
  }
  GrownTree grow(std::size_t leaves, ColumnKind arm = ColumnKind::number, int threads = 1) const {
    core::RunContext context(threads);
    std::vector<std::uint32_t> own = rows;
    TreeGrower grower(*units, kinds(arm));
    return grower.grow(own, sums, half_sums, columns, rules(), {leaves, threads > 1}, context);
  }
  std::uint32_t leaf(const Tree& tree, std::size_t unit) const {
    return trees::leaf_of(tree.nodes, tree.sets, 0, units->row(unit));
  }
};

// The same tree from sums over units, without histograms kept or subtracted: each leaf's best split anew each time.
double best_first_gain(const Sample& sample, std::size_t leaves, std::vector<std::vector<std::uint32_t>>& groups) {
  const auto kinds = sample.kinds();
  const SplitRules rules = Sample::rules();
  groups = {sample.rows};
  double total_gain = 0.0;
  while (groups.size() < leaves) {
    Split best;
    std::size_t place = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      SearchedNode node;
      for (const std::uint32_t unit : groups[group]) node.total += sample.sums[unit];
      for (const std::uint32_t column : sample.columns) {
        std::vector<Sum> histogram(kHistogramBins), half(kHistogramBins);
        for (const std::uint32_t unit : groups[group]) {
          histogram[sample.units->row(unit)[column]] += sample.sums[unit];
          half[sample.units->row(unit)[column]] += sample.half_sums[unit];
        }
        Split split = best_split(histogram.data(), sample.units->num_bins(column), kinds[column], node, rules,
                                 kinds[column] == ColumnKind::category ? half.data() : nullptr);
        split.column = column;
        if (split.gain > best.gain) best = split, place = group;
      }
    }
    if (best.gain == 0.0) break;
    std::vector<std::uint32_t> left, right;
    for (const std::uint32_t unit : groups[place]) {
      const std::uint8_t bin = sample.units->row(unit)[best.column];
      const bool goes_left = best.by_set ? ((best.left[bin >> 6] >> (bin & 63)) & 1) != 0
                                         : (bin == 0 ? best.missing_left : bin <= best.last_left);
      (goes_left ? left : right).push_back(unit);
    }
    groups[place] = left;
    groups.push_back(right);
    total_gain += best.gain;
  }
  return total_gain;
}

TEST(BoostGrowTree, GrowsWhatSearchingEveryLeafAnewGrows) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Sample sample(700, 5, seed);
    std::vector<std::vector<std::uint32_t>> groups;
    const double gain = best_first_gain(sample, 12, groups);
    const GrownTree grown = sample.grow(12);
    ASSERT_EQ(grown.tree.values.size(), groups.size());
    EXPECT_NEAR(std::accumulate(grown.gains.begin(), grown.gains.end(), 0.0), gain, 1e-9 * gain);
    std::map<std::uint32_t, std::size_t> sizes;
    for (const std::vector<std::uint32_t>& group : groups) {
      const std::uint32_t leaf = sample.leaf(grown.tree, group.front());
      for (const std::uint32_t unit : group) EXPECT_EQ(sample.leaf(grown.tree, unit), leaf);
      Sum sum = 0;
      for (const std::uint32_t unit : group) sum += sample.sums[unit];
      EXPECT_EQ(grown.tree.values[leaf], static_cast<float>(node_value({.total = sum}, Sample::rules())));
      ++sizes[leaf];
    }
    EXPECT_EQ(sizes.size(), groups.size());
  }
}

TEST(BoostGrowTree, IsTheSameForAnyNumberOfThreadsAndOrderOfUnits) {
  Sample sample(60'000, 12, 3);
  const GrownTree grown = sample.grow(31);
  EXPECT_EQ(grown.tree.values.size(), 31u);
  EXPECT_TRUE(grown.tree == sample.grow(31, ColumnKind::number, 2).tree);
  EXPECT_TRUE(grown.tree == sample.grow(31, ColumnKind::number, 5).tree);
  std::reverse(sample.rows.begin(), sample.rows.end());
  EXPECT_TRUE(grown.tree == sample.grow(31).tree);
}

TEST(BoostGrowTree, ASiblingIsTheParentLessTheChild) {
  const Sample sample(3000, 9, 4);
  core::RunContext context(1);
  const std::size_t width = sample.columns.size() * kHistogramBins;
  std::vector<Sum> all(width), first(width), second(width), spare;
  const std::span<const std::uint32_t> rows = sample.rows;
  add_units(*sample.units, rows, sample.sums, sample.columns, false, all.data(), spare, context);
  add_units(*sample.units, rows.first(1000), sample.sums, sample.columns, false, first.data(), spare, context);
  add_units(*sample.units, rows.subspan(1000), sample.sums, sample.columns, false, second.data(), spare, context);
  subtract(all, first);
  EXPECT_TRUE(all == second);
}

// Few columns, so that threads share out rows too.
TEST(BoostGrowTree, SumsAreTheSameByAnyNumberOfThreads) {
  const Sample sample(60'000, 20, 5);
  const std::size_t width = sample.columns.size() * kHistogramBins;
  core::RunContext alone(1);
  std::vector<Sum> by_one(width, 7), spare;
  add_units(*sample.units, sample.rows, sample.sums, sample.columns, false, by_one.data(), spare, alone);
  EXPECT_TRUE(spare.empty());
  for (const int threads : {2, 5, 16}) {
    core::RunContext context(threads);
    for (int again = 0; again < 2; ++again) {  // the spare memory holds what it held
      std::vector<Sum> by_all(width, 7);
      add_units(*sample.units, sample.rows, sample.sums, sample.columns, true, by_all.data(), spare, context);
      EXPECT_TRUE(by_all == by_one) << threads;
    }
  }
  EXPECT_FALSE(spare.empty()) << "five threads share out rows";
}

TEST(BoostGrowTree, ValuesRiseWithTheArmWhateverTheFeatures) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Sample sample(4000, 5, 20 + seed);
    const GrownTree grown = sample.grow(40, ColumnKind::rising_arms);
    EXPECT_GT(grown.gains.back(), 0.0) << "the arm is split by";
    for (std::size_t unit = 0; unit < sample.units->num_units(); ++unit) {
      std::vector<std::uint8_t> bins(sample.units->row(unit), sample.units->row(unit) + sample.columns.size());
      float last = -1e9f;
      for (std::size_t arm = 0; arm < kArms; ++arm) {
        bins.back() = arm_bin(arm);
        const float value = grown.tree.values[trees::leaf_of(grown.tree.nodes, grown.tree.sets, 0, bins.data())];
        ASSERT_GE(value, last);
        last = value;
      }
    }
  }
}

TEST(BoostGrowTree, MasksFindTheLeafThatAWalkFinds) {
  for (const std::size_t leaves : {2, 8, 31, 32, 80, 255}) {
    for (const ColumnKind arm : {ColumnKind::number, ColumnKind::arms}) {
      const Sample sample(5000, 6, leaves);
      SplitRules rules = Sample::rules();
      rules.least_hessian = 2.0;
      core::RunContext context(1);
      std::vector<std::uint32_t> own = sample.rows;
      TreeGrower grower(*sample.units, sample.kinds(arm));
      const GrownTree grown =
          grower.grow(own, sample.sums, sample.half_sums, sample.columns, rules, {leaves, false}, context);
      ASSERT_EQ(grown.tree.values.size(), leaves);
      const LeafMasks own_arm(grown.tree, sample.units->arm_column(), 0);
      const LeafMasks all_arms(grown.tree, sample.units->arm_column(), kArms);
      for (std::size_t block = 0; block + kBlockUnits <= sample.units->num_units(); block += kBlockUnits) {
        const BlockColumns columns{sample.units->column(0) + block, sample.units->padded_units()};
        std::vector<float> one(kBlockUnits), every(kArms * kBlockUnits);
        own_arm.add_values(columns, one.data());
        all_arms.add_arm_values(columns, every.data());
        for (std::size_t i = 0; i < kBlockUnits; ++i) {
          ASSERT_EQ(one[i], grown.tree.values[sample.leaf(grown.tree, block + i)]);
          std::vector<std::uint8_t> bins(sample.units->row(block + i), sample.units->row(block + i) + 7);
          for (std::size_t a = 0; a < kArms; ++a) {
            bins.back() = arm_bin(a);
            const auto leaf = trees::leaf_of(grown.tree.nodes, grown.tree.sets, 0, bins.data());
            ASSERT_EQ(every[a * kBlockUnits + i], grown.tree.values[leaf]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dfcl::boost
