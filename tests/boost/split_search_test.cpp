// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/split_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::boost {
namespace {

constexpr SplitRules kRules{.steps = {1.0, 1.0}, .ridge = 2.0, .least_hessian = 10.0};

struct Bins {
  std::vector<Sum> sums;
  SearchedNode node;
};

// Some bins are empty; bin 0 (missing) where asked for.
Bins random_bins(std::size_t num_bins, bool missing, std::uint64_t seed) {
  Bins bins{std::vector<Sum>(kHistogramBins), {}};
  core::RandomStream random(seed, core::stream_purpose("split search test"), 0);
  for (std::size_t bin = missing ? 0 : 1; bin < num_bins; ++bin) {
    if (bin > 0 && random.below(4) == 0) continue;
    bins.sums[bin] = pack(static_cast<std::int64_t>(random.below(200)) - 100, random.below(20) + 1);
    bins.node.total += bins.sums[bin];
  }
  return bins;
}

double score(double gradient, double hessian, double ridge) { return gradient * gradient / (hessian + ridge); }

double gain(const Bins& bins, const std::vector<bool>& left, double ridge) {
  Sum sum = 0;
  for (std::size_t bin = 0; bin < left.size(); ++bin) sum += left[bin] ? bins.sums[bin] : 0;
  const Sum other = bins.node.total - sum;
  const auto g = [](Sum s) { return static_cast<double>(gradient_of(s)); };
  const auto h = [](Sum s) { return static_cast<double>(hessian_of(s)); };
  if (h(sum) < kRules.least_hessian || h(other) < kRules.least_hessian) return 0.0;
  return std::max(0.0, score(g(sum), h(sum), ridge) + score(g(other), h(other), ridge) -
                           score(g(bins.node.total), h(bins.node.total), kRules.ridge));
}

std::vector<bool> left_bins(const Split& split, std::size_t num_bins) {
  std::vector<bool> left;
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    left.push_back(split.by_set ? ((split.left[bin >> 6] >> (bin & 63)) & 1) != 0
                                : (bin == 0 ? split.missing_left : bin <= split.last_left));
  }
  return left;
}

TEST(BoostSplitSearch, FindsTheBestCutOfNumbersWithMissingValuesOnEitherSide) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const bool missing = seed % 2 == 1;
    const std::size_t num_bins = 3 + seed % 40;
    const Bins bins = random_bins(num_bins, missing, seed);
    double best = 0.0;
    for (std::size_t last = 0; last < num_bins; ++last) {
      for (const bool missing_left : {false, true}) {
        std::vector<bool> left(num_bins);
        for (std::size_t bin = 0; bin < num_bins; ++bin) left[bin] = bin == 0 ? missing_left : bin <= last;
        best = std::max(best, gain(bins, left, kRules.ridge));
      }
    }
    const Split split = best_split(bins.sums.data(), num_bins, ColumnKind::number, bins.node, kRules);
    EXPECT_NEAR(split.gain, best, 1e-9 * (1.0 + best)) << "seed " << seed;
    if (best == 0.0) continue;
    EXPECT_NEAR(gain(bins, left_bins(split, num_bins), kRules.ridge), best, 1e-9 * (1.0 + best)) << "seed " << seed;
  }
}

TEST(BoostSplitSearch, FindsTheBestOfAllSubsetsOfArms) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::size_t num_bins = 3 + seed % 7;
    const Bins bins = random_bins(num_bins, false, 1000 + seed);
    SplitRules rules = kRules;
    rules.ridge = 0.0;  // sorting is exact without it, and where every side is large enough
    rules.least_hessian = 1.0;
    double best = 0.0;
    for (std::size_t subset = 0; subset < (std::size_t{1} << num_bins); ++subset) {
      std::vector<bool> left(num_bins);
      for (std::size_t bin = 0; bin < num_bins; ++bin) left[bin] = ((subset >> bin) & 1) != 0;
      const Sum total = bins.node.total;
      Sum sum = 0;
      for (std::size_t bin = 0; bin < num_bins; ++bin) sum += left[bin] ? bins.sums[bin] : 0;
      const auto value = [](Sum s) {
        return hessian_of(s) < 1
                   ? -1e9
                   : std::pow(static_cast<double>(gradient_of(s)), 2) / static_cast<double>(hessian_of(s));
      };
      best = std::max(best, value(sum) + value(total - sum) - value(total));
    }
    const Split split = best_split(bins.sums.data(), num_bins, ColumnKind::arms, bins.node, rules);
    EXPECT_NEAR(split.gain, best, 1e-6 * (1.0 + best)) << "seed " << seed;
  }
}

