// SPDX-License-Identifier: Apache-2.0
//
// The two files that are made from the description of results. DFCL_REFRESH_GOLDEN=1 writes them anew.
#include "dfcl/report/results/results_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dfcl/report/evaluation/evaluation_report.h"
#include "dfcl/report/results/results_file.h"
#include "dfcl/report/results/results_schema.h"

namespace dfcl::report {
namespace {

void expect_file(const std::string& name, const std::string& text) {
  const std::string path = std::string(DFCL_SOURCE_DIR) + "/" + name;
  if (std::getenv("DFCL_REFRESH_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::stringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_TRUE(found.str() == text)
      << name << " is not what the description of results makes of it; run "
      << "DFCL_REFRESH_GOLDEN=1 build/release/bin/test_report --gtest_filter=ResultsFormat.*";
}

TEST(ResultsFormat, IsThePageInTheDocumentation) { expect_file("docs/results-format.md", results_format_page()); }

TEST(ResultsFormat, IsTheTypesOfThePage) { expect_file("web/src/results_format.ts", results_format_types()); }

TEST(ResultsFormat, SaysSomethingOfEveryKey) {
  for (const ResultsKind& kind : results_kinds()) {
    for (const Field& field : kind.schema->fields) EXPECT_FALSE(field.sentence.empty()) << kind.name << field.name;
  }
}

EvaluationReport small_evaluation() {
  EvaluationReport report{{}, {"evaluation", "1.2", "evaluate", {{"seed", "3"}}}, {}, "test"};
  evaluate::Evaluation& evaluation = report.evaluation;
  evaluation.arms = {{"0", true, 60}, {"5", false, 40}};
  evaluation.num_units = 100;
  evaluation.verdict = {"not_shown", "Nothing is shown.", {}};
  evaluation.budgets_per_unit = {0.5};
  evaluate::ModelFigures model;
  model.name = "a";
  evaluate::JudgedPlan plan;
  plan.budget_per_unit = 0.5;
  plan.revenue = {2.0, 1.0, 3.0};
  plan.share_per_arm = {0.5, 0.5};
  model.deployed = {plan};
  evaluation.models = {model, model};
  return report;
}

TEST(ResultsFormat, IsWhatEvaluationsWrite) {
  const auto json = nlohmann::ordered_json::parse(evaluation_json(small_evaluation()));
  std::vector<std::string> found;
  for (const auto& [key, value] : json.items()) found.push_back(key);
  std::vector<std::string> described;
  for (const Field& field : results_kinds().front().schema->fields) described.push_back(field.name);
  EXPECT_EQ(found, described);
  EXPECT_EQ(json["trial"]["arms"][1]["share"], 0.4);
  EXPECT_EQ(json["budgets"][0]["total"], 50.0);
  EXPECT_EQ(json["models"][0]["reference"], true);
  EXPECT_EQ(json["models"][1]["reference"], false);
  EXPECT_TRUE(json["models"][0]["fit"].is_null());
  EXPECT_FALSE(json["models"][0]["deployed"][0].contains("true_revenue")) << "there is no truth";
  EXPECT_EQ(json["models"][0]["deployed"][0]["revenue"]["high"], 3.0);
  EXPECT_TRUE(json["check"].is_null());
}

TEST(ResultsFormat, IsWhatReportsRead) {
  const std::string text = evaluation_json(small_evaluation());
  const Json read = read_results(text, "r.json");
  EXPECT_EQ(Json::parse(text), read) << "an evaluation without a check has no key that is for programs only";
}

TEST(ResultsFormat, ShowsAnEvaluationOnAScreen) {
  const std::string text = evaluation_text(small_evaluation());
  EXPECT_EQ(text.find("Nothing is shown.\n- 100 units (test split)"), 0u) << text;
  EXPECT_NE(text.find("2.00 (1.00 to 3.00)"), std::string::npos) << text;
}

}  // namespace
}  // namespace dfcl::report
