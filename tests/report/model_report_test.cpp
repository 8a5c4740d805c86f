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
  model.record =
      R"([{"member": 0, "epoch": 1, "decides": false, "prediction_loss": 9.5, "decision_loss": 0.0},
          {"member": 1, "epoch": 1, "decides": false, "prediction_loss": 7.5, "decision_loss": 0.0},
          {"member": 1, "epoch": 2, "decides": true, "prediction_loss": 6.5, "decision_loss": -4.5, "went_back": true}])";
  const std::string text = model_text(model, "m");
  for (const char* part : {"7.5", "6.5", "-4.5", "the two-stage network was kept."})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  for (const char* part : {"9.5", "\n  member ", "\n  epoch "})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(ModelReport, SaysHowAStackWasWeighedAndWhereItDoesNotLearn) {
  model::Model model = model::sample_model();
  model::Stack stack;
  stack.num_units = 1500;
  stack.num_folds = 3;
  stack.members = {{"tsm-boost", 0.75, 2.5, 0.5, 12.25}, {model::kMeanEffectName, 0.25, 1.5, 0.125, 0.0}};
  stack.left_out.push_back({"dfcl-mer", "the time was up"});
  model.stack = stack;
  model.held_out.emplace();
  model.held_out->num_units = 1500;
  model.held_out->revenue = {0.75, 0.5};
  model.calibration.emplace();
  model.calibration->revenue.shift = {0.0, 0.0, 0.0};
  model.calibration->revenue.center = {0.0, 1.0, 2.0};
  model.calibration->revenue.slope = model.calibration->revenue.found_slope = 0.125;
  model.calibration->revenue.slope_error = 0.25;
  const std::string text = model_text(model, "m");
  for (const char* part : {"tsm-boost", "75.0 %", "12.2", "mean-effect", "Left out: dfcl-mer, the time was up.",
                           "Revenue is not learned", "Held-out units do not show"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  const auto json = nlohmann::json::parse(model_json(model));
  EXPECT_EQ(json["stack"]["members"][0]["weight"], 0.75);
  EXPECT_EQ(json["stack"]["members"][0]["seconds"], 12.25);
  EXPECT_FALSE(json["stack"]["members"][1].contains("seconds"));
  EXPECT_EQ(json["calibration"]["revenue"]["slope"], 0.125);
  EXPECT_TRUE(json["calibration"]["cost"].is_null());
  EXPECT_EQ(json["remarks"].size(), 2u);
}

TEST(ModelReport, LivesWithARecordThatIsNoJson) {
  model::Model model = model::sample_model();
  model.record = "not json";
  EXPECT_TRUE(nlohmann::json::parse(model_json(model))["record"].is_null());
  EXPECT_EQ(model_text(model, "m").find("Training record"), std::string::npos);
}

}  // namespace
}  // namespace dfcl::report