TEST(BoostSplitSearch, ManyLevelsGainByWhatTheOtherHalfOfTheUnitsSays) {
  for (const bool signal : {false, true}) {
    std::vector<Sum> all(kHistogramBins), half(kHistogramBins);
    SearchedNode node;
    core::RandomStream random(5, core::stream_purpose("many levels"), signal ? 1 : 0);
    for (std::size_t bin = 1; bin < 201; ++bin) {
      const double mean = signal ? (bin % 4 == 0 ? -30.0 : 10.0) : 0.0;
      const Sum first = pack(std::lround(mean + 20.0 * random.normal()), 20);
      const Sum second = pack(std::lround(mean + 20.0 * random.normal()), 20);
      half[bin] = first;
      all[bin] = first + second;
      node.total += all[bin];
    }
    const double by_all = best_split(all.data(), 201, ColumnKind::category, node, kRules).gain;
    const Split split = best_split(all.data(), 201, ColumnKind::category, node, kRules, half.data());
    // By chance alone sorting gains about 0.64 of a square of the noise for each of 200 levels.
    EXPECT_GT(by_all, 2000.0);
    if (!signal) {
      EXPECT_LT(split.gain, 0.1 * by_all);
      continue;
    }
    EXPECT_GT(split.gain, 0.3 * by_all);
    const std::vector<bool> left = left_bins(split, 201);
    std::size_t right_side = 0;
    Sum sum = 0;
    for (std::size_t bin = 1; bin < 201; ++bin) {
      right_side += left[bin] == (bin % 4 == 0) ? 1 : 0;
      sum += left[bin] ? all[bin] : 0;
    }
    EXPECT_GT(right_side, 170u);
    EXPECT_EQ(sum, split.left_sum);
  }
}

TEST(BoostSplitSearch, LevelsThatNobodyHasGoToTheHeavierSide) {
  std::vector<Sum> sums(kHistogramBins);
  sums[1] = pack(-500, 100);
  sums[2] = pack(500, 300);
  const SearchedNode node{.total = sums[1] + sums[2]};
  const Split split = best_split(sums.data(), 5, ColumnKind::category, node, kRules);
  ASSERT_GT(split.gain, 0.0);
  const std::vector<bool> left = left_bins(split, 5);
  EXPECT_NE(left[1], left[2]);
  EXPECT_EQ(left[3], left[2]);
  EXPECT_EQ(left[0], left[2]);
}

TEST(BoostSplitSearch, RisingArmsSplitOnlyWhereValuesRise) {
  std::vector<Sum> sums(kHistogramBins);
  sums[1] = pack(-1000, 100);  // a high value for the lower arm
  sums[2] = pack(1000, 100);
  const SearchedNode node{.total = sums[1] + sums[2]};
  EXPECT_EQ(best_split(sums.data(), 3, ColumnKind::rising_arms, node, kRules).gain, 0.0);
  std::swap(sums[1], sums[2]);
  EXPECT_GT(best_split(sums.data(), 3, ColumnKind::rising_arms, node, kRules).gain, 0.0);
}

TEST(BoostSplitSearch, ASideNeedsMoreWeightWhereUnitsOfRareArmsMakeItUp) {
  // 1,000 units of weight 1 and 25 of weight 40, on an arm of their own. Of equal units 10 are needed on a side.
  const std::vector<ArmWeight> weights = {{}, {1000.0, 1000.0}, {1000.0, 40'000.0}};
  SplitRules rules = kRules;
  rules.ridge = 0.0;
  rules.arm_weights = weights;
  SearchedNode node;
  EXPECT_EQ(rule_factor(node.arms, rules), 20.5 / 4.0);
  EXPECT_EQ(rule_factor({1 << 2}, rules), 10.0);
  EXPECT_EQ(rule_factor({1 << 1}, rules), 1.0);
  EXPECT_EQ(rule_factor({1 << 5}, rules), 1.0) << "an arm without units";
  node.factor = rule_factor(node.arms, rules);
  for (const ColumnKind kind : {ColumnKind::arms, ColumnKind::graded_arms, ColumnKind::rising_arms}) {
    for (const std::int64_t heavy : {99, 101}) {  // a little less, and more, than two and a half units
      std::vector<Sum> sums(kHistogramBins);
      sums[1] = pack(100, 11);
      sums[2] = pack(-500, heavy);
      node.total = sums[1] + sums[2];
      EXPECT_EQ(best_split(sums.data(), 3, kind, node, rules).gain > 0.0, heavy > 100);
    }
  }
  // By a number: both sides have units of both arms.
  for (const std::int64_t side : {51, 52}) {
    std::vector<Sum> sums(kHistogramBins);
    sums[1] = pack(500, side);
    sums[2] = pack(-500, 1000);
    node.total = sums[1] + sums[2];
    EXPECT_EQ(best_split(sums.data(), 3, ColumnKind::number, node, rules).gain > 0.0, side > 51);
  }
}

TEST(BoostSplitSearch, AGainWithinBoundsIsThatOfClampedValues) {
  std::vector<Sum> sums(kHistogramBins);
  sums[1] = pack(-1000, 98);
  sums[2] = pack(1000, 98);
  SearchedNode node{.total = sums[1] + sums[2], .bounds = {-1.0, 1.0}};
  const Split split = best_split(sums.data(), 3, ColumnKind::number, node, kRules);
  EXPECT_NEAR(split.gain, 2.0 * (2.0 * 1000.0 - 100.0), 1e-6);  // values 1 and -1 instead of 10 and -10
  node.total = sums[1];
  EXPECT_EQ(node_value(node, kRules), 1.0);
}

}  // namespace
}  // namespace dfcl::boost
