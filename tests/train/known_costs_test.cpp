// SPDX-License-Identifier: Apache-2.0
//
// Costs that are facts: whatever the method, predicted cost is exact and nothing is learned of it.
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/train.h"
#include "small_trial.h"
#include "trained_model.h"

namespace dfcl::train {
namespace {

// The small trial with costs of this kind; under price_if one unit in three pays.
data::Trial trial_with(const data::CostFacts& facts, std::size_t num_units = 2000) {
  data::Trial trial = small_trial(num_units);
  trial.cost_facts = facts;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const double amount = facts.per_arm[trial.arm[unit]];
    const double paid = facts.kind == data::CostKind::rate       ? static_cast<double>(trial.revenue[unit])
                        : facts.kind == data::CostKind::price_if ? (unit % 3 == 0 ? 1.0 : 0.0)
                                                                 : 1.0;
    trial.cost[unit] = static_cast<float>(amount * paid);
  }
  core::RunContext context(1);
  trial.fingerprint = data::fingerprint_of(trial, context);
  return trial;
}

data::Study study_of(const std::string& method) {
  data::Study study = small_study(method);
  study.cost = {};
  study.forest.trees = 8;
  study.forest.leaf = 100;
  return study;
}

model::Model train_on(const data::Trial& trial, const data::Study& study) {
  core::RunContext context(2, 5);
  return train(trial, study, {}, context);
}

data::Prediction predictions_of(const model::Model& model, const data::Trial& trial) {
  core::RunContext context(2);
  return model::predict(model, trial.features, trial.ids, context);
}

const data::CostFacts kPrices{data::CostKind::price, {0.0, 0.15, 0.4}};
const data::CostFacts kRates{data::CostKind::rate, {0.0, 0.05, 0.1}};
const data::CostFacts kPricesIf{data::CostKind::price_if, {0.0, 1.5, 3.0}};

TEST(KnownCosts, APriceIsPredictedToTheLastBitByEveryMethod) {
  const data::Trial trial = trial_with(kPrices);
  for (const char* method : {"tsm", "dfcl-mer", "dfcl-ifd", "tsm-forest", "dpm", "auto"}) {
    const model::Model model = train_on(trial, study_of(method));
    EXPECT_EQ(model.cost_facts, kPrices) << method;
    const data::Prediction found = predictions_of(model, trial);
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      for (std::size_t arm = 0; arm < 3; ++arm)
        ASSERT_EQ(found.cost(unit, arm), static_cast<float>(kPrices.per_arm[arm])) << method;
    }
  }
}

TEST(KnownCosts, ARateIsOneOfPredictedRevenue) {
  const data::Trial trial = trial_with(kRates);
  for (const char* method : {"tsm", "dfcl-mer", "tsm-forest"}) {
    const data::Prediction found = predictions_of(train_on(trial, study_of(method)), trial);
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      for (std::size_t arm = 0; arm < 3; ++arm) {
        ASSERT_EQ(found.cost(unit, arm),
                  static_cast<float>(kRates.per_arm[arm] * static_cast<double>(found.revenue(unit, arm))))
            << method;
      }
    }
  }
}

TEST(KnownCosts, APriceThatIsPaidIfAnOutcomeHappensNeedsOnlyItsProbability) {
  const data::Trial trial = trial_with(kPricesIf, 4000);
  data::Study study = study_of("tsm");
  study.method.epochs = 20;
  for (const char* method : {"tsm", "dfcl-mer", "tsm-forest"}) {
    study.method.name = method;
    const model::Model model = train_on(trial, study);
    const data::Prediction found = predictions_of(model, trial);
    double sum = 0.0;
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      EXPECT_EQ(found.cost(unit, 0), 0.0f);
      EXPECT_GE(found.cost(unit, 2), 0.0f);
      EXPECT_LE(found.cost(unit, 2), 3.0f);
      sum += static_cast<double>(found.cost(unit, 2));
    }
    EXPECT_NEAR(sum / 4000.0, 1.0, 0.15) << method;
  }
}

TEST(KnownCosts, AFreeControlIsFreeWhereAnIndexLearnsCostsAllTheSame) {
  for (const data::CostFacts& facts : {kRates, kPricesIf}) {
    const data::Trial trial = trial_with(facts);
    const model::Model model = train_on(trial, study_of("dpm"));
    EXPECT_FALSE(model.cost_facts.is_known());
    const data::Prediction found = predictions_of(model, trial);
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) ASSERT_EQ(found.cost(unit, 0), 0.0f);
  }
}

// What a unit cost reaches nothing but the price.
TEST(KnownCosts, NothingIsLearnedOfThem) {
  data::Trial trial = trial_with(kPrices);
  const model::Model model = train_on(trial, study_of("tsm"));
  for (float& cost : trial.cost) cost += 100.0f;  // not what the prices say
  const model::Model other = train_on(trial, study_of("tsm"));
  const data::Prediction a = predictions_of(model, trial);
  const data::Prediction b = predictions_of(other, trial);
  for (std::size_t i = 0; i < 6000; ++i) ASSERT_EQ(a.revenue.data()[i], b.revenue.data()[i]);
}

TEST(KnownCosts, AModelKeepsThemInItsFile) {
  const model::Model model = train_on(trial_with(kPricesIf, 1000), study_of("tsm"));
  const std::string bytes = io::safetensors_bytes(model::tensor_file_of(model));
  EXPECT_EQ(model::model_of(io::parse_safetensors(bytes, "m"), "m").cost_facts, kPricesIf);
}

TEST(KnownCosts, TrainingGoesOnOnlyFromAModelThatKnowsTheSame) {
  const data::Trial trial = trial_with(kPrices, 1000);
  const model::Model start = train_on(trial, study_of("tsm"));
  core::RunContext context(2, 5);
  TrainOptions options;
  options.start = &start;
  EXPECT_NO_THROW((void)train(trial, study_of("tsm"), options, context));
  EXPECT_THROW((void)train(small_trial(1000), study_of("tsm"), options, context), core::Error);
}

}  // namespace
}  // namespace dfcl::train
