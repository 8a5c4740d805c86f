// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/train.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

constexpr std::size_t kParts = 4;  // three shards, and the units that judge them

// Every kParts-th unit of a trial.
data::Trial part_of(const data::Trial& whole, std::size_t part) {
  data::Trial trial;
  trial.arms = whole.arms;
  trial.features.columns = whole.features.columns;
  trial.features.values = core::Matrix<float>(0, whole.features.num_features());
  std::vector<std::int64_t> ids;
  for (std::size_t unit = part; unit < whole.num_units(); unit += kParts) {
    trial.features.values.resize(ids.size() + 1);
    std::ranges::copy(whole.features.values.row(unit), trial.features.values.row(ids.size()).begin());
    ids.push_back(static_cast<std::int64_t>(unit));
    trial.arm.push_back(whole.arm[unit]);
    trial.revenue.push_back(whole.revenue[unit]);
    trial.cost.push_back(whole.cost[unit]);
    trial.split.push_back(whole.split[unit]);
  }
  trial.ids = data::Ids::of_rows(ids);
  core::RunContext context(1);
  trial.fingerprint = data::fingerprint_of(trial, context);
  return trial;
}

struct Sharded {
  data::Trial judging;
  data::Study study = small_study("tsm-boost");
  std::vector<model::Model> shards;
};

Sharded fitted() {
  Sharded result;
  result.study.boost.trees = 30;
  result.study.boost.min_leaf = 50;
  const data::Trial whole = small_trial(8000);
  for (std::size_t part = 0; part + 1 < kParts; ++part) {
    core::RunContext context(2, 5);
    result.shards.push_back(train(part_of(whole, part), result.study, {}, context));
  }
  result.judging = part_of(whole, kParts - 1);
  return result;
}

model::Model stacked(const Sharded& sharded, int threads) {
  core::RunContext context(threads, 5);
  return stack_shards(sharded.judging, sharded.study, sharded.shards, "", context);
}

TEST(Shards, MakeOneModelThatIsKeptInAFileAndTheSameForAnyThreads) {
  const Sharded sharded = fitted();
  const model::Model model = stacked(sharded, 1);
  const std::string bytes = io::safetensors_bytes(model::tensor_file_of(model));
  EXPECT_EQ(bytes, io::safetensors_bytes(model::tensor_file_of(stacked(sharded, 3))));
  (void)model::model_of(io::parse_safetensors(bytes, "test"), "test");
  EXPECT_FALSE(model.stack);  // as one fit: nothing is mixed in
  EXPECT_FALSE(model.mean_effect);
  EXPECT_FALSE(model.calibration);  // by so few units
  ASSERT_EQ(model.predictors.size(), 3u);
  for (const auto& shard : model.predictors) EXPECT_EQ(shard.weight, 1.0);
  ASSERT_TRUE(model.held_out);
  EXPECT_LT(model.held_out->revenue.loss, model.held_out->revenue.loss_of_means);
  // Units of every shard, and those that judge, were seen: three fifths of them train.
  EXPECT_EQ(model.trained.num_units, 4800u);
}

TEST(Shards, PredictTheMeanOfTheirModels) {
  Sharded sharded = fitted();
  const std::size_t num_arms = sharded.judging.arms.size();
  learn::Calibration& calibration = sharded.shards[0].calibration.emplace();
  calibration.num_units = 100;
  calibration.revenue.form = {loss::OutcomeKind::real, false};
  calibration.revenue.shift.assign(num_arms, 0.25);
  calibration.revenue.center.assign(num_arms, 0.5);
  calibration.revenue.slope = 0.5;
  learn::MeanEffect& mean_effect = sharded.shards[1].mean_effect.emplace();
  mean_effect.weight = 0.25;
  mean_effect.revenue = {{loss::OutcomeKind::real, false}, std::vector<double>(num_arms, 1.0)};
  mean_effect.revenue.effect[sharded.judging.arms.control] = 0.0;
  core::RunContext context(2);
  const auto predicted = [&](const model::Model& model) {
    std::pair<core::Matrix<float>, core::Matrix<float>> out{core::Matrix<float>(500, model.arms.size()),
                                                            core::Matrix<float>(500, model.arms.size())};
    model::predict(model, sharded.judging.features.values.view().slice(0, 500), out.first.view(), out.second.view(),
                   context);
    return out;
  };
  const model::Model model = stacked(sharded, 1);
  const std::string bytes = io::safetensors_bytes(model::tensor_file_of(model));
  const auto mean = predicted(model::model_of(io::parse_safetensors(bytes, "test"), "test"));
  std::vector<double> revenue(500 * model.arms.size());
  for (const model::Model& shard : sharded.shards) {
    const auto own = predicted(shard);
    for (std::size_t i = 0; i < 500 * model.arms.size(); ++i)
      revenue[i] += static_cast<double>(own.first.data()[i]) / 3.0;
  }
  for (std::size_t i = 0; i < 500 * model.arms.size(); ++i)
    EXPECT_NEAR(static_cast<double>(mean.first.data()[i]), revenue[i], 1e-5 * (1.0 + std::abs(revenue[i])));
}

TEST(Shards, OfOtherArmsOrFeaturesAreRefused) {
  Sharded sharded = fitted();
  sharded.shards[1].arms.labels[1] = "one";
  EXPECT_THROW(stacked(sharded, 1), core::Error);
  sharded.shards[1] = sharded.shards[0];
  sharded.shards[1].features[2].levels.pop_back();
  EXPECT_THROW(stacked(sharded, 1), core::Error);
  sharded.shards.clear();
  EXPECT_THROW(stacked(sharded, 1), core::Error);
}

TEST(RecodedLevels, MeanTheSameAndUnknownOnesArePooled) {
  data::Trial trial = small_trial(500);
  const data::Trial before = small_trial(500);
  std::vector<data::FeatureColumn> features = trial.features.columns;
  features[2].levels = {data::kPooledLevel, "0", "b"};
  recode_levels(features, trial);
  EXPECT_EQ(trial.features.columns, features);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)
    EXPECT_EQ(trial.features.values(unit, 2), before.features.values(unit, 2) == 2.0f ? 2.0f : 0.0f);
  features.pop_back();
  EXPECT_THROW(recode_levels(features, trial), core::Error);
}

}  // namespace
}  // namespace dfcl::train
