// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/network_engine.h"

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
  Trainer trainer(const learn::Stage& stage) {
    return Trainer(set, objective, stage, std::make_unique<NetworkEngine>(set, objective, preprocessing, network),
                   steps, std::nullopt, 5, context);
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
  Trainer trainer = fit.trainer(stage);
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
    Trainer trainer = fit.trainer(stage);
    trainer.run_epoch();
    return trainer.state().parameters;
  };
  EXPECT_EQ(one_epoch_from(0), one_epoch_from(0));
  EXPECT_NE(one_epoch_from(0), one_epoch_from(1));
}

TEST(NetworkTrainer, GoesOnFromASavedStateAsIfItHadNeverStopped) {
  SmallFit fit;
  const learn::Stage stage{.epochs = 4};
  Trainer whole = fit.trainer(stage);
  for (int epoch = 0; epoch < 4; ++epoch) whole.run_epoch();
  Trainer first = fit.trainer(stage);
  first.run_epoch();
  const io::TensorFile kept = io::parse_safetensors(io::safetensors_bytes(state_file(first.state())), "state");
  Trainer second = fit.trainer(stage);
  second.state() = state_of(kept, first.state().parameters.size(), "state");
  for (int epoch = 1; epoch < 4; ++epoch) second.run_epoch();
  EXPECT_EQ(second.state().parameters, whole.state().parameters);
  EXPECT_EQ(second.state().record.size(), 4u);
}

// Whose one parameter counts the epochs, and whose predictions are best after three.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(const learn::TrainingSet& set) : set_(set) {}
  std::vector<float> initial_parameters(std::uint64_t) override { return {0.0f}; }
  EpochLosses run_epoch(const EpochPlan& plan, EngineState& state, core::RunContext&) override {
    rows_seen = plan.rows.size();
    state.parameters[0] += 1.0f;
    if (state.parameters[0] == fails_in) return {{std::nan("")}, true, 1.0};
    return {{1.0}};
  }
  learn::Predicted predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                           core::RunContext&) override {
    learn::Predicted predicted{core::Matrix<float>(rows.size(), 2), core::Matrix<float>(rows.size(), 2)};
    const float error = std::abs(parameters[0] - 3.0f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t arm = 0; arm < 2; ++arm) {
        predicted.revenue(i, arm) = set_.scaled_revenue[rows[i]] + error;
        predicted.cost(i, arm) = set_.scaled_cost[rows[i]] + error;
      }
    }
    return predicted;
  }

  float fails_in = -1.0f;
  std::size_t rows_seen = 0;

 private:
  const learn::TrainingSet& set_;
};

TEST(Trainer, StopsAfterItsPatienceAndKeepsTheBestEpoch) {
  SmallFit fit;
  std::size_t saved = 0;
  std::size_t advanced = 0;
  const learn::Stage stage{.epochs = 20,
                           .save = [&](const io::TensorFile&) { ++saved; },
                           .advanced = [&](std::size_t rows) { advanced += rows; }};
  Trainer trainer(fit.set, fit.objective, stage, std::make_unique<CountingEngine>(fit.set), fit.steps, Stopping{4}, 5,
                  fit.context);
  EXPECT_EQ(trainer.run(), std::vector<float>{3.0f});
  const auto& record = trainer.state().record;
  ASSERT_EQ(record.size(), 7u) << "three epochs and the patience";
  for (const learn::EpochRecord& epoch : record) EXPECT_EQ(epoch.kept, epoch.epoch == 3);
  EXPECT_EQ(saved, 7u);
  EXPECT_EQ(advanced, 20 * fit.set.rows.size()) << "with the epochs that were not needed";
}

TEST(Trainer, RunsEveryEpochOfAFitForDecisionsOrWithoutStopping) {
  SmallFit fit;
  const learn::Stage stage{.epochs = 9};
  const auto kept = [&](std::optional<Stopping> stopping) {
    return Trainer(fit.set, fit.objective, stage, std::make_unique<CountingEngine>(fit.set), fit.steps, stopping, 5,
                   fit.context)
        .run();
  };
  EXPECT_EQ(kept(std::nullopt), std::vector<float>{9.0f});
  EXPECT_EQ(kept(Stopping{0}), std::vector<float>{9.0f});
  EXPECT_EQ(kept(Stopping{4}), std::vector<float>{3.0f});
  fit.objective.decides = true;
  EXPECT_EQ(kept(Stopping{4}), std::vector<float>{9.0f});
}

