// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/comparison_entries.h"

#include <gtest/gtest.h>

#include <map>

#include "dfcl/core/error.h"

namespace dfcl::compare {
namespace {

data::Study study_with(std::vector<std::string> methods) {
  data::Study study;
  study.data.trial = "trial.parquet";
  study.columns.arm = "arm";
  study.columns.revenue = "revenue";
  study.columns.cost = "cost";
  study.compare.methods = std::move(methods);
  return study;
}

std::vector<std::string> names_of(const std::vector<ComparisonEntry>& entries) {
  std::vector<std::string> names;
  for (const ComparisonEntry& entry : entries) names.push_back(entry.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(ComparisonEntries, AnAlternativeIsForTheMethodsThatUseIt) {
  data::Study study = study_with({"tsm", "tsm-forest", "dfcl-mer", "dfcl-ifd", "dpm", "auto"});
  study.sweep.method["alpha"] = {"0.5"};
  study.sweep.method["window"] = {"2.0"};
  study.sweep.method["temperature"] = {"0.1"};
  study.sweep.settings = {"forest.leaf=50"};
  EXPECT_EQ(names_of(comparison_entries(study)),
            (Names{"tsm", "tsm-forest", "tsm-forest forest.leaf=50", "dfcl-mer", "dfcl-mer alpha=0.5",
                   "dfcl-mer temperature=0.1", "dfcl-ifd", "dfcl-ifd alpha=0.5", "dfcl-ifd window=2", "dpm", "auto",
                   "auto alpha=0.5", "auto temperature=0.1", "auto window=2"}));
}

TEST(ComparisonEntries, SettingsCanHaveANameAndAMethodOfTheirOwn) {
  data::Study study = study_with({"tsm", "dfcl-pl"});
  study.sweep.settings = {"slow: method.epochs=9; method.learning_rate=0.01",
                          "dfcl-pl rising: method.monotone=['cost']"};
  const std::vector<ComparisonEntry> entries = comparison_entries(study);
  EXPECT_EQ(names_of(entries), (Names{"tsm", "tsm slow", "dfcl-pl", "dfcl-pl slow", "dfcl-pl rising"}));
  const data::Study slow = study_for_entry(study, entries[1]);
  EXPECT_EQ(slow.method.name, "tsm");
  EXPECT_EQ(slow.method.epochs, 9);
  EXPECT_EQ(slow.method.learning_rate, 0.01);
  EXPECT_EQ(study_for_entry(study, entries[4]).method.monotone, Names{"cost"});
  EXPECT_TRUE(slow.compare.methods.empty() && slow.sweep.settings.empty()) << "as `dfcl train` would see it";
}

TEST(ComparisonEntries, FilesHaveNamesOfTheirOwn) {
  data::Study study = study_with({"dfcl-ifd"});
  study.sweep.method["multipliers"] = {"[0.1, 1.0]"};
  study.sweep.settings = {"a/b: method.epochs=2", "a?b: method.epochs=3"};
  const std::vector<ComparisonEntry> entries = comparison_entries(study);
  EXPECT_EQ(entries[1].name, "dfcl-ifd multipliers=[0.1, 1]");
  EXPECT_EQ(entries[1].file, "dfcl-ifd_multipliers=_0.1__1_");
  EXPECT_EQ(entries[2].file, "dfcl-ifd_a_b");
  EXPECT_EQ(entries[3].file, "dfcl-ifd_a_b-2");
}

TEST(ComparisonEntries, ValuesThatTryNothingAreRefused) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"alpha", "-1.0"}, {"multipliers", "[]"}, {"baseline", "\"\""}, {"epochs", "0"}}) {
    data::Study study = study_with({"tsm", "dfcl-ifd"});
    study.sweep.method[key] = {value};
    EXPECT_THROW(comparison_entries(study), core::Error) << key;
  }
  data::Study study = study_with({"dfcl-ifd"});
  study.sweep.method["alpha"] = {"0.0", "1.0"};
  EXPECT_EQ(comparison_entries(study).size(), 3u) << "no prediction loss at all is a value, and so is the default";
}

TEST(ComparisonEntries, ANameThatBeginsWithAMethodIsForThatMethod) {
  data::Study study = study_with({"tsm"});
  study.sweep.settings = {"dfcl-pl rising: method.epochs=2"};
  EXPECT_THROW(comparison_entries(study), core::Error) << "it is not among the methods";
  study.sweep.settings = {"very slow: method.epochs=2"};
  EXPECT_EQ(names_of(comparison_entries(study)), (Names{"tsm", "tsm very slow"}));
}

TEST(ComparisonEntries, WhatWouldChangeTheRowsIsRefused) {
  for (const char* setting :
       {"split.seed=1", "columns.exclude=['x']", "data.trial=other", "method.name=tsm", "x: ", "y"}) {
    data::Study study = study_with({"tsm"});
    study.sweep.settings = {setting};
    EXPECT_THROW(comparison_entries(study), core::Error) << setting;
  }
}

}  // namespace
}  // namespace dfcl::compare
