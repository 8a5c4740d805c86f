// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/predictor.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/learn/part.h"

namespace dfcl::learn {
namespace {

// Predicts a multiple of the first feature; those of one family can run as one, as the sum of their factors.
class Line final : public Predictor {
 public:
  Line(float factor, int family) : factors_{factor}, family_(family) {}
  const char* kind() const override { return "line"; }
  void predict(const FeatureTile& units, Outcomes out, core::RunContext&) const override {
    float mean = 0.0f;
    for (const float factor : factors_) mean += factor / static_cast<float>(factors_.size());
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const std::size_t row = units.rows.empty() ? unit : units.rows[unit];
      for (float& value : out.revenue.row(unit)) value = mean * units.values(row, 0);
      for (float& value : out.cost.row(unit)) value = 1.0f;
    }
  }
  bool join(const Predictor& other) override {
    const auto* line = dynamic_cast<const Line*>(&other);
    if (line == nullptr || line->family_ != family_) return false;
    factors_.insert(factors_.end(), line->factors_.begin(), line->factors_.end());
    return true;
  }
  Description describe(const Schema&) const override { return {}; }
  void require_fits(const Schema&, const std::string&) const override {}
  void save(PartWriter part) const override { part.tensor("factors", {factors_.size()}, factors_); }

 private:
  std::vector<float> factors_;
  int family_;
};

std::vector<std::unique_ptr<Predictor>> lines(std::initializer_list<std::pair<float, int>> list) {
  std::vector<std::unique_ptr<Predictor>> predictors;
  for (const auto& [factor, family] : list) predictors.push_back(std::make_unique<Line>(factor, family));
  return predictors;
}

float mean_at_one(const std::vector<WeightedPredictor>& predictors) {
  core::Matrix<float> features(1, 1), revenue(1, 2), cost(1, 2);
  features(0, 0) = 1.0f;
  core::RunContext context(1);
  predict_mean(predictors, {features.view()}, {revenue.view(), cost.view()}, context);
  EXPECT_EQ(cost(0, 1), 1.0f);
  return revenue(0, 1);
}

TEST(Predictor, ThoseThatCanRunAsOneAreJoinedAndKeepTheirWeight) {
  EXPECT_EQ(joined(lines({{1.0f, 0}, {2.0f, 0}, {6.0f, 0}})).size(), 1u);
  EXPECT_FLOAT_EQ(mean_at_one(joined(lines({{1.0f, 0}, {2.0f, 0}, {6.0f, 0}}))), 3.0f);
  const auto mixed = joined(lines({{1.0f, 0}, {3.0f, 0}, {8.0f, 1}}));
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_FLOAT_EQ(mean_at_one(mixed), 4.0f);
}

TEST(Predictor, ChosenRowsAreThoseOfTheTable) {
  core::Matrix<float> features(5, 1), revenue(2, 2), cost(2, 2);
  for (std::size_t row = 0; row < 5; ++row) features(row, 0) = static_cast<float>(row);
  const std::vector<std::uint32_t> rows = {4, 1};
  const std::vector<WeightedPredictor> both = {{std::make_shared<Line>(1.0f, 0), 1.0},
                                               {std::make_shared<Line>(3.0f, 1), 3.0}};
  core::RunContext context(1);
  predict_mean(both, {features.view(), rows}, {revenue.view(), cost.view()}, context);
  EXPECT_FLOAT_EQ(revenue(0, 0), 10.0f);
  EXPECT_FLOAT_EQ(revenue(1, 0), 2.5f);
}

TEST(Predictor, OnTheScalesOfLossesIsTheSameOutcome) {
  core::Matrix<float> features(1, 1), revenue(1, 2), cost(1, 2);
  features(0, 0) = 3.0f;
  core::RunContext context(1);
  Line(2.0f, 0).predict_scaled({features.view()}, {{1.0, 2.0}, {0.0, 0.5}}, {revenue.view(), cost.view()}, context);
  EXPECT_FLOAT_EQ(revenue(0, 0), 2.5f);
  EXPECT_FLOAT_EQ(cost(0, 0), 2.0f);
}

TEST(Predictor, WhatItDoesNotKnowItSays) {
  const Line line(1.0f, 0);
  const data::Arms arms;
  const std::vector<data::FeatureColumn> features;
  io::OnnxGraph graph;
  EXPECT_THROW(line.require_standard_errors(), core::Error);
  EXPECT_THROW((void)line.add_to_graph(graph, {arms, features}, {}), core::Error);
  EXPECT_TRUE(line.importance().empty());
  EXPECT_FALSE(line.origin().has_value());
}

LoadPredictor find_line(const std::string& kind) {
  if (kind != "line") return nullptr;
  return [](const PartReader& part) -> std::unique_ptr<Predictor> {
    return std::make_unique<Line>(part.values<std::vector<float>>("factors").at(0), 0);
  };
}

TEST(Part, PredictorsAreReadBackByTheListOfLearners) {
  io::TensorFile file;
  PartWriter(file, "model.")
      .predictors("list", {{std::make_shared<Line>(1.0f, 0), 1.0}, {std::make_shared<Line>(3.0f, 1), 3.0}});
  EXPECT_NE(file.find("model.list.1.factors"), nullptr);
  const data::Arms arms;
  const std::vector<data::FeatureColumn> features;
  const Schema schema{arms, features};
  const std::string where = "m";
  const PartReader reader(file, "model.", where, schema, find_line);
  EXPECT_FLOAT_EQ(mean_at_one(reader.predictors("list")), 2.5f);
  file.metadata["model.list"] = R"([{"kind":"curve","weight":1.0}])";
  EXPECT_THROW((void)reader.predictors("list"), core::Error);
  EXPECT_THROW((void)reader.text("none"), core::Error);
  EXPECT_THROW((void)reader.values<std::vector<double>>("list.0.factors"), core::Error);
}

}  // namespace
}  // namespace dfcl::learn
