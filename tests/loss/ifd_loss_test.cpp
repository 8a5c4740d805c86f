// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/ifd_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dfcl/loss/fd_loss.h"
#include "dfcl/loss/ifd_softmax_loss.h"
#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 61;

struct Unit {
  std::vector<double> score;
  std::vector<double> reward;
};

Unit random_unit(std::uint64_t seed, std::size_t num_arms) {
  core::RandomStream random(seed, core::stream_purpose("ifd tests"), num_arms);
  Unit unit;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    unit.score.push_back(random.uniform(-1.0, 1.0));
    unit.reward.push_back(random.normal());
  }
  return unit;
}

std::vector<std::size_t> ranking(const std::vector<double>& score) {
  std::vector<std::size_t> order(score.size());
  for (std::size_t arm = 0; arm < order.size(); ++arm) order[arm] = arm;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  return order;
}

// The step of one score that flips the decision, a relative 1e-9 beyond it: up for an arm that loses, down for the
// winner.
double flipping_step(const Unit& unit, std::size_t arm) {
  const std::vector<std::size_t> order = ranking(unit.score);
  const double beyond = 1.0 + 1e-9;
  return arm == order[0] ? -(unit.score[order[0]] - unit.score[order[1]]) * beyond
                         : (unit.score[order[0]] - unit.score[arm]) * beyond;
}

TEST(IfdClosedForm, EqualsBruteForceAtEachEntrysOwnFlippingStep) {
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    for (std::uint64_t seed = kSeed; seed < kSeed + 200; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
      const Unit unit = random_unit(seed, num_arms);
      std::vector<double> slope(num_arms);
      ifd_closed_form(unit.score, unit.reward, slope);
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        const double brute = fd_score_slope(unit.score, unit.reward, arm, flipping_step(unit, arm));
        EXPECT_NEAR(slope[arm], brute, 2e-9 * std::abs(brute));
        EXPECT_NE(brute, 0.0);
        // A step that stops short of the flip changes nothing: the step used was the smallest one.
        EXPECT_EQ(fd_score_slope(unit.score, unit.reward, arm, flipping_step(unit, arm) * (1.0 - 1e-8)), 0.0);
      }
    }
  }
}

TEST(IfdPublishedForm, IsRightForTwoArmsAndWhereTheArmSeenIsOneOfTheTopTwo) {
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    for (std::uint64_t seed = kSeed; seed < kSeed + 50; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
      Unit unit = random_unit(seed, num_arms);
      const std::vector<std::size_t> order = ranking(unit.score);
      for (std::size_t place = 0; place < num_arms; ++place) {
        const std::size_t received = order[place];
        const double gain = 0.7;
        std::fill(unit.reward.begin(), unit.reward.end(), 0.0);
        unit.reward[received] = gain;
        std::vector<double> right(num_arms), published(num_arms);
        ifd_closed_form(unit.score, unit.reward, right);
        ifd_published_form(unit.score, received, gain, published);
        for (std::size_t arm = 0; arm < num_arms; ++arm) {
          // The wrong term: the winner's, where the arm seen is third or worse.
          if (place >= 2 && arm == order[0]) {
            EXPECT_EQ(right[arm], 0.0);
            EXPECT_NE(published[arm], 0.0);
          } else {
            EXPECT_NEAR(published[arm], right[arm], 1e-12 * std::abs(right[arm]));
          }
        }
      }
    }
  }
}

// Scores and rewards of the rows at one multiplier, without a baseline.
Unit unit_of(const Sample<double>& sample, std::size_t row, double multiplier) {
  Unit unit;
  for (std::size_t arm = 0; arm < sample.num_arms(); ++arm) {
    unit.score.push_back(sample.revenue(row, arm) - multiplier * sample.cost(row, arm));
    const double y =
        static_cast<double>(sample.observed_revenue[row]) - multiplier * static_cast<double>(sample.observed_cost[row]);
    unit.reward.push_back(arm == sample.arm[row] ? static_cast<double>(sample.weight[row]) * y : 0.0);
  }
  return unit;
}

TEST(IfdLoss, IsTheValueOfTheHardDecision) {
  const Sample<double> sample = random_sample<double>(kSeed, 80, 4, 4);
  double expected = 0.0;
  for (std::size_t row = 0; row < sample.num_rows(); ++row) {
    for (const double multiplier : {0.2, 0.8}) {
      const Unit unit = unit_of(sample, row, multiplier);
      expected -= 0.5 * unit.reward[ranking(unit.score)[0]];
    }
  }
  const DecisionOptions options{.multipliers = {0.2, 0.8}, .baseline = Baseline::none, .window = 0.3};
  EXPECT_NEAR(result_of(IfdLoss<double>(options), sample.rows()).value, expected, 1e-12);
  EXPECT_NEAR(result_of(IfdSoftmaxLoss<double>(options), sample.rows()).value, expected, 1e-12);
}

// Eq. 9 is the gradient of (phi_k - phi_s) min(d, h) / h, d the distance of the top pair on what steps are measured on.
double ramp_value(const Sample<double>& at, const std::vector<double>& multipliers, double window, double temperature,
                  bool on_softmax) {
  double sum = 0.0;
  for (const double multiplier : multipliers) {
    for (std::size_t row = 0; row < at.num_rows(); ++row) {
      const Unit unit = unit_of(at, row, multiplier);
      const std::vector<std::size_t> order = ranking(unit.score);
      std::vector<double> place = unit.score;
      if (on_softmax) {
        double total = 0.0;
        for (double& entry : place) total += entry = std::exp(entry / temperature);
        for (double& entry : place) entry /= total;
      }
      const double distance = place[order[0]] - place[order[1]];
      sum -= (unit.reward[order[0]] - unit.reward[order[1]]) * std::min(distance, window) / window;
    }
  }
  return sum / static_cast<double>(multipliers.size());
}

