// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/estimators/net_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfcl/core/random.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::size_t kArms = 3;

// A trial whose true outcomes are known for every arm.
struct KnownTrial {
  explicit KnownTrial(std::size_t num_units, std::uint64_t seed)
      : truth_revenue(num_units, kArms),
        truth_cost(num_units, kArms),
        wrong_revenue(num_units, kArms),
        wrong_cost(num_units, kArms) {
    const double shares[kArms] = {0.5, 0.3, 0.2};
    for (std::size_t unit = 0; unit < num_units; ++unit) {
      core::RandomStream stream(seed, core::stream_purpose("net_value_test"), unit);
      const double base = stream.uniform(0.0, 2.0);
      const double slope = stream.uniform(0.0, 2.0);
      for (std::size_t a = 0; a < kArms; ++a) {
        truth_revenue(unit, a) = static_cast<float>(base + slope * std::sqrt(static_cast<double>(a)));
        truth_cost(unit, a) = static_cast<float>(0.5 * static_cast<double>(a));
        wrong_revenue(unit, a) = static_cast<float>(base + 0.3 * stream.normal());
        wrong_cost(unit, a) = static_cast<float>(0.2 * static_cast<double>(a));
      }
      const double draw = stream.uniform();
      const std::size_t received = draw < shares[0] ? 0 : (draw < shares[0] + shares[1] ? 1 : 2);
      arm.push_back(static_cast<std::uint8_t>(received));
      weight.push_back(static_cast<float>(1.0 / shares[received]));
      revenue.push_back(truth_revenue(unit, received) + static_cast<float>(stream.normal()));
      cost.push_back(truth_cost(unit, received));
    }
  }
  RewardUnits units(bool right_nuisance) const {
    return {arm,
            revenue,
            cost,
            weight,
            (right_nuisance ? truth_revenue : wrong_revenue).view(),
            (right_nuisance ? truth_cost : wrong_cost).view()};
  }
  // The true net value of choosing by the given scores.
  double true_value(const Scores& scores, std::span<const double> multipliers) const {
    double total = 0.0;
    for (const double multiplier : multipliers) {
      for (std::size_t unit = 0; unit < arm.size(); ++unit) {
        std::size_t best = 0;
        const auto score = [&](std::size_t a) { return scores.revenue(unit, a) - multiplier * scores.cost(unit, a); };
        for (std::size_t a = 1; a < kArms; ++a) best = score(a) > score(best) ? a : best;
        total += truth_revenue(unit, best) - multiplier * truth_cost(unit, best);
      }
    }
    return total / static_cast<double>(arm.size() * multipliers.size());
  }
  Scores right() const { return {truth_revenue.view(), truth_cost.view()}; }
  Scores wrong() const { return {wrong_revenue.view(), wrong_cost.view()}; }

  core::Matrix<float> truth_revenue, truth_cost, wrong_revenue, wrong_cost;
  std::vector<std::uint8_t> arm;
  std::vector<float> revenue, cost, weight;
};

const std::vector<double> kMultipliers = {0.2, 1.0, 2.0};

TEST(NetValue, IsRightWithAnyNuisance) {
  const KnownTrial trial(40'000, kSeed);
  core::RunContext context(2);
  for (const bool right_nuisance : {true, false}) {
    for (const Scores& scores : {trial.right(), trial.wrong()}) {
      const Estimate estimate = net_value(trial.units(right_nuisance), scores, kMultipliers, context).mean();
      EXPECT_NEAR(estimate.value, trial.true_value(scores, kMultipliers), 4.5 * estimate.standard_error)
          << "seed " << kSeed;
      EXPECT_GT(estimate.standard_error, 0.0);
    }
  }
}

TEST(NetValue, PrefersTheModelThatDecidesBetter) {
  const KnownTrial trial(40'000, kSeed);
  core::RunContext context(2);
  const Estimate difference =
      net_value_difference(trial.units(false), trial.right(), trial.wrong(), kMultipliers, context).mean();
  const double truth = trial.true_value(trial.right(), kMultipliers) - trial.true_value(trial.wrong(), kMultipliers);
  EXPECT_GT(truth, 0.0);
  EXPECT_NEAR(difference.value, truth, 4.5 * difference.standard_error) << "seed " << kSeed;
  EXPECT_GT(difference.value, 2.0 * difference.standard_error);
}

TEST(NetValue, OfAModelAgainstItselfIsExactlyZero) {
  const KnownTrial trial(1000, kSeed);
  core::RunContext context(2);
  const Estimate none =
      net_value_difference(trial.units(true), trial.wrong(), trial.wrong(), kMultipliers, context).mean();
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.standard_error, 0.0);
}

TEST(NetValue, StandardErrorsCoverOverManyTrials) {
  int covered = 0;
  core::RunContext context(1);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const KnownTrial trial(1000, 1000 + seed);
    const Estimate estimate =
        net_value_difference(trial.units(false), trial.right(), trial.wrong(), kMultipliers, context).mean();
    const double truth = trial.true_value(trial.right(), kMultipliers) - trial.true_value(trial.wrong(), kMultipliers);
    covered += std::abs(estimate.value - truth) <= 1.96 * estimate.standard_error ? 1 : 0;
  }
  EXPECT_GE(covered, 368);  // 95 % of 400, less three standard deviations
}

