// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/predict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "sample_model.h"

namespace dfcl::model {
namespace {

data::Prediction predict_sample(const Model& model, const data::Features& features, int threads = 1) {
  core::RunContext context(threads);
  return predict(model, features, data::RowNumbers{1, features.num_units()}, context);
}

bool same(const core::Matrix<float>& a, const core::Matrix<float>& b) {
  return a.rows() == b.rows() && std::memcmp(a.data(), b.data(), a.rows() * a.cols() * sizeof(float)) == 0;
}

// A linear model of plain outcomes: every prediction can be worked out by hand.
nn::NetworkParts linear_parts() {
  nn::NetworkParts parts = sample_parts(1, false);
  parts.network.shared = {};
  parts.network.revenue = {.num_arms = 3};
  parts.network.cost = {.num_arms = 3};
  nn::OutcomeNetwork<float> network(parts.network);
  network.network().initialise(9);
  parts.members = {{network.network().parameters().begin(), network.network().parameters().end()}};
  parts.scales = {{5.0, 2.0}, {0.0, 0.5}};
  return parts;
}

// Raw output of a linear model in float64.
double raw_output(const nn::NetworkParts& parts, std::span<const float> inputs, std::size_t output) {
  const std::vector<float>& parameters = parts.members.front();
  double sum = static_cast<double>(parameters[6 * inputs.size() + output]);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sum += static_cast<double>(parameters[output * inputs.size() + i]) * static_cast<double>(inputs[i]);
  }
  return sum;
}

TEST(Predict, IsTheNetworkOfThePreprocessedFeaturesInTheStudysCurrency) {
  const nn::NetworkParts parts = linear_parts();
  const Model model = sample_model_of(parts);
  const data::Features features = sample_features(700, 8);
  const data::Prediction prediction = predict_sample(model, features);
  core::Matrix<float> inputs(700, parts.preprocessing.num_inputs());
  parts.preprocessing.apply(features.values.view(), inputs.view());
  EXPECT_EQ(prediction.arms, model.arms);
  for (std::size_t unit = 0; unit < 700; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_NEAR(prediction.revenue(unit, arm), 5.0 + 2.0 * raw_output(parts, inputs.row(unit), arm), 1e-4);
      EXPECT_NEAR(prediction.cost(unit, arm), 0.5 * raw_output(parts, inputs.row(unit), 3 + arm), 1e-4);
    }
  }
}

TEST(Predict, MakesAnIndexOfEfficiencies) {
  nn::NetworkParts parts = index_parts(linear_parts(), loss::RevenueForm::dpm_scores);
  parts.efficiency_cost_scale = 0.7;
  nn::OutcomeNetwork<float> network(parts.network);
  network.network().initialise(4);
  parts.members = {{network.network().parameters().begin(), network.network().parameters().end()}};
  const Model model = sample_model_of(parts);
  const data::Features features = sample_features(50, 8);
  const data::Prediction prediction = predict_sample(model, features);
  const float ratio_bound = static_cast<float>(2.0 * 0.7 * 2.0 / 0.5);  // 2 x cost scale, in the study's currencies
  for (std::size_t unit = 0; unit < 50; ++unit) {
    EXPECT_EQ(prediction.revenue(unit, 0), 5.0f);
    for (std::size_t arm = 0; arm + 1 < 3; ++arm) {
      const float ratio = (prediction.revenue(unit, arm + 1) - prediction.revenue(unit, arm)) /
                          (prediction.cost(unit, arm + 1) - prediction.cost(unit, arm));
      EXPECT_GT(ratio, 0.0f);
      EXPECT_LT(ratio, ratio_bound);
    }
  }
}

TEST(Predict, AveragesTheMembers) {
  const data::Features features = sample_features(300, 8);
  const nn::NetworkParts both = sample_parts(2);
  nn::NetworkParts first = both, second = both;
  first.members = {both.members[0]};
  second.members = {both.members[1]};
  const data::Prediction a = predict_sample(sample_model_of(first), features);
  const data::Prediction b = predict_sample(sample_model_of(second), features);
  const data::Prediction mean = predict_sample(sample_model_of(both), features);
  EXPECT_FALSE(same(a.revenue, b.revenue));
  for (std::size_t unit = 0; unit < 300; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      const float expected = 0.5f * (a.revenue(unit, arm) + b.revenue(unit, arm));
      EXPECT_NEAR(mean.revenue(unit, arm), expected, 1e-5f * (1.0f + std::abs(expected)));
    }
    EXPECT_EQ(mean.cost(unit, 0), 0.0f);  // control is free
  }
}

