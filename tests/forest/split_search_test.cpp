// SPDX-License-Identifier: Apache-2.0
//
// The split that is chosen against every possible split, with pseudo-outcomes computed unit by unit.
#include "dfcl/forest/split_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "dfcl/forest/unit_records.h"
#include "tests/forest/made_trial.h"

namespace dfcl::forest {
namespace {

// Everything that a search needs, of all units of a trial as one node.
struct NodeOfAll {
  core::RunContext context{1};
  std::vector<FeatureBins> bins;
  WorkingUnits working;
  UnitRecords records;
  Histogram histogram;

  explicit NodeOfAll(const MadeTrial& trial)
      : bins(trees::fit_bins(trial.columns, trial.features.view(), trial.rows, trees::kMostBins, context)),
        working(make_working_units(trial.seen(), context)),
        records(bins, trial.features.view(), trial.rows, working, context) {
    std::vector<std::uint32_t> features(bins.size());
    std::iota(features.begin(), features.end(), 0u);
    histogram.fill(records, bins_of_feature(), working.num_arms, trial.rows, features);
  }
  std::vector<std::size_t> bins_of_feature() const {
    std::vector<std::size_t> counts;
    for (const FeatureBins& feature : bins) counts.push_back(feature.num_bins());
    return counts;
  }
  Split best(const SplitLimits& limits) { return SplitSearch(bins, working).best_split(histogram, limits); }
};

// By definition: the effects at the node, each unit's influence on them, and the criterion of a division of the units.
class BruteForce {
 public:
  explicit BruteForce(const MadeTrial& trial) : trial_(trial) {
    const std::size_t num_units = trial.rows.size();
    for (int outcome = 0; outcome < 2; ++outcome) {
      std::vector<double> response(num_units);
      for (std::size_t i = 0; i < num_units; ++i) {
        response[i] = outcome == 0 ? static_cast<double>(trial.revenue[i] - trial.base_revenue[i])
                                   : static_cast<double>(trial.cost[i] - trial.base_cost[i]);
      }
      std::vector<double> mean(trial.num_arms), count(trial.num_arms);
      for (std::size_t i = 0; i < num_units; ++i) {
        mean[trial.arm[i]] += response[i];
        count[trial.arm[i]] += 1.0;
      }
      for (std::size_t arm = 0; arm < trial.num_arms; ++arm) mean[arm] /= count[arm];
      for (std::size_t arm = 1; arm < trial.num_arms; ++arm) {
        std::vector<double> pseudo(num_units);
        double squares = 0.0;
        for (std::size_t i = 0; i < num_units; ++i) {
          const std::size_t own = trial.arm[i];
          const double influence = static_cast<double>(num_units) * (response[i] - mean[own]) / count[own];
          pseudo[i] = own == arm ? influence : own == 0 ? -influence : 0.0;
          squares += pseudo[i] * pseudo[i];
        }
        const double spread = std::sqrt(squares / static_cast<double>(num_units));
        for (double& value : pseudo) value /= spread;
        pseudo_outcomes_.push_back(pseudo);
      }
    }
  }

  const std::vector<std::vector<double>>& pseudo_outcomes() const { return pseudo_outcomes_; }

  // 0 where a side has too few units.
  double criterion(const std::vector<bool>& left, const SplitLimits& limits) const {
    std::vector<std::size_t> arms_left(trial_.num_arms), arms_right(trial_.num_arms);
    double num_left = 0.0, num_right = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      ++(left[i] ? arms_left : arms_right)[trial_.arm[i]];
      (left[i] ? num_left : num_right) += 1.0;
    }
    if (std::min(num_left, num_right) < static_cast<double>(limits.min_units)) return 0.0;
    for (std::size_t arm = 0; arm < trial_.num_arms; ++arm)
      if (std::min(arms_left[arm], arms_right[arm]) < limits.min_units_per_arm) return 0.0;
    double total = 0.0;
    for (const auto& pseudo : pseudo_outcomes_) {
      double sum_left = 0.0, sum_right = 0.0;
      for (std::size_t i = 0; i < left.size(); ++i) (left[i] ? sum_left : sum_right) += pseudo[i];
      total += sum_left * sum_left / num_left + sum_right * sum_right / num_right;
    }
    return total;
  }

