// SPDX-License-Identifier: Apache-2.0
#include "dfcl/simulate/study_text.h"

#include <gtest/gtest.h>

namespace dfcl::simulate {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(StudyText, NamesTheRolesOfMarketing) {
  const std::string text = study_text(Simulator({.num_rows = 10}), "data/trial.parquet");
  EXPECT_TRUE(text.starts_with("format = 2\n")) << text;
  EXPECT_TRUE(holds(text, "trial = \"data/trial.parquet\"")) << text;
  EXPECT_TRUE(holds(text, "id = \"shop_id\"")) << text;
  EXPECT_TRUE(holds(text, "order = [\"0\", \"5\", \"10\", \"15\", \"20\"]")) << text;
  EXPECT_TRUE(holds(text, "\"20\" = 0.2")) << text;
  EXPECT_TRUE(holds(text, "rises_with_arm = true")) << text;
  EXPECT_TRUE(holds(text, "by = \"hash\"")) << text;
  EXPECT_FALSE(holds(text, "time =")) << text;
}

TEST(StudyText, SplitsDaysByTime) {
  const std::string text = study_text(Simulator({.num_rows = 28, .num_days = 14}), "trial.csv");
  EXPECT_TRUE(holds(text, "time = \"day\"")) << text;
  EXPECT_TRUE(holds(text, "by = \"time\"")) << text;
}

TEST(StudyText, GivesTheDesignedSharesOfCriteo) {
  const std::string text = study_text(Simulator({.preset = Preset::criteo, .num_rows = 10}), "trial.csv");
  EXPECT_TRUE(holds(text, "share = { \"0\" = 0.15, \"1\" = 0.85 }")) << text;
  EXPECT_FALSE(holds(text, "control_is_free")) << text;
  EXPECT_FALSE(holds(text, "id =")) << text;
}

TEST(StudyText, OnlyGradedOffersHaveAnOrder) {
  const std::string graded = study_text(Simulator({.preset = Preset::varied, .num_rows = 10}), "trial.csv");
  EXPECT_TRUE(holds(graded, "order = [\"0\", \"3\", \"6\", \"10\", \"15\", \"25\"]")) << graded;
  EXPECT_TRUE(holds(graded, "rises_with_arm = true")) << graded;
  const std::string rules =
      study_text(Simulator({.preset = Preset::varied, .response = Response::rules, .num_rows = 10}), "trial.csv");
  EXPECT_TRUE(holds(rules, "share = { \"0\" = 0.4, \"1\" = 0.3, \"2\" = 0.2, \"3\" = 0.1 }")) << rules;
  EXPECT_TRUE(holds(rules, "control_is_free = true")) << rules;
  EXPECT_FALSE(holds(rules, "order =")) << rules;
  EXPECT_FALSE(holds(rules, "rises_with_arm")) << rules;
}

TEST(StudyText, QuotesPathsAsTomlDoes) {
  const std::string text = study_text(Simulator({.num_rows = 10}), "a \"b\"\\c.csv");
  EXPECT_TRUE(holds(text, R"(trial = "a \"b\"\\c.csv")")) << text;
}

}  // namespace
}  // namespace dfcl::simulate
