// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/fold_fits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "small_trial.h"

namespace dfcl::train {
namespace {

data::Study fold_study() {
  data::Study study = small_study("auto");
  study.method.epochs = 3;
  study.method.baseline = "dr";
  study.forest.trees = 8;
  study.forest.leaf = 100;
  study.boost.trees = 20;
  return study;
}

// Fits methods one after the other and keeps what the last predicts of units it has not seen.
learn::Predicted unseen_after(const data::Trial& trial, const std::vector<std::string>& methods) {
  core::RunContext context(2, 5);
  const data::Study study = fold_study();
  const Preparation prepared = prepare(trial, study, two_stage_method(), context);
  const HeldUnits units = held_units(trial, prepared, context);
  const Checkpoint nothing_kept("", 0);
  FoldFits fits(trial, study, prepared, units, nothing_kept, context);
  learn::Predicted last;
  for (const std::string& name : methods) last = fits.fit(find_method(name), {}).unseen;
  return last;
}

bool same_row(const learn::Predicted& a, const learn::Predicted& b, std::size_t row) {
  return std::ranges::equal(a.revenue.row(row), b.revenue.row(row)) &&
         std::ranges::equal(a.cost.row(row), b.cost.row(row));
}

std::size_t num_same(const learn::Predicted& a, const learn::Predicted& b) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < a.revenue.rows(); ++row) count += same_row(a, b, row) ? 1u : 0u;
  return count;
}

TEST(FoldFits, WhatMethodsShareIsWhatEachWouldHaveFitted) {
  const data::Trial trial = small_trial(1500);
  for (const char* name : {"tsm-boost", "tsm-forest", "tsm", "dfcl-ifd"}) {
    const learn::Predicted alone = unseen_after(trial, {name});
    ASSERT_EQ(alone.revenue.rows(), 1200u);
    const learn::Predicted after = unseen_after(trial, {"dfcl-mer", "tsm-forest", "tsm", "tsm-boost", name});
    EXPECT_EQ(num_same(alone, after), 1200u) << name;
  }
}

// Two units of a fold change outcomes with each other: neither of them, nor any other unit of the fold, hears of it.
TEST(FoldFits, NothingOfAFoldReachesItsPredictions) {
  data::Trial trial = small_trial(1500);
  core::RunContext context(2, 5);
  const Preparation prepared = prepare(trial, fold_study(), two_stage_method(), context);
  const HeldUnits units = held_units(trial, prepared, context);
  for (const int trains : {1, 0}) {
    std::size_t first = units.size(), second = units.size();
    for (std::size_t i = 0; i < units.size() && second == units.size(); ++i) {
      for (std::size_t j = i + 1; j < units.size() && second == units.size(); ++j) {
        const std::uint32_t a = units.rows[i], b = units.rows[j];
        if (units.fold[i] != units.fold[j] || units.is_training[i] != trains || units.is_training[j] != trains ||
            trial.arm[a] != trial.arm[b] || trial.revenue[b] < trial.revenue[a] + 4.0f)
          continue;
        first = i;
        second = j;
      }
    }
    ASSERT_LT(second, units.size());
    data::Trial changed = small_trial(1500);
    std::swap(changed.revenue[units.rows[first]], changed.revenue[units.rows[second]]);
    std::swap(changed.cost[units.rows[first]], changed.cost[units.rows[second]]);
    for (const char* name : {"tsm-boost", "dfcl-mer"}) {
      const learn::Predicted before = unseen_after(trial, {name});
      const learn::Predicted after = unseen_after(changed, {name});
      std::size_t of_fold = 0;
      for (std::size_t place = 0; place < units.size(); ++place) {
        if (units.fold[place] != units.fold[first]) continue;
        ++of_fold;
        EXPECT_TRUE(same_row(before, after, place)) << name << " " << place;
      }
      EXPECT_LT(num_same(before, after), units.size()) << name << ": units of other folds do hear of it";
      EXPECT_GE(num_same(before, after), of_fold) << name;
    }
  }
}

}  // namespace
}  // namespace dfcl::train
