// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dfcl/core/distributions.h"
#include "tests/simulate/simulated.h"

namespace dfcl::simulate {
namespace {

constexpr std::size_t kRows = 40'000;
constexpr std::uint64_t kSeed = 17;

class Varied : public testing::TestWithParam<Response> {
 protected:
  Simulator simulator_{{.preset = Preset::varied, .response = GetParam(), .num_rows = kRows, .seed = kSeed}};
  ExpectedOutcomes expected_ = simulator_.expected_outcomes(0, kRows);
  std::size_t num_arms_ = simulator_.arms().size();

  // The share of units that an offer, the last one, lifts by at least this much.
  double responding(double lift) const {
    double count = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) {
      count += expected_.revenue(i, num_arms_ - 1) > (1.0 + lift) * expected_.revenue(i, 0);
    }
    return count / kRows;
  }
};

TEST_P(Varied, ControlIsFreeAndOffersCost) {
  for (std::size_t i = 0; i < kRows; ++i) {
    ASSERT_EQ(expected_.cost(i, 0), 0.0);
    for (std::size_t arm = 1; arm < num_arms_; ++arm) ASSERT_GT(expected_.cost(i, arm), 0.0);
  }
}

TEST_P(Varied, OutcomesMeetTheTruthInEveryArm) {
  for (std::uint8_t arm = 0; arm < num_arms_; ++arm) {
    const DrawnOutcomes drawn = simulator_.draw_outcomes(0, std::vector<std::uint8_t>(kRows, arm));
    std::vector<double> revenue_error(kRows), cost_error(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      revenue_error[i] = drawn.revenue[i] - expected_.revenue(i, arm);
      cost_error[i] = drawn.cost[i] - expected_.cost(i, arm);
    }
    const Moments revenue = moments(revenue_error), cost = moments(cost_error);
    EXPECT_LT(std::fabs(revenue.mean), 4.0 * revenue.standard_error) << "arm " << int{arm};
    EXPECT_LE(std::fabs(cost.mean), 4.0 * cost.standard_error) << "arm " << int{arm};
  }
}

TEST_P(Varied, SharesAreUnequal) {
  const auto [least, most] = std::minmax_element(simulator_.shares().begin(), simulator_.shares().end());
  EXPECT_GT(*most, 2.0 * *least);
  EXPECT_EQ(simulator_.shares().size(), num_arms_);
}

TEST_P(Varied, OutcomesHaveHeavyTailsAndZeros) {
  std::vector<double> spending = simulator_.draw_outcomes(0, std::vector<std::uint8_t>(kRows, 0)).revenue;
  std::sort(spending.begin(), spending.end());
  EXPECT_EQ(spending[kRows / 20], 0.0);
  EXPECT_GT(spending[kRows * 999 / 1000], 30.0 * spending[kRows / 2]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Varied, testing::Values(Response::rules, Response::few, Response::smooth),
                         [](const auto& kind) { return std::string(core::to_word(kind.param)); });

using VariedRules = Varied;
using VariedFew = Varied;
using VariedSmooth = Varied;
INSTANTIATE_TEST_SUITE_P(Kinds, VariedRules, testing::Values(Response::rules));
INSTANTIATE_TEST_SUITE_P(Kinds, VariedFew, testing::Values(Response::few));
INSTANTIATE_TEST_SUITE_P(Kinds, VariedSmooth, testing::Values(Response::smooth));

TEST_P(VariedFew, FewRespondAndStrongly) {
  EXPECT_GT(responding(0.5), 0.08);
  EXPECT_LT(responding(1e-6), 0.2);
}

TEST_P(VariedRules, EveryOfferIsTheBestForSomeAndHarmsOthers) {
  std::vector<std::size_t> best(num_arms_);
  std::size_t harmed = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::size_t arm = 0;
    for (std::size_t other = 1; other < num_arms_; ++other) {
      if (expected_.revenue(i, other) > expected_.revenue(i, arm) * (1.0 + 1e-9)) arm = other;
    }
    ++best[arm];
    harmed += expected_.revenue(i, 1) < expected_.revenue(i, 0) * (1.0 - 1e-9);
  }
  for (std::size_t arm = 0; arm < num_arms_; ++arm) EXPECT_GT(best[arm], kRows / 50) << arm;
  EXPECT_GT(harmed, kRows / 50);
}

// The rules look at holes: those who never rated and have not ordered lately answer to the last offer.
TEST_P(VariedRules, HolesChangeEffects) {
  const SimulatedRows rows = simulator_.make_rows(0, kRows);
  const auto& rating = values<float>(simulator_.trial_columns(), rows.trial, "last_rating");
  std::array<std::vector<double>, 2> lifts;
  for (std::size_t i = 0; i < kRows; ++i) {
    lifts[std::isnan(rating[i]) ? 1 : 0].push_back(expected_.revenue(i, 3) / expected_.revenue(i, 0) - 1.0);
  }
  EXPECT_GT(moments(lifts[1]).mean, 1.3 * moments(lifts[0]).mean);
}

TEST_P(VariedSmooth, RevenueAndCostRiseWithTheDiscountAndMostDoNotRespond) {
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t arm = 1; arm < num_arms_; ++arm) {
      ASSERT_GE(expected_.revenue(i, arm), expected_.revenue(i, arm - 1) * (1.0 - 1e-12));
      ASSERT_GT(expected_.cost(i, arm), expected_.cost(i, arm - 1));
    }
  }
  EXPECT_LT(responding(1e-6), 0.6);
  EXPECT_GT(responding(0.3), 0.15);
}

