// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/train.h"
#include "small_trial.h"
#include "trained_model.h"

namespace dfcl::train {
namespace {

data::Study forest_study() {
  data::Study study = small_study("tsm-forest");
  study.forest.trees = 40;
  study.forest.leaf = 100;
  study.forest.min_leaf_per_arm = 6;
  return study;
}

model::Model grow(const data::Trial& trial, const data::Study& study, int threads = 2, const std::string& folder = "") {
  core::RunContext context(threads, 5);
  TrainOptions options;
  options.checkpoint_folder = folder;
  return train(trial, study, options, context);
}

std::string bytes_of(const model::Model& model) { return io::safetensors_bytes(model::tensor_file_of(model)); }

TEST(ForestMethod, FindsTheLiftAndKeepsTheFactsAboutCosts) {
  const data::Trial trial = small_trial(6000);
  data::Study study = forest_study();
  const model::Model model = grow(trial, study);
  ASSERT_EQ(forest_of(model).base().size(), 2u) << "each of half of the units";
  for (const learn::WeightedPredictor& part : forest_of(model).base()) EXPECT_STREQ(part.predictor->kind(), "boost");
  EXPECT_EQ(model.multipliers.size(), 2u);
  core::RunContext context(2);
  const data::Prediction found = model::predict(model, trial.features, trial.ids, context);
  double lift_low = 0.0, lift_high = 0.0, num_low = 0.0, num_high = 0.0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_EQ(found.cost(unit, 0), 0.0f);
    EXPECT_LE(found.cost(unit, 1), found.cost(unit, 2));
    const float taste = trial.features.values(unit, 1);
    const double lift = std::log(static_cast<double>(found.revenue(unit, 2) / found.revenue(unit, 0)));
    if (taste > 0.7f) lift_high += lift, num_high += 1.0;
    if (taste < -0.7f) lift_low += lift, num_low += 1.0;
  }
  // The truth is 2 x (0.15 + 0.1 tanh(taste) + 0.033): 0.52 and 0.21 on average.
  EXPECT_GT(lift_high / num_high, lift_low / num_low + 0.1);
  EXPECT_GT(lift_high / num_high, 0.3);
  EXPECT_LT(lift_high / num_high, 0.7);
}

TEST(ForestMethod, GivesTheSameModelForAnyNumberOfThreadsAndWhenResumed) {
  const data::Trial trial = small_trial();
  const model::Model model = grow(trial, forest_study(), 1);
  EXPECT_TRUE(bytes_of(model) == bytes_of(grow(trial, forest_study(), 4)));
  const io::TemporaryFolder folder;
  EXPECT_TRUE(bytes_of(model) == bytes_of(grow(trial, forest_study(), 2, folder.file("c"))));
  EXPECT_TRUE(bytes_of(model) == bytes_of(grow(trial, forest_study(), 2, folder.file("c")))) << "from the checkpoint";
}

TEST(ForestMethod, UsesTheLinkThatTheOutcomeAsksFor) {
  data::Trial trial = small_trial();
  EXPECT_EQ(forest_of(grow(trial, forest_study())).forest().revenue_link, forest::Link::ratio);
  data::Study study = forest_study();
  study.method.as_published = true;
  EXPECT_EQ(forest_of(grow(trial, study)).forest().revenue_link, forest::Link::difference);
  trial.revenue[0] = -1.0f;
  EXPECT_EQ(forest_of(grow(trial, forest_study())).forest().revenue_link, forest::Link::difference);
  EXPECT_EQ(forest_of(grow(trial, forest_study())).forest().cost_link, forest::Link::ratio);
}

TEST(ForestMethod, RisesWithTheArmWhereAskedTo) {
  const data::Trial trial = small_trial();
  data::Study study = forest_study();
  study.method.monotone = {"revenue"};
  const model::Model model = grow(trial, study);
  core::RunContext context(2);
  const data::Prediction found = model::predict(model, trial.features, trial.ids, context);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_LE(found.revenue(unit, 0), found.revenue(unit, 1));
    EXPECT_LE(found.revenue(unit, 1), found.revenue(unit, 2));
  }
}

void expect_usage(const data::Study& study, const char* part) {
  try {
    (void)grow(small_trial(), study);
    FAIL() << "no error about " << part;
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(ForestMethod, RefusesWrongSettingsBeforeAnyTraining) {
  data::Study study = forest_study();
  study.forest.trees = 0;
  expect_usage(study, "[forest] trees");
  study = forest_study();
  study.forest.leaf = 100'000;
  expect_usage(study, "[forest] leaf");
  study = forest_study();
  study.forest.depth = -1;
  expect_usage(study, "[forest] depth");
  study = forest_study();
  study.forest.subsample = 0.9;
  expect_usage(study, "[forest] subsample");
}

}  // namespace
}  // namespace dfcl::train
