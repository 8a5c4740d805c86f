// SPDX-License-Identifier: Apache-2.0
//
// The losses that learn efficiencies: DRM, DRP and DPM, and the way from efficiencies to a prediction.
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/loss/dpm_loss.h"
#include "dfcl/loss/drm_loss.h"
#include "dfcl/loss/drp_loss.h"
#include "dfcl/loss/efficiency.h"
#include "tests/loss/gradient_check.h"

namespace dfcl::loss {
namespace {

constexpr std::uint64_t kSeed = 97;

TEST(DrmLoss, HasTheGradientOfItsValue) {
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    for (std::uint64_t seed = kSeed; seed < kSeed + 3; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", arms " << num_arms);
      Sample<double> sample = random_sample<double>(seed, 14, num_arms, num_arms - 1, Outcomes::non_negative);
      expect_own_gradient(DrmLoss<double>(num_arms), sample);
    }
  }
}

TEST(DrmLoss, GathersTotalsOverTheTilesOfABatch) {
  const Sample<double> sample = random_sample<double>(kSeed, 30, 3, 2, Outcomes::non_negative);
  const DrmLoss<double> loss(3);
  const Result<double> together = result_of(loss, sample.rows(), 1.0 / 30.0);
  std::vector<double> totals(loss.num_totals());
  for (const std::size_t first : {0u, 11u, 22u})
    loss.add_totals(sample.rows(first, std::min<std::size_t>(11, 30 - first)), totals);
  double value = 0.0;
  for (const std::size_t first : {0u, 11u, 22u}) {
    const Rows<double> rows = sample.rows(first, std::min<std::size_t>(11, 30 - first));
    Result<double> part{0.0, core::Matrix<double>(rows.num_rows(), 2), core::Matrix<double>(rows.num_rows(), 3)};
    std::fill_n(part.revenue.data(), part.revenue.view().size(), 0.0);
    value += loss.add_gradient(rows, totals, 1.0 / 30.0, {part.revenue.view(), part.cost.view()});
    for (std::size_t i = 0; i < part.revenue.view().size(); ++i) {
      EXPECT_NEAR(part.revenue.data()[i], together.revenue.data()[first * 2 + i], 1e-12);
    }
  }
  EXPECT_NEAR(value, together.value, 1e-10);
}

TEST(DrmLoss, WithEqualScoresIsTheCostPerRevenueOfTheTrial) {
  Sample<double> sample = random_sample<double>(kSeed, 2, 2, 1);
  sample.revenue(0, 0) = sample.revenue(1, 0) = 0.4;
  sample.observed_revenue = {1.0f, 5.0f};
  sample.observed_cost = {0.5f, 1.5f};
  EXPECT_NEAR(result_of(DrmLoss<double>(2), sample.rows()).value, 2.0 * (1.0 / 4.0), 1e-12);  // two rows, each given it
}

TEST(DrmLoss, IsZeroWhereAGroupIsEmptyAndFiniteWhereNothingIsEarned) {
  Sample<double> sample = random_sample<double>(kSeed, 4, 2, 1);
  std::fill(sample.arm.begin(), sample.arm.end(), std::uint8_t{1});
  const Result<double> empty = result_of(DrmLoss<double>(2), sample.rows());
  EXPECT_EQ(empty.value, 0.0);
  for (const double entry : numbers(empty.revenue)) EXPECT_EQ(entry, 0.0);
  sample.arm = {0, 1, 0, 1};
  std::fill(sample.observed_revenue.begin(), sample.observed_revenue.end(), 1.0f);
  const Result<double> flat = result_of(DrmLoss<double>(2), sample.rows());
  EXPECT_TRUE(std::isfinite(flat.value));
  for (const double entry : numbers(flat.revenue)) EXPECT_TRUE(std::isfinite(entry));
}

TEST(DrpLoss, HasTheGradientOfItsValue) {
  for (std::uint64_t seed = kSeed; seed < kSeed + 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Sample<double> sample = random_sample<double>(seed, 9, 2, 1);
    expect_own_gradient(DrpLoss<double>(1.7), sample);
  }
}

