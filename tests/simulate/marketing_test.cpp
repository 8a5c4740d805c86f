// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "dfcl/core/distributions.h"
#include "dfcl/simulate/arm_totals.h"
#include "tests/simulate/simulated.h"

namespace dfcl::simulate {
namespace {

constexpr std::size_t kRows = 20'000;
constexpr std::uint64_t kSeed = 21;
constexpr std::size_t kNumArms = 5;
constexpr std::array<double, kNumArms> kRates = {0.0, 0.05, 0.10, 0.15, 0.20};

double mean_of(const core::Matrix<double>& outcomes, std::size_t arm) {
  double sum = 0.0;
  for (std::size_t i = 0; i < outcomes.rows(); ++i) sum += outcomes(i, arm);
  return sum / static_cast<double>(outcomes.rows());
}

class Marketing : public testing::TestWithParam<Response> {
 protected:
  Simulator simulator_{{.response = GetParam(), .num_rows = kRows, .seed = kSeed}};
  ExpectedOutcomes expected_ = simulator_.expected_outcomes(0, kRows);
};

TEST_P(Marketing, CostIsTheDiscountTimesTheRevenueItAppliesTo) {
  const SimulatedRows rows = simulator_.make_rows(0, kRows);
  const auto& columns = simulator_.trial_columns();
  const auto& share = values<float>(columns, rows.trial, "share_orders_above_price");
  const auto& discount = values<std::int64_t>(columns, rows.trial, "discount");
  const auto& orders = values<double>(columns, rows.trial, "orders");
  const auto& subsidy = values<double>(columns, rows.trial, "subsidy");
  for (std::size_t i = 0; i < kRows; ++i) {
    EXPECT_GE(orders[i], 0.0);
    EXPECT_EQ(orders[i], std::floor(orders[i]));
    EXPECT_NEAR(subsidy[i], static_cast<double>(discount[i]) / 100.0 * share[i] * orders[i], 1e-4 * (1.0 + subsidy[i]));
    for (std::size_t arm = 0; arm < kNumArms; ++arm) {
      ASSERT_NEAR(expected_.cost(i, arm), kRates[arm] * share[i] * expected_.revenue(i, arm),
                  1e-4 * (1.0 + expected_.cost(i, arm)));
    }
  }
}

TEST_P(Marketing, RevenueAndCostRiseWithTheDiscount) {
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t arm = 1; arm < kNumArms; ++arm) {
      ASSERT_GE(expected_.revenue(i, arm), expected_.revenue(i, arm - 1) * (1.0 - 1e-12));
      ASSERT_GT(expected_.cost(i, arm), expected_.cost(i, arm - 1));
    }
  }
}

TEST_P(Marketing, AHeavyTailedBaseDwarfsTheEffect) {
  std::vector<double> base(kRows);
  for (std::size_t i = 0; i < kRows; ++i) base[i] = expected_.revenue(i, 0);
  std::sort(base.begin(), base.end());
  const double total = std::accumulate(base.begin(), base.end(), 0.0);
  EXPECT_GT(base[kRows * 99 / 100], 8.0 * base[kRows / 2]);
  EXPECT_GT(base[kRows * 999 / 1000] / base[kRows / 1000], 500.0);
  EXPECT_GT(std::accumulate(base.end() - kRows / 100, base.end(), 0.0), 0.08 * total);
  const double effect = mean_of(expected_.revenue, 4) - mean_of(expected_.revenue, 0);
  EXPECT_LT(effect, 0.4 * mean_of(expected_.revenue, 0));
  EXPECT_GT(effect, 0.1 * mean_of(expected_.revenue, 0));
}

TEST_P(Marketing, SomeRespondConcavelySomeAboveAThresholdManyNotAtAll) {
  std::size_t none = 0;
  std::size_t concave = 0;
  std::size_t threshold = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double effect = expected_.revenue(i, 4) / expected_.revenue(i, 0) - 1.0;
    const double first = expected_.revenue(i, 1) / expected_.revenue(i, 0) - 1.0;
    if (effect < 0.01) {
      ++none;
    } else if (first > 0.35 * effect) {
      ++concave;
    } else if (first < 0.1 * effect) {
      ++threshold;
    }
  }
  EXPECT_GT(none, kRows / 4);
  EXPECT_GT(concave, kRows / 10);
  EXPECT_GT(threshold, kRows / 20);
}

// The incremental revenue at a price of the budget, and its cost.
std::pair<double, double> oracle_at(const ExpectedOutcomes& expected, double multiplier) {
  double value = 0.0;
  double spend = 0.0;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::size_t best = 0;
    const auto score = [&](std::size_t arm) { return expected.revenue(i, arm) - multiplier * expected.cost(i, arm); };
    for (std::size_t arm = 1; arm < kNumArms; ++arm) {
      if (score(arm) > score(best)) best = arm;
    }
    value += (expected.revenue(i, best) - expected.revenue(i, 0)) / kRows;
    spend += expected.cost(i, best) / kRows;
  }
  return {value, spend};
}

