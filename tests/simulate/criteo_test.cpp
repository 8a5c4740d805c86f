// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "tests/simulate/simulated.h"

namespace dfcl::simulate {
namespace {

constexpr std::size_t kRows = 200'000;

class Criteo : public testing::TestWithParam<Response> {
 protected:
  Simulator simulator_{{.preset = Preset::criteo, .response = GetParam(), .num_rows = kRows, .seed = 3}};
};

TEST_P(Criteo, HasThePublishedRates) {
  const ExpectedOutcomes expected = simulator_.expected_outcomes(0, kRows);
  const std::array<double, 2> visits = {0.038, 0.049};
  const std::array<double, 2> conversions = {0.0019, 0.0031};
  for (std::size_t arm = 0; arm < 2; ++arm) {
    double visit = 0.0;
    double conversion = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) {
      visit += expected.cost(i, arm) / kRows;
      conversion += expected.revenue(i, arm) / kRows;
    }
    EXPECT_NEAR(visit / visits[arm], 1.0, 0.03) << arm;
    EXPECT_NEAR(conversion / conversions[arm], 1.0, 0.03) << arm;
  }
}

TEST_P(Criteo, EffectsDifferBetweenUnits) {
  const ExpectedOutcomes expected = simulator_.expected_outcomes(0, 20'000);
  std::vector<double> lifts;
  std::size_t without = 0;
  for (std::size_t i = 0; i < 20'000; ++i) {
    lifts.push_back(expected.revenue(i, 1) - expected.revenue(i, 0));
    without += expected.cost(i, 1) < 1.02 * expected.cost(i, 0);
    EXPECT_GE(lifts.back(), 0.0);
  }
  const Moments lift = moments(lifts);
  EXPECT_GT(lift.standard_error * std::sqrt(20'000.0), 0.7 * lift.mean);
  EXPECT_GT(without, 500u);
}

INSTANTIATE_TEST_SUITE_P(Families, Criteo, testing::Values(Response::smooth, Response::tree, Response::sparse),
                         [](const auto& family) { return std::string(core::to_word(family.param)); });

TEST(CriteoTrial, HasTheColumnsOfTheOriginalWithoutExposure) {
  const Simulator simulator({.preset = Preset::criteo, .num_rows = 10});
  std::vector<std::string> names;
  for (const data::ColumnInfo& info : simulator.trial_columns()) names.push_back(info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11",
                                             "treatment", "conversion", "visit"}));
  const SimulatedRows rows = simulator.make_rows(4, 2);
  EXPECT_EQ(values<std::int64_t>(simulator.truth_columns(), rows.truth, "id"), (std::vector<std::int64_t>{5, 6}));
}

TEST(CriteoTrial, ConversionImpliesVisit) {
  const Simulator simulator({.preset = Preset::criteo, .num_rows = kRows, .seed = 5});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  const auto& conversion = values<std::int64_t>(simulator.trial_columns(), rows.trial, "conversion");
  const auto& visit = values<std::int64_t>(simulator.trial_columns(), rows.trial, "visit");
  std::int64_t conversions = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    EXPECT_LE(conversion[i], visit[i]);
    EXPECT_TRUE(visit[i] == 0 || visit[i] == 1);
    conversions += conversion[i];
  }
  EXPECT_NEAR(static_cast<double>(conversions) / kRows, 0.15 * 0.0019 + 0.85 * 0.0031, 0.0004);
}

TEST(CriteoTrial, FeaturesAreLumpy) {
  const Simulator simulator({.preset = Preset::criteo, .num_rows = 50'000, .seed = 5});
  const SimulatedRows rows = simulator.make_rows(0, 50'000);
  const std::array<double, 12> usual = {0.265, 0.987, 0.522, 0.817, 0.957, 0.946,
                                        0.265, 0.946, 0.522, 0.795, 0.957, 0.986};
  for (std::size_t feature = 0; feature < 12; ++feature) {
    std::map<float, std::size_t> counts;
    std::size_t most = 0;
    for (const float value : std::get<std::vector<float>>(rows.trial.columns[feature])) {
      most = std::max(most, ++counts[value]);
    }
    EXPECT_NEAR(static_cast<double>(most) / 50'000, usual[feature], 0.012) << "f" << feature;
    EXPECT_GT(counts.size(), 10u) << "f" << feature;
  }
}

}  // namespace
}  // namespace dfcl::simulate
