// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/known_cost_loss.h"

#include <gtest/gtest.h>

#include "dfcl/loss/policy_loss.h"
#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 5;
const DecisionOptions kOptions{.multipliers = {0.3, 1.1}, .baseline = Baseline::none, .temperature = 0.7};

KnownCostLoss<double> known(const CostRule& rule) { return {std::make_unique<PolicyLoss<double>>(kOptions), rule}; }

TEST(KnownCostLoss, GradientsReachWhatTheCostsAreMadeOf) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const CostRule price{{0.0, 0.4, 0.9}, {0, 0, 0}, {0, 0, 0}, false};
  const CostRule rate{{0.1, 0.1, 0.1}, {0.0, 0.2, 0.5}, {0, 0, 0}, false};
  const CostRule outcome{{0, 0, 0}, {0, 0, 0}, {0.0, 0.5, 1.5}, true};
  for (const CostRule& rule : {price, rate, outcome}) {
    Sample<double> sample = random_sample<double>(kSeed, 40, 3, 3);
    expect_own_gradient(known(rule), sample);
  }
}

TEST(KnownCostLoss, IsTheInnerLossAtTheKnownCosts) {
  const CostRule price{{0.0, 0.4, 0.9}, {0, 0, 0}, {0, 0, 0}, false};
  Sample<double> sample = random_sample<double>(kSeed, 40, 3, 3);
  const Result<double> found = result_of(known(price), sample.rows());
  for (std::size_t row = 0; row < 40; ++row) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_EQ(found.cost(row, arm), 0.0) << "a price has no gradient";
      sample.cost(row, arm) = price.fixed[arm];
    }
  }
  const Result<double> expected = result_of(PolicyLoss<double>(kOptions), sample.rows());
  EXPECT_EQ(found.value, expected.value);
  for (std::size_t i = 0; i < 120; ++i) EXPECT_EQ(found.revenue.data()[i], expected.revenue.data()[i]);
}

TEST(KnownCostLoss, WhatWasObservedOfAnOutcomeIsWorthItsPrice) {
  const CostRule outcome{{0, 0, 0}, {0, 0, 0}, {0.0, 0.5, 1.5}, true};
  Sample<double> sample = random_sample<double>(kSeed, 40, 3, 3);
  for (float& value : sample.observed_cost) value = value > 0.0f ? 1.0f : 0.0f;
  const double found = result_of(known(outcome), sample.rows()).value;
  for (std::size_t row = 0; row < 40; ++row) {
    sample.observed_cost[row] *= static_cast<float>(outcome.per_outcome[sample.arm[row]]);
    for (std::size_t arm = 0; arm < 3; ++arm) sample.cost(row, arm) *= outcome.per_outcome[arm];
  }
  EXPECT_NEAR(found, result_of(PolicyLoss<double>(kOptions), sample.rows()).value, 1e-9);
}

}  // namespace
}  // namespace dfcl::loss
