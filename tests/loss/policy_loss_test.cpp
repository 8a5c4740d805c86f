// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/policy_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 47;

// Without a baseline, and in the doubly robust form, the value has the gradient claimed.
TEST(PolicyLoss, HasTheGradientOfItsValue) {
  for (const Baseline baseline : {Baseline::none, Baseline::doubly_robust}) {
    for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
      for (const double temperature : {1.0, 0.3}) {
        const std::uint64_t seed = kSeed + num_arms;
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms << ", temperature " << temperature);
        Sample<double> sample = random_sample<double>(seed, 7, num_arms, num_arms);
        expect_own_gradient(
            PolicyLoss<double>({.multipliers = {0.1, 0.7, 2.0}, .baseline = baseline, .temperature = temperature}),
            sample);
      }
    }
  }
}

// Value with a given baseline for each multiplier, written down from eq. 5: y - b in the place of y.
double value_with_baseline(const Sample<double>& sample, const std::vector<double>& multipliers,
                           const std::vector<std::vector<double>>& baseline, double temperature) {
  double sum = 0.0;
  for (std::size_t l = 0; l < multipliers.size(); ++l) {
    for (std::size_t row = 0; row < sample.num_rows(); ++row) {
      double total = 0.0;
      for (std::size_t arm = 0; arm < sample.num_arms(); ++arm) {
        total += std::exp((sample.revenue(row, arm) - multipliers[l] * sample.cost(row, arm)) / temperature);
      }
      const std::size_t t = sample.arm[row];
      const double q = std::exp((sample.revenue(row, t) - multipliers[l] * sample.cost(row, t)) / temperature) / total;
      const double y = static_cast<double>(sample.observed_revenue[row]) -
                       multipliers[l] * static_cast<double>(sample.observed_cost[row]);
      sum -= static_cast<double>(sample.weight[row]) * (y - baseline[l][row]) * q;
    }
  }
  return sum / static_cast<double>(multipliers.size());
}

TEST(PolicyLoss, HasNoGradientThroughTheMeanBaseline) {
  const std::vector<double> multipliers = {0.2, 0.9};
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    const std::uint64_t seed = kSeed + 10 + num_arms;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
    Sample<double> sample = random_sample<double>(seed, 7, num_arms, num_arms);
    std::vector<std::vector<double>> frozen;
    for (const double multiplier : multipliers) {
      frozen.emplace_back();
      for (std::size_t row = 0; row < sample.num_rows(); ++row) {
        double mean = 0.0;
        for (std::size_t arm = 0; arm < num_arms; ++arm) {
          mean += (sample.revenue(row, arm) - multiplier * sample.cost(row, arm)) / static_cast<double>(num_arms);
        }
        frozen.back().push_back(mean);
      }
    }
    const PolicyLoss<double> loss({.multipliers = multipliers, .baseline = Baseline::mean, .temperature = 0.4});
    const Result<double> claimed = result_of(loss, sample.rows());
    const auto value = [&](const Sample<double>& at) { return value_with_baseline(at, multipliers, frozen, 0.4); };
    EXPECT_NEAR(claimed.value, value(sample), 1e-12);
    expect_gradient(sample, claimed, value);
  }
}

TEST(PolicyLoss, AtTemperatureOneIsEquationFive) {
  const Sample<double> sample = random_sample<double>(kSeed, 20, 3, 3);
  const std::vector<double> multipliers = {0.3};
  const std::vector<std::vector<double>> none = {std::vector<double>(20, 0.0)};
  const PolicyLoss<double> loss({.multipliers = multipliers, .baseline = Baseline::none});  // temperature left as it is
  EXPECT_NEAR(result_of(loss, sample.rows()).value, value_with_baseline(sample, multipliers, none, 1.0), 1e-12);
}

TEST(PolicyLoss, ComesCloseToTheHardDecisionWhenCold) {
  const Sample<double> sample = random_sample<double>(kSeed, 50, 4, 4);
  double hard = 0.0;
  for (std::size_t row = 0; row < sample.num_rows(); ++row) {
    std::size_t best = 0;
    for (std::size_t arm = 1; arm < 4; ++arm) {
      if (sample.revenue(row, arm) > sample.revenue(row, best)) best = arm;
    }
    if (best == sample.arm[row]) hard -= static_cast<double>(sample.weight[row] * sample.observed_revenue[row]);
  }
  const PolicyLoss<double> loss({.multipliers = {0.0}, .baseline = Baseline::none, .temperature = 1e-5});
  EXPECT_NEAR(result_of(loss, sample.rows()).value, hard, 1e-4);
}

TEST(PolicyLoss, DoublyRobustWithNoNuisanceIsThePlainForm) {
  Sample<double> sample = random_sample<double>(kSeed, 20, 3, 3);
  std::fill_n(sample.nuisance_revenue.data(), 60, 0.0f);
  std::fill_n(sample.nuisance_cost.data(), 60, 0.0f);
  DecisionOptions options{.multipliers = {0.3, 0.6}, .baseline = Baseline::none, .temperature = 0.2};
  const Result<double> plain = result_of(PolicyLoss<double>(options), sample.rows());
  options.baseline = Baseline::doubly_robust;
  const Result<double> robust = result_of(PolicyLoss<double>(options), sample.rows());
  EXPECT_EQ(plain.value, robust.value);
  EXPECT_EQ(numbers(plain.revenue), numbers(robust.revenue));
}

}  // namespace
}  // namespace dfcl::loss