TEST_P(Marketing, AnOracleGainsFarMoreThanSpendingAtRandom) {
  const double budget = 0.2 * mean_of(expected_.cost, 4);
  double low = 0.0;
  double high = 100.0;
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (low + high);
    (oracle_at(expected_, middle).second > budget ? low : high) = middle;
  }
  // A random share of the units gets one arm, the best one for that.
  double random_gain = 0.0;
  for (std::size_t arm = 1; arm < kNumArms; ++arm) {
    const double gain = mean_of(expected_.revenue, arm) - mean_of(expected_.revenue, 0);
    random_gain = std::max(random_gain, gain * std::min(1.0, budget / mean_of(expected_.cost, arm)));
  }
  EXPECT_GT(oracle_at(expected_, high).first, 1.8 * random_gain);
}

INSTANTIATE_TEST_SUITE_P(Families, Marketing, testing::Values(Response::smooth, Response::tree, Response::sparse),
                         [](const auto& family) { return std::string(core::to_word(family.param)); });

TEST(MarketingTrial, Has107Features) {
  const Simulator simulator({.num_rows = 10});
  const auto& columns = simulator.trial_columns();
  EXPECT_EQ(columns.size(), 1u + 107u + 3u);
  EXPECT_EQ(columns.front().name, "shop_id");
  EXPECT_EQ(columns[columns.size() - 3].name, "discount");
  std::map<std::string, int> names;
  for (const data::ColumnInfo& column : columns) EXPECT_EQ(++names[column.name], 1) << column.name;
}