TEST(Trainer, HoldsUnitsOutWhereThereAreNoneToValidateOn) {
  SmallFit fit;
  std::vector<std::uint32_t> rows;
  for (int copy = 0; copy < 4; ++copy) rows.insert(rows.end(), fit.rows.begin(), fit.rows.end());
  fit.set.rows = rows;
  fit.set.validation_rows = {};
  const learn::Stage stage{.epochs = 20};
  auto engine = std::make_unique<CountingEngine>(fit.set);
  CountingEngine& seen = *engine;
  Trainer trainer(fit.set, fit.objective, stage, std::move(engine), fit.steps, Stopping{4}, 5, fit.context);
  EXPECT_EQ(trainer.run(), std::vector<float>{3.0f});
  EXPECT_LT(seen.rows_seen, rows.size());
  EXPECT_GT(seen.rows_seen, rows.size() * 3 / 4);
}

TEST(Trainer, SaysInWhichEpochTrainingBrokeDown) {
  SmallFit fit;
  const learn::Stage stage{.first_epoch = 10, .epochs = 5};
  auto engine = std::make_unique<CountingEngine>(fit.set);
  engine->fails_in = 2.0f;
  Trainer trainer(fit.set, fit.objective, stage, std::move(engine), fit.steps, std::nullopt, 5, fit.context);
  try {
    (void)trainer.run();
    FAIL() << "it went on";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("in epoch 12"), std::string::npos) << error.what();
  }
}

TEST(Trainer, RefusesTheStateOfAFitOfAnotherKind) {
  SmallFit fit;
  TrainerState state;
  state.parameters = {1.0f};
  state.adam = AdamState<float>(1);
  const auto run = [&](const TrainerState& kept, std::optional<Stopping> stopping) {
    const learn::Stage stage{.epochs = 2, .load = [&] { return std::optional(state_file(kept)); }};
    return Trainer(fit.set, fit.objective, stage, std::make_unique<CountingEngine>(fit.set), fit.steps, stopping, 5,
                   fit.context)
        .run();
  };
  EXPECT_EQ(run(state, std::nullopt), std::vector<float>{3.0f});
  EXPECT_THROW((void)run(state, Stopping{4}), core::Error);
  state.best.emplace();
  EXPECT_EQ(run(state, Stopping{4}), std::vector<float>{3.0f});
  EXPECT_THROW((void)run(state, std::nullopt), core::Error);
}

TEST(TrainerState, KeepsTheBestEpoch) {
  TrainerState state;
  state.epochs_done = 3;
  state.parameters = {1.0f, -2.5f};
  state.adam = AdamState<float>(2);
  state.best = {2, {0.5f, 0.25f}, 0.125};
  const TrainerState read = state_of(state_file(state), 2, "state");
  ASSERT_TRUE(read.best.has_value());
  EXPECT_EQ(read.best->epoch, 2u);
  EXPECT_EQ(read.best->parameters, state.best->parameters);
  EXPECT_EQ(read.best->loss, 0.125);
  state.best->epoch = 4;
  EXPECT_THROW((void)state_of(state_file(state), 2, "state"), core::Error) << "an epoch that was not run";
  state.best = {2, {0.5f}, 0.125};
  EXPECT_THROW((void)state_of(state_file(state), 2, "state"), core::Error) << "of another network";
}

TEST(TrainerState, IsReadAsItWasWritten) {
  TrainerState state;
  state.epochs_done = 3;
  state.parameters = {1.0f, -2.5f, 0.1f};
  state.adam.mean = {0.5f, 0.25f, 0.125f};
  state.adam.mean_square = {1e-20f, 2e-20f, 3e-20f};
  state.adam.step = 4'000'000'000'000;
  learn::EpochRecord record;
  record.epoch = 3;
  record.validation_value = 12.5;
  record.went_back = true;
  state.record = {record};
  const TrainerState read = state_of(state_file(state), 3, "state");
  EXPECT_EQ(read.epochs_done, 3u);
  EXPECT_EQ(read.parameters, state.parameters);
  EXPECT_EQ(read.adam.mean, state.adam.mean);
  EXPECT_EQ(read.adam.mean_square, state.adam.mean_square);
  EXPECT_EQ(read.adam.step, state.adam.step);
  ASSERT_EQ(read.record.size(), 1u);
  EXPECT_EQ(read.record[0].validation_value, 12.5);
  EXPECT_TRUE(read.record[0].went_back);
  EXPECT_THROW((void)state_of(state_file(state), 4, "state"), core::Error) << "of another network";
  EXPECT_THROW((void)state_of({}, 3, "state"), core::Error);
}

}  // namespace
}  // namespace dfcl::nn
