// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/prediction_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 20;

class PredictionLossOfKind : public testing::TestWithParam<OutcomeKind> {
 protected:
  PredictionOptions options() const { return {.revenue = GetParam(), .cost = GetParam()}; }
  Sample<double> sample(std::uint64_t seed, std::size_t num_arms) const {
    return random_sample<double>(seed, 9, num_arms, num_arms, static_cast<Outcomes>(GetParam()));
  }
};

TEST_P(PredictionLossOfKind, HasTheGradientOfItsValue) {
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    const std::uint64_t seed = kSeed + num_arms;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
    Sample<double> rows = sample(seed, num_arms);
    expect_own_gradient(PredictionLoss<double>(options()), rows);
  }
}

TEST_P(PredictionLossOfKind, OnlyMovesTheArmReceived) {
  Sample<double> rows = sample(kSeed, 4);
  const Result<double> result = result_of(PredictionLoss<double>(options()), rows.rows());
  for (std::size_t row = 0; row < rows.num_rows(); ++row) {
    for (std::size_t arm = 0; arm < 4; ++arm) {
      EXPECT_EQ(result.revenue(row, arm) != 0.0, arm == rows.arm[row]);
      EXPECT_EQ(result.cost(row, arm) != 0.0, arm == rows.arm[row]);
    }
  }
}

TEST_P(PredictionLossOfKind, StaysFiniteAtPredictionsOnTheEdge) {
  for (const float edge : {0.0f, 1.0f}) {
    Sample<float> rows = random_sample<float>(kSeed, 8, 2, 2, Outcomes::binary);
    std::fill_n(rows.revenue.data(), 16, edge);
    std::fill_n(rows.cost.data(), 16, edge);
    const Result<float> result = result_of(PredictionLoss<float>(options()), rows.rows());
    EXPECT_TRUE(std::isfinite(result.value));
    for (const float entry : numbers(result.revenue)) EXPECT_TRUE(std::isfinite(entry));
    for (const float entry : numbers(result.cost)) EXPECT_TRUE(std::isfinite(entry));
  }
}

TEST_P(PredictionLossOfKind, AddsToTheGradientAndScalesIt) {
  Sample<double> rows = sample(kSeed, 3);
  const PredictionLoss<double> loss(options());
  const Result<double> once = result_of(loss, rows.rows());
  Result<double> twice = result_of(loss, rows.rows(), 0.5);
  const double value = loss.add_gradient(rows.rows(), {}, 0.5, {twice.revenue.view(), twice.cost.view()});
  EXPECT_DOUBLE_EQ(value, once.value);
  for (std::size_t i = 0; i < once.revenue.view().size(); ++i) {
    EXPECT_DOUBLE_EQ(twice.revenue.data()[i], once.revenue.data()[i]);
    EXPECT_DOUBLE_EQ(twice.cost.data()[i], once.cost.data()[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PredictionLossOfKind,
                         testing::Values(OutcomeKind::real, OutcomeKind::non_negative, OutcomeKind::binary));

TEST(PredictionLoss, ThroughItsLinkGivesWeightTimesError) {
  const std::size_t num_arms = 3;
  for (const OutcomeKind kind : {OutcomeKind::non_negative, OutcomeKind::binary}) {
    Sample<double> rows = random_sample<double>(kSeed, 9, num_arms, num_arms, static_cast<Outcomes>(kind));
    const Result<double> result = result_of(PredictionLoss<double>({.revenue = kind, .cost = kind}), rows.rows());
    for (std::size_t row = 0; row < rows.num_rows(); ++row) {
      const double predicted = rows.revenue(row, rows.arm[row]);
      const double link = kind == OutcomeKind::binary ? predicted * (1.0 - predicted) : predicted;
      const double expected = static_cast<double>(rows.weight[row]) *
                              (predicted - static_cast<double>(rows.observed_revenue[row])) / num_arms;
      EXPECT_NEAR(link * result.revenue(row, rows.arm[row]), expected, 1e-12);
    }
  }
}

TEST(PredictionLoss, MixesKindsAndLeavesOutAnOutcome) {
  Sample<double> rows = random_sample<double>(kSeed, 9, 3, 3, Outcomes::binary);
  const auto value = [&](PredictionOptions options) {
    return result_of(PredictionLoss<double>(options), rows.rows()).value;
  };
  const double both = value({.revenue = OutcomeKind::binary, .cost = OutcomeKind::real});
  const double revenue = value({.revenue = OutcomeKind::binary, .use_cost = false});
  const double cost = value({.cost = OutcomeKind::real, .use_revenue = false});
  EXPECT_NEAR(both, revenue + cost, 1e-12);
  const Result<double> only_cost = result_of(PredictionLoss<double>({.use_revenue = false}), rows.rows());
  for (const double entry : numbers(only_cost.revenue)) EXPECT_EQ(entry, 0.0);
}

TEST(PredictionLoss, EqualsTheLossOverAllArmsInExpectation) {
  // One unit whose outcome under every arm is known; the arm is drawn with probabilities 1/2, 1/4, 1/4.
  const float outcome[] = {1.0f, 3.0f, -2.0f};
  const float weight[] = {2.0f, 4.0f, 4.0f};
  Sample<double> rows = random_sample<double>(kSeed, 1, 3, 3);
  double expected = 0.0;
  double over_arms = 0.0;
  for (std::size_t arm = 0; arm < 3; ++arm) {
    rows.arm[0] = static_cast<std::uint8_t>(arm);
    rows.observed_revenue[0] = rows.observed_cost[0] = outcome[arm];
    rows.weight[0] = weight[arm];
    expected += result_of(PredictionLoss<double>({}), rows.rows()).value / static_cast<double>(weight[arm]);
    over_arms += (std::pow(static_cast<double>(outcome[arm]) - rows.revenue(0, arm), 2) +
                  std::pow(static_cast<double>(outcome[arm]) - rows.cost(0, arm), 2)) /
                 3.0;
  }
  EXPECT_NEAR(expected, over_arms, 1e-12);
}

}  // namespace
}  // namespace dfcl::loss