// Units of one cluster that are all alike tell no more than one of them.
TEST(NetValue, CopiesOfAUnitAddNothingToWhatIsKnown) {
  KnownTrial trial(1000, kSeed);
  core::RunContext context(2);
  const Estimate once = net_value(trial.units(false), trial.right(), kMultipliers, context).mean();
  std::vector<std::uint32_t> cluster(1000);
  for (std::uint32_t unit = 0; unit < 1000; ++unit) cluster[unit] = unit * 7919 % 1000;
  RewardUnits units = trial.units(false);
  units.cluster = cluster;
  const Estimate alone = net_value(units, trial.right(), kMultipliers, context).mean();
  EXPECT_NEAR(alone.value, once.value, 1e-12);
  EXPECT_NEAR(alone.standard_error, once.standard_error, 1e-12);

  const auto three_times = [](auto values) {
    const auto one = values;
    for (int copy = 0; copy < 2; ++copy) values.insert(values.end(), one.begin(), one.end());
    return values;
  };
  const auto stacked = [](const core::Matrix<float>& one) {
    core::Matrix<float> all(3 * one.rows(), one.cols());
    for (std::size_t row = 0; row < all.rows(); ++row)
      std::ranges::copy(one.row(row % one.rows()), all.row(row).begin());
    return all;
  };
  const core::Matrix<float> revenue = stacked(trial.truth_revenue), cost = stacked(trial.truth_cost);
  const core::Matrix<float> nuisance_revenue = stacked(trial.wrong_revenue), nuisance_cost = stacked(trial.wrong_cost);
  const auto arm = three_times(trial.arm);
  const auto seen_revenue = three_times(trial.revenue), seen_cost = three_times(trial.cost);
  const auto weight = three_times(trial.weight);
  const auto clusters = three_times(cluster);
  const RewardUnits copies{arm,     seen_revenue, seen_cost, weight, nuisance_revenue.view(), nuisance_cost.view(),
                           clusters};
  const Estimate thrice = net_value(copies, {revenue.view(), cost.view()}, kMultipliers, context).mean();
  EXPECT_NEAR(thrice.value, once.value, 1e-12);
  EXPECT_NEAR(thrice.standard_error, once.standard_error, 1e-12);
}

// Clusters judged in two parts, as in the folds of a contest, tell what they tell together; one alone tells no error.
TEST(NetValue, SumsOfPartsAddUpToTheWhole) {
  ValueSums whole, first, second, one;
  for (int group = 0; group < 6; ++group) {
    const double value = 0.5 * group * group - 3.0;
    const double num_units = 1.0 + group % 3;
    whole.add_group(value, num_units);
    (group < 1 ? first : second).add_group(value, num_units);
    if (group == 0) one.add_group(value, num_units);
  }
  first.add(second);
  EXPECT_DOUBLE_EQ(first.mean().value, whole.mean().value);
  EXPECT_DOUBLE_EQ(first.mean().standard_error, whole.mean().standard_error);
  double deviations = 0.0;
  for (int group = 0; group < 6; ++group)
    deviations += std::pow(0.5 * group * group - 3.0 - whole.mean().value * (1.0 + group % 3), 2);
  EXPECT_NEAR(whole.mean().standard_error, std::sqrt(deviations * 6.0 / 5.0) / 12.0, 1e-12);
  EXPECT_EQ(one.mean().standard_error, std::numeric_limits<double>::infinity());
}

TEST(NetValue, IsTheSameForAnyNumberOfThreads) {
  const KnownTrial trial(50'000, kSeed);
  std::vector<double> values;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads);
    values.push_back(net_value(trial.units(false), trial.wrong(), kMultipliers, context).mean().value);
  }
  EXPECT_EQ(values[0], values[1]);
  EXPECT_EQ(values[0], values[2]);
}

}  // namespace
}  // namespace dfcl::evaluate