TEST(DrpLoss, IsForTwoArms) {
  const Sample<double> sample = random_sample<double>(kSeed, 9, 3, 1);
  EXPECT_THROW(result_of(DrpLoss<double>(1.0), sample.rows()), core::Error);
}

TEST(DpmLoss, HasTheGradientOfItsValue) {
  for (std::size_t num_arms = 2; num_arms <= 6; ++num_arms) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", arms " << num_arms);
    Sample<double> sample = random_sample<double>(kSeed, 12, num_arms, num_arms - 1);
    expect_own_gradient(DpmLoss<double>(0.6), sample);
  }
}

// A unit whose outcomes under every arm are known, the arm drawn with equal probability: the expected gradient vanishes
// where the efficiencies are the true ones.
TEST(DpmLoss, IsStationaryAtTheTrueEfficienciesInExpectation) {
  const std::vector<float> revenue = {1.0f, 2.0f, 2.75f, 3.0f};
  const std::vector<float> cost = {0.0f, 0.5f, 1.25f, 2.25f};  // ratios 2, 1, 1/4
  const double cost_scale = 4.0;
  std::vector<double> expected(3);
  for (std::size_t arm = 0; arm < 4; ++arm) {
    Sample<double> unit = random_sample<double>(kSeed, 1, 4, 3);
    unit.arm[0] = static_cast<std::uint8_t>(arm);
    unit.observed_revenue[0] = revenue[arm];
    unit.observed_cost[0] = cost[arm];
    unit.weight[0] = 4.0f;
    for (std::size_t step = 0; step < 3; ++step) {
      const double ratio =
          static_cast<double>(revenue[step + 1] - revenue[step]) / static_cast<double>(cost[step + 1] - cost[step]);
      const double q = ratio / (2.0 * cost_scale);
      unit.revenue(0, step) = std::log(q / (1.0 - q));
      EXPECT_NEAR(dpm_efficiency(unit.revenue(0, step), cost_scale), ratio, 1e-12);
    }
    const Result<double> result = result_of(DpmLoss<double>(cost_scale), unit.rows());
    for (std::size_t step = 0; step < 3; ++step) expected[step] += result.revenue(0, step) / 4.0;
  }
  for (const double entry : expected) EXPECT_NEAR(entry, 0.0, 1e-12);
}

TEST(DrpLoss, IsStationaryAtTheTrueEfficiencyInExpectation) {
  const double cost_scale = 2.0;
  const double ratio = 0.75 / 0.5;
  double expected = 0.0;
  for (const std::uint8_t arm : {std::uint8_t{0}, std::uint8_t{1}}) {
    Sample<double> unit = random_sample<double>(kSeed, 1, 2, 1);
    unit.arm[0] = arm;
    unit.observed_revenue[0] = arm == 1 ? 1.75f : 1.0f;
    unit.observed_cost[0] = arm == 1 ? 0.75f : 0.25f;
    unit.weight[0] = 2.0f;
    const double q = ratio / cost_scale;
    unit.revenue(0, 0) = std::log(q / (1.0 - q));
    EXPECT_NEAR(drp_efficiency(unit.revenue(0, 0), cost_scale), ratio, 1e-12);
    expected += result_of(DrpLoss<double>(cost_scale), unit.rows()).revenue(0, 0) / 2.0;
  }
  EXPECT_NEAR(expected, 0.0, 1e-12);
}

TEST(Efficiencies, BecomeRevenuesThatEarnThemAtEachStep) {
  const std::vector<double> efficiency = {2.0, 1.0, 0.5};
  const std::vector<double> cost = {0.25, 0.5, 1.5, 2.0};
  std::vector<double> revenue(4);
  set_revenue_from_efficiencies<double>(efficiency, cost, revenue);
  EXPECT_EQ(revenue, (std::vector<double>{0.0, 0.5, 1.5, 1.75}));
  EXPECT_LT(drm_efficiency(-1.0), drm_efficiency(-0.9));
  EXPECT_GT(drm_efficiency(-50.0), 0.0);
}

}  // namespace
}  // namespace dfcl::loss
