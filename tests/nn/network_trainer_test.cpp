// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/network_trainer.h"

#include <gtest/gtest.h>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/prediction_loss.h"

namespace dfcl::nn {
namespace {

// Twenty dozen units of two features and two arms, and a network for them.
struct SmallFit {
  SmallFit() {
    features.columns = {{"a", false, {}}, {"b", false, {}}};
    features.values = core::Matrix<float>(kUnits, 2);
    arms.labels = {"0", "1"};
    for (std::uint32_t unit = 0; unit < kUnits; ++unit) {
      core::RandomStream random(7, core::stream_purpose("network trainer test"), unit);
      features.values(unit, 0) = static_cast<float>(random.normal());
      features.values(unit, 1) = static_cast<float>(random.normal());
      arm.push_back(static_cast<std::uint8_t>(random.below(2)));
      revenue.push_back(features.values(unit, 0) + static_cast<float>(arm.back()));
      cost.push_back(static_cast<float>(arm.back()));
      (unit % 4 == 0 ? validation : rows).push_back(unit);
    }
    weight.assign(kUnits, 2.0f);
    training.assign(kUnits, 1);
    objective.add(std::make_unique<loss::PredictionLoss<float>>(loss::PredictionOptions{}), 1.0, 1.0);
    objective.received_arm_only = true;
    preprocessing = fit_preprocessing(features.columns, features.values.view(), training, Scaling::standard, context);
    network.inputs = preprocessing.num_inputs();
    network.shared = {8};
    set = {.features = &features,
           .arms = &arms,
           .arm = arm,
           .revenue = revenue,
           .cost = cost,
           .scaled_revenue = revenue,
           .scaled_cost = cost,
           .weight = weight,
           .is_training = training,
           .rows = rows,
           .validation_rows = validation};
  }
  NetworkTrainer trainer(const learn::Stage& stage) {
    return NetworkTrainer(set, objective, stage, preprocessing, network, steps, 5, context);
  }

  static constexpr std::uint32_t kUnits = 240;
  data::Features features;
  data::Arms arms;
  std::vector<std::uint8_t> arm, training;
  std::vector<float> revenue, cost, weight;
  std::vector<std::uint32_t> rows, validation;
  learn::Objective objective;
  Preprocessing preprocessing;
  OutcomeNetworkOptions network;
  learn::Steps steps{.batch = 32, .rate = 1e-2};
  learn::TrainingSet set;
  core::RunContext context{2, 5};
};

TEST(NetworkTrainer, LowersTheLossOfTrainingAndValidationUnits) {
  SmallFit fit;
  const learn::Stage stage{.epochs = 30};
  NetworkTrainer trainer = fit.trainer(stage);
  for (std::size_t epoch = 0; epoch < 30; ++epoch) trainer.run_epoch();
  const auto& record = trainer.state().record;
  ASSERT_EQ(record.size(), 30u);
  EXPECT_LT(record.back().prediction_loss, 0.5 * record.front().prediction_loss);
  EXPECT_LT(*record.back().validation_loss, 0.5 * *record.front().validation_loss);
}

TEST(NetworkTrainer, EpochsSeeTheUnitsInDifferentOrders) {
  SmallFit fit;
  const auto one_epoch_from = [&](std::size_t first_epoch) {  // from the same start
    const learn::Stage stage{.first_epoch = first_epoch, .epochs = 2};
    NetworkTrainer trainer = fit.trainer(stage);
    trainer.run_epoch();
    return trainer.state().parameters;
  };
  EXPECT_EQ(one_epoch_from(0), one_epoch_from(0));
  EXPECT_NE(one_epoch_from(0), one_epoch_from(1));
}

TEST(NetworkTrainer, GoesOnFromASavedStateAsIfItHadNeverStopped) {
  SmallFit fit;
  const learn::Stage stage{.epochs = 4};
  NetworkTrainer whole = fit.trainer(stage);
  for (int epoch = 0; epoch < 4; ++epoch) whole.run_epoch();
  NetworkTrainer first = fit.trainer(stage);
  first.run_epoch();
  const io::TensorFile kept = io::parse_safetensors(io::safetensors_bytes(state_file(first.state())), "state");
  NetworkTrainer second = fit.trainer(stage);
  second.state() = state_of(kept, first.state().parameters.size(), "state");
  for (int epoch = 1; epoch < 4; ++epoch) second.run_epoch();
  EXPECT_EQ(second.state().parameters, whole.state().parameters);
  EXPECT_EQ(second.state().record.size(), 4u);
}

TEST(TrainerState, IsReadAsItWasWritten) {
  TrainerState state;
  state.epochs_done = 3;
  state.parameters = {1.0f, -2.5f, 0.1f};
  state.adam_mean = {0.5f, 0.25f, 0.125f};
  state.adam_mean_square = {1e-20f, 2e-20f, 3e-20f};
  state.adam_step = 4'000'000'000'000;
  learn::EpochRecord record;
  record.epoch = 3;
  record.validation_value = 12.5;
  record.went_back = true;
  state.record = {record};
  const TrainerState read = state_of(state_file(state), 3, "state");
  EXPECT_EQ(read.epochs_done, 3u);
  EXPECT_EQ(read.parameters, state.parameters);
  EXPECT_EQ(read.adam_mean, state.adam_mean);
  EXPECT_EQ(read.adam_mean_square, state.adam_mean_square);
  EXPECT_EQ(read.adam_step, state.adam_step);
  ASSERT_EQ(read.record.size(), 1u);
  EXPECT_EQ(read.record[0].validation_value, 12.5);
  EXPECT_TRUE(read.record[0].went_back);
  EXPECT_THROW((void)state_of(state_file(state), 4, "state"), core::Error) << "of another network";
  EXPECT_THROW((void)state_of({}, 3, "state"), core::Error);
}

}  // namespace
}  // namespace dfcl::nn
