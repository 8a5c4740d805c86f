// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/study/study_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "temporary_folder.h"

namespace dfcl::io {
namespace {

constexpr const char* kEverything = R"(
format = 2
[data]
trial = "trial.parquet"
[columns]
id = "shop_id"
arm = "discount"
revenue = "orders"
cost = "subsidy"
time = "day"
features = ["a*", "b"]
exclude = ["out_*"]
categorical = ["city"]
missing = [-999]
cluster = "household"
propensity = "p"
winsorize = { revenue = 0.999 }
min_level_units = 20
[arms]
control = 0
order = [0, 5, "10"]
share = { "0" = 0.2, "5" = 0.3, "10" = 0.5 }
[cost]
control_is_free = true
non_negative = true
rises_with_arm = true
[budgets]
per_unit = [0.1, 0.2]
[split]
by = "time"
train = 0.5
validation = 0
test = 0.5
[method]
name = "dfcl-mer"
)";

TEST(StudyFile, ReadsEveryKeyOfTheDesign) {
  const TemporaryFolder folder;
  const data::Study study = read_study(folder.write("study.toml", kEverything));
  EXPECT_EQ(study.data.trial, "trial.parquet");
  EXPECT_EQ(study.folder + "/study.toml", folder.file("study.toml"));
  EXPECT_EQ(study.columns.features, (std::vector<std::string>{"a*", "b"}));
  EXPECT_EQ(study.columns.missing, (std::vector<double>{-999.0}));
  EXPECT_EQ(study.columns.winsorize.at("revenue"), 0.999);
  EXPECT_EQ(study.columns.min_level_units, 20);
  EXPECT_EQ(study.arms.control, "0");
  EXPECT_EQ(study.arms.order, (std::vector<std::string>{"0", "5", "10"}));
  EXPECT_EQ(study.arms.share.at("10"), 0.5);
  EXPECT_TRUE(study.cost.rises_with_arm);
  EXPECT_EQ(study.budgets.per_unit, (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(study.split.by, "time");
  EXPECT_EQ(study.method.name, "dfcl-mer");
}

TEST(StudyFile, WritesAStudyThatReadsBackTheSame) {
  const TemporaryFolder folder;
  const data::Study study = read_study(folder.write("study.toml", kEverything));
  const std::string text = study_text(study, {{"columns.id", "a remark"}});
  const data::Study again = read_study(folder.write("again.toml", text));
  EXPECT_EQ(study_text(again, {{"columns.id", "a remark"}}), text);
  EXPECT_NE(text.find("id = \"shop_id\"  # a remark"), std::string::npos);
}

TEST(StudyFile, PutsRemarksOfSeveralLinesAboveTheKey) {
  const TemporaryFolder folder;
  data::Study study = read_study(folder.write("study.toml", kEverything));
  const std::string text = study_text(study, {{"columns.id", "first\nsecond = \"x\""}});
  EXPECT_NE(text.find("# first\n#   second = \"x\"\nid = \"shop_id\"\n"), std::string::npos);
  EXPECT_EQ(read_study(folder.write("again.toml", text)).columns.id, study.columns.id);
}

TEST(StudyFile, OverridesTakeValuesAndBareWords) {
  const TemporaryFolder folder;
  const std::string path = folder.write("study.toml", kEverything);
  const data::Study study =
      read_study(path, {"split.by=hash", "split.train=0.4", "split.validation=0.1", "columns.exclude=[\"x\", \"y\"]"});
  EXPECT_EQ(study.split.by, "hash");
  EXPECT_EQ(study.split.train, 0.4);
  EXPECT_EQ(study.columns.exclude, (std::vector<std::string>{"x", "y"}));
  EXPECT_THROW(read_study(path, {"split=3"}), core::Error);
  EXPECT_THROW(read_study(path, {"split.train=much"}), core::Error);
}

TEST(StudyFile, ShowsAWrongValueAsItWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.write("study.toml", "[split]\n");
  for (const char* value : {"[0.1, 0.5]", "0.1", "true"}) {
    try {
      (void)read_study(path, {fmt::format("method.epochs={}", value)});
      FAIL() << value;
    } catch (const core::Error& error) {
      EXPECT_EQ(error.details().found, value);
    }
  }
}

TEST(StudyFile, RefusesAFileOfMoreThanAMegabyte) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_study(folder.write("study.toml", std::string(2 << 20, '#'))), core::Error);
}

TEST(StudyFile, SaysHowReportsSpeak) {
  const TemporaryFolder folder;
  const std::string report = R"([report]
title = "Spring"
currency = "EUR"
revenue_name = "orders"
decimal = ","
thousands = "."
)";
  const data::Study study = read_study(folder.write("study.toml", std::string(kEverything) + report));
  EXPECT_EQ(study.report.title, "Spring");
  EXPECT_EQ(study.report.currency, "EUR");
  EXPECT_EQ(study.report.revenue_name, "orders");
  EXPECT_EQ(study.report.cost_name, std::nullopt);
  EXPECT_EQ(study.report.decimal, ",");
  EXPECT_EQ(study.report.thousands, ".");
  EXPECT_THROW((void)read_study(folder.file("study.toml"), {"report.decimal=\".\""}), core::Error);
}

}  // namespace
}  // namespace dfcl::io