TEST(VariedTrial, Has37FeaturesSomeOfManyLevelsAndThreeToSixArms) {
  const Simulator simulator({.preset = Preset::varied, .num_rows = kRows, .seed = kSeed});
  EXPECT_EQ(simulator.feature_columns().size(), 37u);
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  std::map<std::string, std::size_t> most;
  for (const char* name : {"tariff", "store", "product_group"}) {
    std::map<std::string, std::size_t> counts;
    const auto& texts = std::get<data::TextColumn>(column(simulator.trial_columns(), rows.trial, name));
    for (std::size_t i = 0; i < kRows; ++i) ++counts[std::string(texts[i])];
    most[name] = counts.size();
  }
  EXPECT_EQ(most["tariff"], 4u);  // three, and none
  EXPECT_EQ(most["store"], 120u);
  EXPECT_GT(most["product_group"], 390u);
  const auto arms = [](Response response) {
    return Simulator({.preset = Preset::varied, .response = response, .num_rows = 10}).arms().size();
  };
  EXPECT_EQ(arms(Response::few), 3u);
  EXPECT_EQ(arms(Response::rules), 4u);
  EXPECT_EQ(arms(Response::smooth), 6u);
}

TEST(VariedTrial, HolesDependOnWhoItIsAndNotOnTheArm) {
  const Simulator simulator({.preset = Preset::varied, .num_rows = kRows, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  const std::vector<std::uint8_t> arms = simulator.drawn_arms(0, kRows);
  std::size_t with_holes = 0;
  for (const data::ColumnValues& values_of : rows.trial.columns) {
    const auto* numbers = std::get_if<std::vector<float>>(&values_of);
    if (numbers == nullptr) continue;
    std::array<double, 6> missing = {}, units = {};
    for (std::size_t i = 0; i < kRows; ++i) {
      ++units[arms[i]];
      missing[arms[i]] += std::isnan((*numbers)[i]);
    }
    double total = 0.0, statistic = 0.0;
    for (const double count : missing) total += count / kRows;
    if (total == 0.0) continue;
    ++with_holes;
    for (std::size_t arm = 0; arm < 6; ++arm) {
      statistic += std::pow(missing[arm] - units[arm] * total, 2) / (units[arm] * total * (1.0 - total));
    }
    EXPECT_GT(core::chi_square_upper(statistic, 5), 1e-5);
  }
  EXPECT_GE(with_holes, 10u);
  // Who opens few mails is more often unknown to the app.
  const auto& opened = values<float>(simulator.trial_columns(), rows.trial, "mails_opened_share");
  const auto& minutes = values<float>(simulator.trial_columns(), rows.trial, "app_minutes_30d");
  std::array<std::vector<double>, 2> holes;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (!std::isnan(opened[i])) holes[opened[i] > 0.4F ? 1 : 0].push_back(std::isnan(minutes[i]) ? 1.0 : 0.0);
  }
  EXPECT_GT(moments(holes[0]).mean, 1.4 * moments(holes[1]).mean);
}

TEST(VariedTrial, TwoSeedsAreSamplesOfOneWorld) {
  std::array<double, 2> effect = {};
  for (const std::uint64_t seed : {0u, 1u}) {
    const Simulator simulator({.preset = Preset::varied, .response = Response::few, .num_rows = kRows, .seed = seed});
    const ExpectedOutcomes expected = simulator.expected_outcomes(0, kRows);
    for (std::size_t i = 0; i < kRows; ++i) effect[seed] += (expected.revenue(i, 2) - expected.revenue(i, 0)) / kRows;
  }
  EXPECT_NE(effect[0], effect[1]);
  EXPECT_NEAR(effect[0] / effect[1], 1.0, 0.15);
}

}  // namespace
}  // namespace dfcl::simulate
