// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "dfcl/core/error.h"
#include "dfcl/simulate/simulator.h"

namespace dfcl::simulate {
namespace {

constexpr std::size_t kRows = 4000;

double mean_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const std::vector<float>& column(const Simulator& simulator, const UnitBlock& block, const std::string& name) {
  std::size_t place = 0;
  while (simulator.feature_columns()[place].name != name) ++place;
  return std::get<std::vector<float>>(block.features[place]);
}

TEST(ChangingWorld, CostsScaleAndNothingElseDoes) {
  const Simulator usual({.num_rows = kRows, .seed = 3});
  const Simulator dearer({.num_rows = kRows, .seed = 3, .cost_scale = 1.2});
  const ExpectedOutcomes a = usual.expected_outcomes(0, kRows), b = dearer.expected_outcomes(0, kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(a.revenue(row, 3), b.revenue(row, 3));
    EXPECT_DOUBLE_EQ(1.2 * a.cost(row, 3), b.cost(row, 3));
  }
  const std::vector<std::uint8_t> arms(kRows, 4);
  EXPECT_EQ(usual.draw_outcomes(0, arms).revenue, dearer.draw_outcomes(0, arms).revenue);
}

TEST(ChangingWorld, AnotherLuckMeetsTheSameUnits) {
  const Simulator trial({.num_rows = kRows, .seed = 3}), launch({.num_rows = kRows, .seed = 3, .outcome_seed = 1});
  const UnitBlock a = trial.make_units(0, kRows), b = launch.make_units(0, kRows);
  EXPECT_EQ(column(trial, a, "avg_basket"), column(launch, b, "avg_basket"));
  for (std::size_t row = 0; row < kRows; ++row) EXPECT_EQ(a.revenue(row, 2), b.revenue(row, 2));
  const std::vector<std::uint8_t> arms(kRows, 2);
  EXPECT_NE(trial.draw_outcomes(0, arms).revenue, launch.draw_outcomes(0, arms).revenue);
}

TEST(ChangingWorld, APopulationThatShiftsShowsInItsFeatures) {
  const Simulator usual({.num_rows = kRows, .seed = 3}),
      shifted({.num_rows = kRows, .seed = 3, .population_shift = 1.0});
  const UnitBlock a = usual.make_units(0, kRows), b = shifted.make_units(0, kRows);
  EXPECT_GT(mean_of(column(shifted, b, "share_young_customers")),
            1.05 * mean_of(column(usual, a, "share_young_customers")));
  EXPECT_LT(mean_of(column(shifted, b, "avg_basket")), 0.95 * mean_of(column(usual, a, "avg_basket")));
}

TEST(ChangingWorld, UnitsInTwoStepsAreTheUnitsInOne) {
  const Simulator simulator({.num_rows = kRows, .seed = 3});
  const std::vector<std::uint8_t> arms(100, 1);
  const UnitBlock block = simulator.make_units(50, 100);
  EXPECT_EQ(simulator.draw_outcomes(50, arms, block).cost, simulator.draw_outcomes(50, arms).cost);
}

TEST(ChangingWorld, OptionsOutOfRangeAreRefused) {
  EXPECT_THROW(Simulator({.num_rows = 10, .cost_scale = 0.0}), core::Error);
  EXPECT_THROW(Simulator({.num_rows = 10, .population_shift = 9.0}), core::Error);
  EXPECT_THROW(Simulator({.preset = Preset::criteo, .num_rows = 10, .cost_scale = 1.1}), core::Error);
}

}  // namespace
}  // namespace dfcl::simulate