  // The largest over all features, all thresholds, and both ways for units without a value.
  double best(const SplitLimits& limits) const {
    double best = 0.0;
    for (std::size_t feature = 0; feature < trial_.columns.size(); ++feature) {
      std::set<float> thresholds;
      for (const std::uint32_t row : trial_.rows) {
        const float value = trial_.features(row, feature);
        if (std::isfinite(value)) thresholds.insert(value);
      }
      for (const float threshold : thresholds) {
        for (const bool missing_left : {false, true}) {
          std::vector<bool> left;
          for (const std::uint32_t row : trial_.rows) {
            const float value = trial_.features(row, feature);
            left.push_back(std::isfinite(value) ? value <= threshold : missing_left);
          }
          best = std::max(best, criterion(left, limits));
        }
      }
    }
    return best;
  }

 private:
  const MadeTrial& trial_;
  std::vector<std::vector<double>> pseudo_outcomes_;  // effects x units, in units of their spread
};

std::vector<bool> sides_of(const Split& split, const MadeTrial& trial, const NodeOfAll& node) {
  std::vector<bool> left;
  for (const std::uint32_t row : trial.rows)
    left.push_back(split.goes_left(node.bins[split.feature].bin_of(trial.features(row, split.feature))));
  return left;
}

class SplitSearchAgainstAll : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SplitSearchAgainstAll, ChoosesTheBestOfAllSplitsWhenEveryValueHasItsOwnBin) {
  const std::uint64_t seed = GetParam();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  MadeTrial trial = made_trial(200, 4, 2 + seed % 3, seed, [](std::span<const float> x, std::size_t arm) {
    return static_cast<double>(arm) * (x[1] > 0.2f ? 1.0 : 0.0);
  });
  for (std::size_t unit = 0; unit < 200; ++unit) {  // some values are missing, some are shared
    core::RandomStream random(seed, core::stream_purpose("split search test"), unit);
    if (random.bernoulli(0.2)) trial.features(unit, 1) = std::numeric_limits<float>::quiet_NaN();
    trial.features(unit, 2) = static_cast<float>(random.below(5));
  }
  const SplitLimits limits{.min_units = 15 + seed % 10, .min_units_per_arm = 1 + seed % 4};
  NodeOfAll node(trial);
  const Split found = node.best(limits);
  const BruteForce brute(trial);
  const double best = brute.best(limits);
  ASSERT_TRUE(found.found());
  EXPECT_NEAR(brute.criterion(sides_of(found, trial, node), limits), best, 1e-4 * best);
  EXPECT_NEAR(found.gain, best, 1e-4 * best);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitSearchAgainstAll, testing::Range<std::uint64_t>(0, 24));

TEST(SplitSearch, FindsNothingWhereNoSideMayBeSmallEnough) {
  const MadeTrial trial = made_trial(100, 2, 2, 5, [](std::span<const float>, std::size_t) { return 0.0; });
  NodeOfAll node(trial);
  EXPECT_FALSE(node.best({.min_units = 51, .min_units_per_arm = 1}).found());
}

TEST(SplitSearch, PutsLevelsWithTheSameEffectOnTheSameSide) {
  MadeTrial trial = made_trial(
      4000, 1, 2, 7, [](std::span<const float>, std::size_t) { return 0.0; }, 0.3);
  trial.columns[0] = {.name = "city", .categorical = true, .levels = {"(other)", "a", "b", "c", "d", "e"}};
  for (std::size_t unit = 0; unit < 4000; ++unit) {
    const std::size_t code = unit % 7;  // the seventh is missing
    trial.features(unit, 0) = code == 6 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(code);
    if (trial.arm[unit] == 1 && (code == 1 || code == 4 || code == 6)) trial.revenue[unit] += 2.0f;
  }
  NodeOfAll node(trial);
  const Split split = node.best({.min_units = 10, .min_units_per_arm = 2});
  ASSERT_TRUE(split.found());
  const auto side = [&](float code) { return split.goes_left(node.bins[0].bin_of(code)); };
  EXPECT_EQ(side(1), side(4));
  EXPECT_EQ(side(1), split.goes_left(0)) << "units without a city respond like those of city a";
  for (const float code : {0.0f, 2.0f, 3.0f, 5.0f}) EXPECT_NE(side(code), side(1)) << code;
}