TEST(MarketingTrial, CategoriesHaveRareLevels) {
  const Simulator simulator({.num_rows = kRows, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  const auto& city = std::get<data::TextColumn>(column(simulator.trial_columns(), rows.trial, "city"));
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < kRows; ++i) ++counts[std::string(city[i])];
  EXPECT_EQ(counts.size(), 60u);
  EXPECT_GT(counts["city_01"], kRows / 6);
  EXPECT_LT(counts["city_60"], kRows / 200);
}

TEST(MarketingTrial, NoFeatureIsConstantOrInfinite) {
  const Simulator simulator({.num_rows = kRows, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  for (std::size_t c = 0; c < rows.trial.columns.size(); ++c) {
    const auto* numbers = std::get_if<std::vector<float>>(&rows.trial.columns[c]);
    if (numbers == nullptr) continue;
    float low = std::numeric_limits<float>::max();
    float high = std::numeric_limits<float>::lowest();
    for (const float value : *numbers) {
      ASSERT_FALSE(std::isinf(value));
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    EXPECT_LT(low, high) << simulator.trial_columns()[c].name;
  }
}

TEST(MarketingTrial, MissingValuesDoNotDependOnTheArm) {
  const Simulator simulator({.num_rows = kRows, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  const std::vector<std::uint8_t> arms = simulator.drawn_arms(0, kRows);
  std::size_t with_missing = 0;
  double smallest_p = 1.0;
  for (const data::ColumnValues& values_of : rows.trial.columns) {
    const auto* numbers = std::get_if<std::vector<float>>(&values_of);
    if (numbers == nullptr) continue;
    std::array<double, kNumArms> missing = {};
    std::array<double, kNumArms> units = {};
    for (std::size_t i = 0; i < kRows; ++i) {
      ++units[arms[i]];
      missing[arms[i]] += std::isnan((*numbers)[i]);
    }
    const double rate = std::accumulate(missing.begin(), missing.end(), 0.0) / kRows;
    EXPECT_LT(rate, 0.4);
    if (rate == 0.0) continue;
    ++with_missing;
    double statistic = 0.0;
    for (std::size_t arm = 0; arm < kNumArms; ++arm) {
      statistic += std::pow(missing[arm] - units[arm] * rate, 2) / (units[arm] * rate * (1.0 - rate));
    }
    smallest_p = std::min(smallest_p, core::chi_square_upper(statistic, kNumArms - 1));
  }
  EXPECT_GE(with_missing, 20u);
  EXPECT_LT(with_missing, 60u);
  EXPECT_GT(smallest_p, 1e-5);
}

TEST(MarketingTrial, SmallShopsLeaveMoreOut) {
  const Simulator simulator({.num_rows = kRows, .seed = kSeed});
  const SimulatedRows rows = simulator.make_rows(0, kRows);
  const auto& staff = values<float>(simulator.trial_columns(), rows.trial, "staff_count");
  const auto& orders = values<float>(simulator.trial_columns(), rows.trial, "orders_30d");
  std::array<std::vector<double>, 2> log_orders;  // of shops with and without the value
  for (std::size_t i = 0; i < kRows; ++i) log_orders[std::isnan(staff[i])].push_back(std::log(1.0 + orders[i]));
  EXPECT_GT(moments(log_orders[0]).mean, moments(log_orders[1]).mean + 0.3);
}

// Mean squared distance from the expectation, over the natural variance.
double relative_variance(double noise) {
  const Simulator simulator({.num_rows = kRows, .seed = kSeed, .noise = noise});
  const ExpectedOutcomes expected = simulator.expected_outcomes(0, kRows);
  const DrawnOutcomes drawn = simulator.draw_outcomes(0, std::vector<std::uint8_t>(kRows, 0));
  double sum = 0.0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double mean = expected.revenue(i, 0);
    sum += std::pow(drawn.revenue[i] - mean, 2) / (mean + 0.05 * mean * mean);
  }
  return sum / kRows;
}

TEST(MarketingTrial, NoiseScalesTheVariance) {
  EXPECT_EQ(relative_variance(0.0), 0.0);
  EXPECT_NEAR(relative_variance(0.25), 0.25, 0.02);
  EXPECT_NEAR(relative_variance(1.0), 1.0, 0.06);
  EXPECT_NEAR(relative_variance(6.0), 6.0, 0.8);
}

TEST(MarketingTrial, NoiseLeavesTheTruthAlone) {
  const ExpectedOutcomes quiet = Simulator({.num_rows = 100, .noise = 0.0}).expected_outcomes(0, 100);
  const ExpectedOutcomes loud = Simulator({.num_rows = 100, .noise = 6.0}).expected_outcomes(0, 100);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(quiet.revenue(i, 3), loud.revenue(i, 3));
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = moments(a).mean;
  const double mean_b = moments(b).mean;
  double ab = 0.0;
  double aa = 0.0;
  double bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(MarketingDays, ShopsPersistAndDiscountsAreDrawnAnew) {
  constexpr std::size_t kShops = 4000;
  const Simulator simulator({.num_rows = 14 * kShops, .seed = kSeed, .num_days = 14});
  EXPECT_EQ(simulator.num_units(), kShops);
  const SimulatedRows first = simulator.make_rows(0, kShops);
  const SimulatedRows last = simulator.make_rows(13 * kShops, kShops);
  const auto& columns = simulator.trial_columns();
  EXPECT_TRUE(column(columns, first.trial, "shop_id") == column(columns, last.trial, "shop_id"));
  EXPECT_EQ(values<std::int64_t>(columns, first.trial, "day").front(), 1);
  EXPECT_EQ(values<std::int64_t>(columns, last.trial, "day").back(), 14);
  EXPECT_EQ(values<std::int64_t>(simulator.truth_columns(), last.truth, "day").back(), 14);
  EXPECT_TRUE(same_values(column(columns, first.trial, "orders_30d"), column(columns, last.trial, "orders_30d")));
  EXPECT_TRUE(same_values(column(columns, first.trial, "staff_count"), column(columns, last.trial, "staff_count")));
  EXPECT_TRUE(column(columns, first.trial, "city") == column(columns, last.trial, "city"));
  EXPECT_FALSE(column(columns, first.trial, "traffic_index") == column(columns, last.trial, "traffic_index"));

  std::vector<double> log_first;
  std::vector<double> log_last;
  std::vector<double> arm_first;
  std::vector<double> arm_last;
  for (std::size_t i = 0; i < kShops; ++i) {
    log_first.push_back(std::log(1.0 + values<double>(columns, first.trial, "orders")[i]));
    log_last.push_back(std::log(1.0 + values<double>(columns, last.trial, "orders")[i]));
    arm_first.push_back(static_cast<double>(values<std::int64_t>(columns, first.trial, "discount")[i]));
    arm_last.push_back(static_cast<double>(values<std::int64_t>(columns, last.trial, "discount")[i]));
  }
  EXPECT_GT(correlation(log_first, log_last), 0.7);
  EXPECT_LT(std::fabs(correlation(arm_first, arm_last)), 4.0 / std::sqrt(kShops));
}

TEST(MarketingDays, WeekdaysMatter) {
  constexpr std::size_t kShops = 2000;
  const Simulator simulator({.num_rows = 7 * kShops, .seed = kSeed, .num_days = 7});
  const double monday = mean_of(simulator.expected_outcomes(0, kShops).revenue, 0);
  const double saturday = mean_of(simulator.expected_outcomes(5 * kShops, kShops).revenue, 0);
  EXPECT_GT(saturday, 1.15 * monday);
}

TEST(MarketingDays, LaterDaysGoOnWhereATrialEnded) {
  constexpr std::size_t kShops = 300;
  const Simulator whole({.num_rows = 4 * kShops, .seed = kSeed, .num_days = 4});
  const Simulator later({.num_rows = kShops, .seed = kSeed, .num_days = 1, .first_day = 3});
  const SimulatedRows expected = whole.make_rows(3 * kShops, kShops);
  const SimulatedRows made = later.make_rows(0, kShops);
  for (std::size_t c = 0; c < made.trial.columns.size(); ++c) {
    EXPECT_TRUE(same_values(made.trial.columns[c], expected.trial.columns[c])) << whole.trial_columns()[c].name;
  }
}

}  // namespace
}  // namespace dfcl::simulate