// Rows whose top pair, or whose window, is within reach of the differences' step would spoil the check.
bool is_near_an_edge(const Sample<double>& sample, const std::vector<double>& multipliers, double window) {
  for (const double multiplier : multipliers) {
    for (std::size_t row = 0; row < sample.num_rows(); ++row) {
      const Unit unit = unit_of(sample, row, multiplier);
      const std::vector<std::size_t> order = ranking(unit.score);
      const double distance = unit.score[order[0]] - unit.score[order[1]];
      const double third = order.size() > 2 ? unit.score[order[1]] - unit.score[order[2]] : 1.0;
      if (distance < 0.003 || third < 0.003 || std::abs(distance - window) < 0.003) return true;
    }
  }
  return false;
}

TEST(IfdLoss, HasTheGradientOfTheRamp) {
  const std::vector<double> multipliers = {0.2, 0.8};
  const double window = 0.6;
  int checked = 0;
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    for (std::uint64_t seed = kSeed; seed < kSeed + 10; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
      Sample<double> sample = random_sample<double>(seed, 5, num_arms, num_arms);
      if (is_near_an_edge(sample, multipliers, window)) continue;
      ++checked;
      const IfdLoss<double> loss({.multipliers = multipliers, .baseline = Baseline::none, .window = window});
      expect_gradient(sample, result_of(loss, sample.rows()),
                      [&](const Sample<double>& at) { return ramp_value(at, multipliers, window, 1.0, false); });
    }
  }
  EXPECT_GE(checked, 25);
}

TEST(IfdSoftmaxLoss, HasTheGradientOfTheRampOnProbabilities) {
  const std::vector<double> multipliers = {0.2, 0.8};
  const double temperature = 0.7;
  const double window = 2.0;  // every row is within it; the next test has a window that cuts
  int checked = 0;
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    for (std::uint64_t seed = kSeed; seed < kSeed + 10; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
      Sample<double> sample = random_sample<double>(seed, 5, num_arms, num_arms);
      if (is_near_an_edge(sample, multipliers, 1e9)) continue;
      ++checked;
      const IfdSoftmaxLoss<double> loss(
          {.multipliers = multipliers, .baseline = Baseline::none, .temperature = temperature, .window = window});
      expect_gradient(sample, result_of(loss, sample.rows()),
                      [&](const Sample<double>& at) { return ramp_value(at, multipliers, window, temperature, true); });
    }
  }
  EXPECT_GE(checked, 25);
}

TEST(IfdSoftmaxLoss, LeavesAloneWhatIsDecidedByMoreThanTheWindow) {
  Sample<double> sample = random_sample<double>(kSeed, 2, 2, 2);
  const double revenue[] = {0.0, 1.0, 0.0, 0.1};  // probabilities .27 .73 and .475 .525
  std::copy_n(revenue, 4, sample.revenue.data());
  const IfdSoftmaxLoss<double> loss({.multipliers = {0.0}, .baseline = Baseline::none, .window = 0.3});
  const Result<double> result = result_of(loss, sample.rows());
  EXPECT_EQ(result.revenue(0, 0), 0.0);
  EXPECT_EQ(result.revenue(0, 1), 0.0);
  EXPECT_NE(result.revenue(1, 0), 0.0);
}

TEST(IfdLoss, MovesOnlyTheTopPairOfRowsWithinTheWindow) {
  const double window = 0.4;
  const Sample<double> sample = random_sample<double>(kSeed, 100, 5, 5);
  const Result<double> result = result_of(
      IfdLoss<double>({.multipliers = {0.5}, .baseline = Baseline::doubly_robust, .window = window}), sample.rows());
  int within = 0;
  for (std::size_t row = 0; row < sample.num_rows(); ++row) {
    const Unit unit = unit_of(sample, row, 0.5);
    const std::vector<std::size_t> order = ranking(unit.score);
    const bool is_within = unit.score[order[0]] - unit.score[order[1]] < window;
    within += is_within ? 1 : 0;
    for (std::size_t place = 0; place < 5; ++place) {
      EXPECT_EQ(result.revenue(row, order[place]) != 0.0, is_within && place < 2);
    }
  }
  EXPECT_GT(within, 10);
  EXPECT_LT(within, 90);
}

TEST(IfdLoss, AsPublishedIsThePublishedFormulaUnderThePublicWindow) {
  const double window = 0.5;
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    const Sample<double> sample = random_sample<double>(kSeed + num_arms, 100, num_arms, num_arms);
    const Result<double> result = result_of(
        IfdLoss<double>({.multipliers = {0.3}, .baseline = Baseline::none, .window = window, .as_published = true}),
        sample.rows());
    for (std::size_t row = 0; row < sample.num_rows(); ++row) {
      const Unit unit = unit_of(sample, row, 0.3);
      std::vector<double> slope(num_arms);
      const double gain = unit.reward[sample.arm[row]];
      ifd_published_form(unit.score, sample.arm[row], gain, slope);
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        // gain / slope is the step, up to its sign.
        const double step = slope[arm] == 0.0 ? 2.0 * window : std::abs(gain / slope[arm]);
        const double expected = step < window ? -slope[arm] * step / window : 0.0;
        EXPECT_NEAR(result.revenue(row, arm), expected, 1e-9) << "row " << row << ", arm " << arm;
      }
    }
  }
}

}  // namespace
}  // namespace dfcl::loss