// Where no effect differs, the order of 100 levels would be worth 60 times a split by chance. With what the order adds
// taken off, the category wins no more often than its share among the features.
TEST(SplitSearch, ManyLevelsThatMeanNothingDoNotWin) {
  std::size_t won = 0;
  constexpr std::uint64_t kTrials = 40;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    MadeTrial trial = made_trial(4000, 4, 2 + seed % 3, seed, [](std::span<const float>, std::size_t) { return 0.0; });
    trial.columns[0] = {.name = "group", .categorical = true, .levels = {}};
    for (std::size_t level = 0; level < 100; ++level) trial.columns[0].levels.push_back(fmt::format("g{}", level));
    for (std::size_t unit = 0; unit < 4000; ++unit) trial.features(unit, 0) = static_cast<float>(unit * 31 % 100);
    NodeOfAll node(trial);
    won += node.best({.min_units = 200, .min_units_per_arm = 10}).feature == 0 ? 1 : 0;
  }
  EXPECT_LE(won, kTrials / 2);
}

// Shares of the criterion along the sum of the pseudo-outcomes, by their correlations computed unit by unit.
TEST(SplitSearch, KnowsHowMuchOfTheCriterionLiesAlongTheOrderOfLevels) {
  const MadeTrial trial = made_trial(3000, 1, 4, 9, [](std::span<const float>, std::size_t) { return 0.0; });
  core::RunContext context(1);
  const WorkingUnits working = make_working_units(trial.seen(), context);
  const auto pseudo = BruteForce(trial).pseudo_outcomes();
  double rows = 0.0, total = 0.0;
  for (const auto& first : pseudo) {
    double row = 0.0;
    for (const auto& second : pseudo) {
      for (std::size_t i = 0; i < first.size(); ++i) row += first[i] * second[i] / static_cast<double>(first.size());
    }
    rows += row * row;
    total += row;
  }
  EXPECT_NEAR(working.share_along_sum, rows / total, 1e-3);
  EXPECT_GT(working.share_along_sum, 1.5);  // three arms share their control
}

TEST(SplitSearch, DoesNotDependOnTheCurrency) {
  const auto effect = [](std::span<const float> x, std::size_t arm) { return static_cast<double>(arm) * x[0]; };
  const MadeTrial trial = made_trial(500, 3, 3, 11, effect);
  MadeTrial other = made_trial(500, 3, 3, 11, effect);
  for (float& value : other.revenue) value *= 1024.0f;
  for (float& value : other.cost) value *= 0.0625f;
  NodeOfAll node(trial), other_node(other);
  const SplitLimits limits{.min_units = 20, .min_units_per_arm = 3};
  const Split split = node.best(limits);
  EXPECT_EQ(split.feature, other_node.best(limits).feature);
  EXPECT_EQ(split.left, other_node.best(limits).left);
}

TEST(Histogram, OfTheLargerChildIsTheParentLessTheSmaller) {
  const MadeTrial trial = made_trial(3000, 5, 4, 3, [](std::span<const float>, std::size_t) { return 0.0; });
  NodeOfAll node(trial);
  const std::vector<std::uint32_t> features = {0, 1, 2, 3, 4};
  const std::span<const std::uint32_t> rows(trial.rows);
  Histogram smaller, larger;
  smaller.fill(node.records, node.bins_of_feature(), 4, rows.first(700), features);
  larger.fill(node.records, node.bins_of_feature(), 4, rows.subspan(700), features);
  node.histogram.subtract(smaller);
  for (std::size_t place = 0; place < features.size(); ++place) {
    const auto left = node.histogram.of_place(place);
    const auto right = larger.of_place(place);
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
}

}  // namespace
}  // namespace dfcl::forest
