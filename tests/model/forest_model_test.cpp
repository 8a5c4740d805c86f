// SPDX-License-Identifier: Apache-2.0
//
// Models with a forest: the file, and prediction.
#include <gtest/gtest.h>

#include <functional>

#include "dfcl/core/error.h"
#include "dfcl/forest/predict.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "sample_model.h"

namespace dfcl::model {
namespace {

bool is_refused(const io::TensorFile& file) {
  try {
    (void)model_of(file, "m.safetensors");
    return false;
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::file) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return true;
  }
}

TEST(ForestModel, ReadsBackEveryPartAndWritesTheSameBytes) {
  const Model model = sample_forest_model();
  ASSERT_GT(forest_predictor_of(model).forest().sets.size(), 1u) << "else no category was split on";
  const io::TensorFile file = tensor_file_of(model);
  const std::string bytes = io::safetensors_bytes(file);
  const Model read = model_of(io::parse_safetensors(bytes, "model"), "model");
  EXPECT_EQ(forest_predictor_of(read).forest(), forest_predictor_of(model).forest());
  EXPECT_EQ(forest_predictor_of(read).facts(), forest_predictor_of(model).facts());
  EXPECT_TRUE(io::safetensors_bytes(tensor_file_of(read)) == bytes);
  EXPECT_NE(fingerprint_of(read), fingerprint_of(sample_model(2, false)));
}

TEST(ForestModel, IsRefusedWhenCutAnywhere) {
  const std::string bytes = io::safetensors_bytes(tensor_file_of(sample_forest_model(1)));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW((void)model_of(io::parse_safetensors(std::string_view(bytes).substr(0, length), "model"), "model"),
                 core::Error)
        << "cut at " << length;
  }
}

TEST(ForestModel, IsRefusedWithoutAnyOfItsTensorsOrWithOneOfAnotherSizeOrType) {
  const io::TensorFile good = tensor_file_of(sample_forest_model(2));
  std::size_t tried = 0;
  for (std::size_t i = 0; i < good.tensors.size(); ++i) {
    const std::string& name = good.tensors[i].name;
    if (!name.starts_with("predictors.0.") || name.starts_with("predictors.0.base")) continue;
    ++tried;
    io::TensorFile without = good;
    without.tensors.erase(without.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(is_refused(without)) << good.tensors[i].name;
    io::TensorFile longer = good;
    std::visit([](auto& values) { values.push_back({}); }, longer.tensors[i].values);
    longer.tensors[i].shape = {std::visit([](const auto& values) { return values.size(); }, longer.tensors[i].values)};
    EXPECT_TRUE(is_refused(longer)) << good.tensors[i].name;
    io::TensorFile other = good;
    other.tensors[i].shape = {1};
    other.tensors[i].values = std::vector<double>{0.5};
    EXPECT_TRUE(is_refused(other)) << good.tensors[i].name;
  }
  EXPECT_GE(tried, 10u);
}

// Whatever the bytes of a node say, the file is refused or the model predicts: no walk leaves the arrays or runs on.
TEST(ForestModel, NeverWalksAstray) {
  const io::TensorFile good = tensor_file_of(sample_forest_model(2));
  const data::Features features = sample_features(20);
  core::RunContext context(1);
  std::size_t place = 0;
  while (good.tensors[place].name != "predictors.0.nodes") ++place;
  const std::size_t size = std::get<std::vector<std::uint8_t>>(good.tensors[place].values).size();
  for (std::size_t byte = 0; byte < size; ++byte) {
    for (const std::uint8_t change : std::vector<std::uint8_t>{1, 128, 255}) {
      io::TensorFile file = good;
      std::get<std::vector<std::uint8_t>>(file.tensors[place].values)[byte] ^= change;
      if (is_refused(file)) continue;
      EXPECT_NO_THROW((void)predict(model_of(file, "m"), features, data::Ids{}, context));
    }
  }
}

TEST(ForestModel, IsRefusedWhereItDoesNotFitTheRest) {
  const Model good = sample_forest_model(2);
  const auto refused = [&](const std::function<void(forest::Forest&, learn::Facts&)>& change) {
    Model model = good;
    forest::Forest changed = forest_predictor_of(good).forest();
    learn::Facts facts = forest_predictor_of(good).facts();
    change(changed, facts);
    model.predictors[0].predictor =
        std::make_shared<forest::ForestPredictor>(std::move(changed), facts, forest_predictor_of(good).base());
    EXPECT_THROW(require_consistent(model, "m"), core::Error);
  };
  refused([](forest::Forest& forest, learn::Facts&) { forest.num_arms = 2; });
  refused([](forest::Forest& forest, learn::Facts&) { forest.bins.pop_back(); });
  refused([](forest::Forest& forest, learn::Facts&) { forest.control = 1; });
  refused([](forest::Forest&, learn::Facts& facts) { facts.cost.num_arms = 4; });
  Model model = good;
  model.features[2].levels.push_back("Zug");
  EXPECT_THROW(require_consistent(model, "m"), core::Error);
}

TEST(ForestModel, PredictsTheForestsArmsOnTheNetworksBase) {
  const Model model = sample_forest_model();
  Model network = model;
  network.predictors = forest_predictor_of(model).base();
  const data::Features features = sample_features(700, 9);
  core::RunContext one(1), four(4);
  const data::Prediction plain = predict(network, features, data::Ids{}, one);
  const data::Prediction found = predict(model, features, data::Ids{}, one);
  const data::Prediction again = predict(model, features, data::Ids{}, four);
  EXPECT_TRUE(std::equal(found.revenue.data(), found.revenue.data() + 2100, again.revenue.data()));
  std::vector<float> base_revenue, base_cost;
  for (std::size_t unit = 0; unit < 700; ++unit) {
    base_revenue.push_back(forest::base_of(plain.revenue.row(unit)));
    base_cost.push_back(forest::base_of(plain.cost.row(unit)));
  }
  core::Matrix<float> revenue(700, 3), cost(700, 3);
  forest::ForestRunner(forest_predictor_of(model).forest(), {.least = 0.0},
                       {.rises = true, .least = 0.0, .control_is_free = true})
      .predict({.features = features.values.view(), .base_revenue = base_revenue, .base_cost = base_cost},
               revenue.view(), cost.view(), one);
  for (std::size_t unit = 0; unit < 700; ++unit) {
    EXPECT_EQ(found.cost(unit, 0), 0.0f);
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_EQ(found.revenue(unit, arm), revenue(unit, arm));
      EXPECT_EQ(found.cost(unit, arm), cost(unit, arm));
    }
  }
}

TEST(ForestModel, AloneKnowsStandardErrors) {
  const Model model = sample_forest_model();
  const data::Features features = sample_features(50);
  core::RunContext context(1);
  core::Matrix<float> revenue(50, 3), cost(50, 3);
  predict(model, features.values.view(), revenue.view(), cost.view(), context, Figure::standard_errors);
  for (std::size_t unit = 0; unit < 50; ++unit) {
    EXPECT_EQ(revenue(unit, 0), 0.0f);
    EXPECT_GT(revenue(unit, 2), 0.0f);
  }
  const Model network = sample_model();
  EXPECT_THROW(require_figure(network, Figure::standard_errors), core::Error);
  EXPECT_NO_THROW(require_figure(model, Figure::standard_errors));
}

}  // namespace
}  // namespace dfcl::model