TEST(Predict, GivesAUnitTheSameNumbersInAnyBatchPlaceAndThread) {
  const Model model = sample_model(2);
  const data::Features features = sample_features(10'000, 8);
  const data::Prediction whole = predict_sample(model, features);
  for (const int threads : {2, 8}) {
    const data::Prediction again = predict_sample(model, features, threads);
    EXPECT_TRUE(same(again.revenue, whole.revenue));
    EXPECT_TRUE(same(again.cost, whole.cost));
  }
  core::RunContext context(1);
  for (const std::size_t batch : {1u, 3u, 255u, 257u, 4097u}) {
    core::Matrix<float> revenue(batch, 3), cost(batch, 3);
    for (std::size_t first = 0; first + batch <= 5000; first += 7 * batch) {
      predict(model, features.values.view().slice(first, batch), revenue.view(), cost.view(), context);
      ASSERT_EQ(std::memcmp(revenue.data(), whole.revenue.row(first).data(), batch * 3 * sizeof(float)), 0) << batch;
      ASSERT_EQ(std::memcmp(cost.data(), whole.cost.row(first).data(), batch * 3 * sizeof(float)), 0) << batch;
    }
  }
}

TEST(Predict, StreamsUnitsFromFilesWithUnseenLevelsAndMissingValues) {
  const io::TemporaryFolder folder;
  const Model model = sample_model(2);
  const data::Features features = sample_features(150'000, 8);
  std::string text = "city,shop,age,price\n";
  for (std::size_t unit = 0; unit < features.num_units(); ++unit) {
    const auto level = static_cast<std::size_t>(features.values(unit, 2));
    const float price = features.values(unit, 1);
    text += fmt::format("{},s{},{},{}\n", level == 0 ? "Paris" : model.features[2].levels[level], unit,
                        features.values(unit, 0), std::isnan(price) ? "" : fmt::format("{}", price));
  }
  const std::string path = folder.write("units.csv", text);
  const data::Prediction expected = predict_sample(model, features);
  for (const int threads : {1, 3}) {
    core::RunContext context(threads);
    io::UnitReader reader(path, unit_schema(model), context);
    std::size_t place = 0;
    predict_units(
        model, reader,
        [&](const data::Prediction& piece) {
          ASSERT_EQ(piece.ids.text(0), fmt::format("s{}", place));
          ASSERT_EQ(std::memcmp(piece.revenue.data(), expected.revenue.row(place).data(),
                                piece.num_units() * 3 * sizeof(float)),
                    0);
          ASSERT_EQ(
              std::memcmp(piece.cost.data(), expected.cost.row(place).data(), piece.num_units() * 3 * sizeof(float)),
              0);
          place += piece.num_units();
        },
        context);
    EXPECT_EQ(place, features.num_units());
  }
}

TEST(Predict, WeighsPredictorsThatAreNoEnsemble) {
  const data::Features features = sample_features(300, 8);
  nn::NetworkParts first = sample_parts(1), second = linear_parts();
  Model both = sample_model_of(first);
  both.predictors.push_back({std::make_shared<nn::NetworkPredictor>(second), 3.0});
  const data::Prediction a = predict_sample(sample_model_of(first), features);
  const data::Prediction b = predict_sample(sample_model_of(second), features);
  const data::Prediction mean = predict_sample(both, features);
  for (std::size_t unit = 0; unit < 300; ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm)
      EXPECT_NEAR(mean.revenue(unit, arm), 0.25f * a.revenue(unit, arm) + 0.75f * b.revenue(unit, arm),
                  1e-5f * (1.0f + std::abs(mean.revenue(unit, arm))));
  }
  both.predictors.resize(1);
  both.predictors[0].weight = 0.4;  // of one, the weight says nothing
  EXPECT_TRUE(same(predict_sample(both, features).revenue, a.revenue));
}

TEST(Predict, RefusesFeaturesOfOtherColumns) {
  data::Features features = sample_features(10, 8);
  features.columns[0].name = "size";
  EXPECT_THROW(predict_sample(sample_model(), features), core::Error);
}

}  // namespace
}  // namespace dfcl::model
