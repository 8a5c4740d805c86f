// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/files/model_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../model/sample_model.h"
#include "dfcl/model/model_file.h"

namespace dfcl::report {
namespace {

TEST(ModelReport, SaysInWordsWhatTheModelIs) {
  const std::string text = model_text(model::sample_model(), "m.safetensors");
  for (const char* part :
       {"m.safetensors: a model", "each of 3 arms", "dfcl-mer", "0 (control), 5, 10; graded", "not negative, log link",
        "rises with the arm, control is exactly 0", "3 columns make", "1 on a log scale", "the mean of 2 networks",
        "1,200 units", "per_unit 0.1", "2.5", "alpha 1.5", "2 epochs", "0.25"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  EXPECT_NE(text.find(model::fingerprint_of(model::sample_model())), std::string::npos);
}

TEST(ModelReport, SaysThatAnIndexIsNoForecast) {
  const model::Model model =
      model::sample_model_of(model::index_parts(model::sample_parts(1), loss::RevenueForm::drp_scores));
  EXPECT_NE(model_text(model, "m").find("an index"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(model_json(model))["is_index"].get<bool>());
}

TEST(ModelReport, GivesEveryFigureAsJson) {
  const auto json = nlohmann::json::parse(model_json(model::sample_model()));
  EXPECT_EQ(json["kind"], "model");
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), model::sample_model().seed);
  EXPECT_EQ(json["arms"]["labels"].size(), 3u);
  EXPECT_EQ(json["features"][2]["levels"].size(), 3u);
  EXPECT_EQ(json["inputs"].size(), json["network"]["inputs"].get<std::size_t>());
  EXPECT_EQ(json["multipliers"][0]["multiplier"], 2.5);
  EXPECT_EQ(json["trained_on"]["units"], 1200);
  EXPECT_EQ(json["record"][1]["loss"], 0.25);
}

TEST(ModelReport, TellsOfTheLastNetworkAndOfDecisionsThatWereUndone) {
  model::Model model = model::sample_model();
  model.options.emplace_back("chosen", "dfcl-mer was chosen.");
  model.record =
      R"([{"member": 0, "epoch": 1, "decides": false, "prediction_loss": 9.5, "decision_loss": 0.0},
          {"member": 1, "epoch": 1, "decides": false, "prediction_loss": 7.5, "decision_loss": 0.0},
          {"member": 1, "epoch": 2, "decides": true, "prediction_loss": 6.5, "decision_loss": -4.5, "went_back": true}])";
  const std::string text = model_text(model, "m");
  for (const char* part : {"7.5", "6.5", "-4.5", "the two-stage network was kept.", "auto: dfcl-mer was chosen."})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  for (const char* part : {"9.5", "\n  member ", "\n  epoch "})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(ModelReport, LivesWithARecordThatIsNoJson) {
  model::Model model = model::sample_model();
  model.record = "not json";
  EXPECT_TRUE(nlohmann::json::parse(model_json(model))["record"].is_null());
  EXPECT_EQ(model_text(model, "m").find("Training record"), std::string::npos);
}

}  // namespace
}  // namespace dfcl::report
