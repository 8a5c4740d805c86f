// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/trained_units.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"

namespace dfcl::model {
namespace {

// Units with ids first, first + 1, ...
data::Trial trial_of(std::size_t num_units, std::size_t first) {
  data::Trial trial;
  std::vector<std::int64_t> ids;
  for (std::size_t unit = 0; unit < num_units; ++unit) ids.push_back(static_cast<std::int64_t>(first + unit));
  trial.ids = ids;
  trial.arm.assign(num_units, 0);
  return trial;
}

std::vector<std::uint8_t> first_of(std::size_t num_units, std::size_t count) {
  std::vector<std::uint8_t> chosen(num_units, 0);
  std::fill_n(chosen.begin(), count, std::uint8_t{1});
  return chosen;
}

TEST(TrainedUnits, KnowsEveryUnitOfASmallTrial) {
  const data::Trial trial = trial_of(1000, 1);
  const TrainedUnits trained = trained_units(trial, {}, first_of(1000, 600));
  EXPECT_EQ(trained.num_units, 600u);
  const Overlap all = overlap_with(trained, trial, {});
  EXPECT_TRUE(all.is_exact);
  EXPECT_EQ(all.num_compared, 1000u);
  EXPECT_EQ(all.num_trained, 600u);
  std::vector<std::uint8_t> rest = first_of(1000, 600);
  for (std::uint8_t& use : rest) use = use == 0 ? 1 : 0;
  EXPECT_EQ(overlap_with(trained, trial, rest).num_trained, 0u);
  // Other units of another file, ten of them the same.
  EXPECT_EQ(overlap_with(trained, trial_of(1000, 591), {}).num_trained, 10u);
}

TEST(TrainedUnits, EstimatesTheOverlapOfLargeTrialsFromASample) {
  const std::size_t num_units = 400'000;
  const data::Trial trial = trial_of(num_units, 1);
  const TrainedUnits trained = trained_units(trial, {}, first_of(num_units, 300'000));
  EXPECT_EQ(trained.keys.size(), kMostKeys);
  EXPECT_EQ(trained.num_units, 300'000u);
  const Overlap none = overlap_with(trained, trial_of(50'000, 300'001), {});
  EXPECT_FALSE(none.is_exact);
  EXPECT_GT(none.num_compared, 1000u);
  EXPECT_EQ(none.num_trained, 0u);
  EXPECT_NEAR(overlap_with(trained, trial, {}).share(), 0.75, 0.02);
}

TEST(TrainedUnits, OfAModelAndOfTheOneItStartedFromAreBothKnown) {
  for (const std::size_t num_units : {1000u, 200'000u}) {
    const data::Trial trial = trial_of(num_units, 1);
    TrainedUnits trained = trained_units(trial, {}, first_of(num_units, num_units / 4));
    std::vector<std::uint8_t> later = first_of(num_units, num_units / 2);
    for (std::size_t unit = 0; unit < num_units / 4; ++unit) later[unit] = 0;
    add_earlier(trained, trained_units(trial, {}, later));
    const TrainedUnits both = trained_units(trial, {}, first_of(num_units, num_units / 2));
    EXPECT_EQ(trained.keys, both.keys) << num_units;
  }
}

TEST(TrainedUnits, PredictionsCarryASketchOfThem) {
  for (const std::size_t num_units : {std::size_t{900}, std::size_t{60'000}}) {
    const data::Trial trial = trial_of(num_units, 1);
    const TrainedUnits trained = trained_units(trial, {}, first_of(num_units, num_units / 2));
    const TrainedUnits carried = parse_carried(carried_text(trained), "p.parquet");
    EXPECT_EQ(carried.num_units, num_units / 2);
    EXPECT_EQ(carried.trial_fingerprint, trained.trial_fingerprint);
    const Overlap all = overlap_with(carried, trial, {});
    EXPECT_EQ(all.is_exact, num_units / 2 < kMostCarriedKeys);
    EXPECT_NEAR(all.share(), 0.5, all.is_exact ? 0.0 : 0.05);
    EXPECT_EQ(overlap_with(carried, trial_of(num_units, num_units + 1), {}).num_trained, 0u);
  }
}

TEST(TrainedUnits, RefusesASketchThatNobodyWrote) {
  const std::string key = "00000000000000ff";
  EXPECT_EQ(parse_carried("3:0f:" + key, "p").keys, std::vector<std::uint64_t>{255});
  std::string many = "3:0f:";
  for (std::size_t i = 0; i <= kMostCarriedKeys; ++i) many += fmt::format("{:016x}", i);
  for (const std::string& text :
       {std::string("nothing much"), std::string("3:"), std::string("3::") + key, "-3:0f:" + key,
        "3:0f:" + key.substr(1), std::string("3:0f:00000000000000fg"), "3:0f:" + key + key, many}) {
    EXPECT_THROW((void)parse_carried(text, "p"), core::Error) << text.substr(0, 40);
  }
}

TEST(TrainedUnits, TakesTheDayAsPartOfTheUnit) {
  data::Trial trial = trial_of(100, 1);
  trial.times = {"1", "2"};
  trial.time.assign(100, 0);
  const TrainedUnits trained = trained_units(trial, {}, first_of(100, 100));
  EXPECT_EQ(overlap_with(trained, trial, {}).num_trained, 100u);
  trial.time.assign(100, 1);
  EXPECT_EQ(overlap_with(trained, trial, {}).num_trained, 0u);
}

TEST(TrainedUnits, TakesRowNumbersForUnitsOfTheSameTrialOnly) {
  data::Trial trial = trial_of(100, 1);
  trial.ids = data::RowNumbers{1, 100};
  trial.fingerprint = 7;
  const TrainedUnits trained = trained_units(trial, {}, first_of(100, 50));
  EXPECT_EQ(overlap_with(trained, trial, {}).num_trained, 50u);
  trial.fingerprint = 8;
  EXPECT_EQ(overlap_with(trained, trial, {}).num_trained, 0u);
}

}  // namespace
}  // namespace dfcl::model
