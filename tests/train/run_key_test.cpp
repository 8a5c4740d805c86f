// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/run_key.h"

#include <gtest/gtest.h>

#include <functional>

#include "small_trial.h"

namespace dfcl::train {
namespace {

std::uint64_t key_of(const data::Trial& trial, const data::Study& study, std::uint64_t seed = 1) {
  return run_key(trial, study, settings_of(study, find_method(study.method.name), 1000, seed));
}

TEST(RunKey, ChangesWithEveryKeyThatTrainsAndWithNoOther) {
  const data::Trial trial = small_trial(200);
  const data::Study study = small_study("dfcl-mer");
  const std::uint64_t key = key_of(trial, study);
  const std::pair<const char*, std::function<void(data::Study&)>> training[] = {
      {"method.alpha", [](data::Study& s) { s.method.alpha = 0.5; }},
      {"method.monotone", [](data::Study& s) { s.method.monotone = {"cost"}; }},
      {"network.hidden",
       [](data::Study& s) {
         s.network.hidden = {16, 9};
       }},
      {"network.scaling", [](data::Study& s) { s.network.scaling = "unit"; }},
      {"forest.trees", [](data::Study& s) { s.forest.trees = 5; }},
      {"boost.leaves", [](data::Study& s) { s.boost.leaves = 5; }},
      {"cost.non_negative", [](data::Study& s) { s.cost.non_negative = false; }},
      {"budgets.per_unit", [](data::Study& s) { s.budgets.per_unit = {0.5}; }},
      {"budgets.include_control", [](data::Study& s) { s.budgets.include_control = true; }},
      {"format", [](data::Study& s) { s.format = 1; }},
      {"split.seed", [](data::Study& s) { s.split.seed = 3; }},
      {"columns.winsorize",
       [](data::Study& s) {
         s.columns.winsorize = {{"revenue", 0.99}};
       }},
      {"arms.cost",
       [](data::Study& s) {
         s.arms.cost = {{"1", 0.15}};
       }},
  };
  for (const auto& [name, change] : training) {
    data::Study other = study;
    change(other);
    EXPECT_NE(key_of(trial, other), key) << name;
  }
  data::Study other = study;
  other.report.title = "Spring";
  other.report.currency = "EUR";
  other.data.trial = "elsewhere.parquet";
  other.compare.seeds = 3;
  other.deploy.units = 1000;
  EXPECT_EQ(key_of(trial, other), key);
  EXPECT_NE(key_of(trial, study, 2), key);
  data::Trial changed = small_trial(200);
  changed.fingerprint += 1;
  EXPECT_NE(key_of(changed, study), key);
}

}  // namespace
}  // namespace dfcl::train
