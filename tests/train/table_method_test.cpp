// SPDX-License-Identifier: Apache-2.0
//
// Every method of networks on the network for tables, which is its default.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/nn/table/table_predictor.h"
#include "dfcl/train/methods.h"
#include "dfcl/train/train.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

data::Study table_study(const std::string& method) {
  data::Study study = small_study(method);
  study.network.hidden = {};
  study.network.members = 2;
  study.network.bins = 4;
  study.method.epochs = 3;
  return study;
}

model::Model train_table(const data::Trial& trial, const data::Study& study, int threads = 2,
                         const std::string& folder = "", const model::Model* start = nullptr) {
  core::RunContext context(threads, 5);
  TrainOptions options;
  options.checkpoint_folder = folder;
  options.start = start;
  return train(trial, study, options, context);
}

std::string bytes_of(const model::Model& model) { return io::safetensors_bytes(model::tensor_file_of(model)); }

const nn::TableParts& table_parts_of(const model::Model& model) {
  return dynamic_cast<const nn::TablePredictor&>(*model.predictors.at(0).predictor).parts();
}

std::vector<learn::EpochRecord> record_of(const model::Model& model) {
  return learn::parse_record(model.record, "test");
}

std::string complaint(const data::Trial& trial, const data::Study& study, const model::Model* start = nullptr) {
  try {
    (void)train_table(trial, study, 1, "", start);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "accepted";
}

class EveryNetworkMethod : public testing::TestWithParam<const Method*> {};

TEST_P(EveryNetworkMethod, TrainsTheSameBytesOnAnyNumberOfThreadsAndComesBackFromItsFile) {
  const Method& method = *GetParam();
  const data::Trial trial = small_trial(900, method.two_arms_only ? 2 : 3);
  const data::Study study = table_study(method.name);
  const model::Model model = train_table(trial, study, 1);
  model::require_consistent(model, method.name);
  EXPECT_EQ(table_parts_of(model).options.members, 2u);
  EXPECT_EQ(bytes_of(model), bytes_of(train_table(trial, study, 2)));
  EXPECT_EQ(bytes_of(model), bytes_of(train_table(trial, study, 8)));
  const model::Model read = model::model_of(io::parse_safetensors(bytes_of(model), "test"), "test");
  EXPECT_EQ(bytes_of(read), bytes_of(model));
  core::RunContext context(2);
  const data::Prediction before = model::predict(model, trial.features, trial.ids, context);
  const data::Prediction after = model::predict(read, trial.features, trial.ids, context);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_EQ(before.cost(unit, 0), 0.0f);
    for (std::size_t arm = 0; arm < trial.arms.size(); ++arm) {
      ASSERT_TRUE(std::isfinite(before.revenue(unit, arm)));
      EXPECT_EQ(before.revenue(unit, arm), after.revenue(unit, arm));
      EXPECT_EQ(before.cost(unit, arm), after.cost(unit, arm));
      if (arm > 0) {
        EXPECT_GE(before.cost(unit, arm), before.cost(unit, arm - 1));
      }
    }
  }
}

std::vector<const Method*> network_methods() {
  std::vector<const Method*> list;
  for (const Method& method : all_methods()) {
    if (method.uses("network") && method.base == nullptr) list.push_back(&method);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Train, EveryNetworkMethod, testing::ValuesIn(network_methods()), [](const auto& tested) {
  std::string name = tested.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TableMethod, LearnsAndKeepsTheEpochOfTheLowestValidationLoss) {
  const data::Trial trial = small_trial(3000);
  data::Study study = table_study("tsm");
  study.method.epochs = 40;
  study.method.learning_rate = 2e-2;  // so that it over-trains soon
  study.method.weight_decay = 0.0;
  study.network.patience = 3;
  study.network.dropout = 0.0;
  const std::vector<learn::EpochRecord> record = record_of(train_table(trial, study));
  ASSERT_LT(record.size(), 40u);
  const auto best = std::min_element(record.begin(), record.end(), [](const auto& a, const auto& b) {
    return *a.validation_loss < *b.validation_loss;
  });
  EXPECT_EQ(record.end() - best, 4);
  for (const learn::EpochRecord& entry : record) EXPECT_EQ(entry.kept, &entry == &*best);
  EXPECT_LT(*best->validation_loss, *record.front().validation_loss);
  study.network.patience = 0;
  study.method.epochs = 6;
  const std::vector<learn::EpochRecord> whole = record_of(train_table(trial, study));
  ASSERT_EQ(whole.size(), 6u);
  EXPECT_TRUE(whole.back().kept);
}

TEST(TableMethod, WithoutValidationUnitsSomeTrainingUnitsSayWhenToStop) {
  data::Trial trial = small_trial(2000);
  for (data::Split& split : trial.split) {
    if (split == data::Split::validation) split = data::Split::test;
  }
  const std::vector<learn::EpochRecord> record = record_of(train_table(trial, table_study("tsm")));
  for (const learn::EpochRecord& entry : record) EXPECT_TRUE(entry.validation_loss.has_value());
}

TEST(TableMethod, AStoppedRunGoesOnToTheSameBytes) {
  const data::Trial trial = small_trial(900);
  for (const char* method : {"tsm", "dfcl-mer"}) {
    const data::Study study = table_study(method);
    const io::TemporaryFolder folder;
    const std::string whole = bytes_of(train_table(trial, study));
    core::RunContext context(2, 5);
    TrainOptions options;
    options.checkpoint_folder = folder.file("c");
    std::size_t seen = 0;
    options.on_epoch = [&](const learn::EpochRecord&) {
      if (++seen == 2) throw std::runtime_error("stopped");
    };
    EXPECT_THROW((void)train(trial, study, options, context), std::runtime_error);
    EXPECT_EQ(bytes_of(train_table(trial, study, 1, options.checkpoint_folder)), whole);
  }
}

TEST(TableMethod, TrainingGoesOnFromAModelOfTheSameForm) {
  const data::Trial trial = small_trial(900);
  const model::Model start = train_table(trial, table_study("tsm"));
  data::Study study = table_study("dfcl-mer");
  study.network.members.reset();  // the model's
  const model::Model tuned = train_table(trial, study, 2, "", &start);
  EXPECT_EQ(table_parts_of(tuned).encoding, table_parts_of(start).encoding);
  EXPECT_NE(table_parts_of(tuned).networks, table_parts_of(start).networks);
  study.network.members = 3;
  EXPECT_NE(complaint(trial, study, &start).find("another number of members"), std::string::npos);
  EXPECT_NE(complaint(trial, small_study("tsm"), &start).find("no plain network"), std::string::npos);
  study = table_study("tsm");
  study.cost.control_is_free = false;
  data::Trial charged = small_trial(900);
  for (std::size_t unit = 0; unit < charged.num_units(); ++unit) charged.cost[unit] += 0.25f;
  EXPECT_NE(complaint(charged, study, &start).find("another form"), std::string::npos);
}

TEST(TableMethod, KindsOfNetworkDoNotMix) {
  const data::Trial trial = small_trial(600);
  data::Study study = table_study("tsm");
  study.network.kind = "table";
  study.network.hidden = {8};
  EXPECT_NE(complaint(trial, study).find("plain network"), std::string::npos);
  study = table_study("tsm");
  study.network.kind = "table";
  study.method.as_published = true;
  EXPECT_NE(complaint(trial, study).find("as published"), std::string::npos);
  study = table_study("tsm");
  study.network.kind = "plain";
  EXPECT_STREQ(train_table(trial, study).predictors[0].predictor->kind(), "network");
  study.network.kind.reset();
  study.method.as_published = true;
  EXPECT_STREQ(train_table(trial, study).predictors[0].predictor->kind(), "network");
}

TEST(TableMethod, SeveralNetworksAreOnePredictor) {
  const data::Trial trial = small_trial(600);
  data::Study study = table_study("tsm");
  study.method.ensemble = 2;
  const model::Model model = train_table(trial, study);
  ASSERT_EQ(model.predictors.size(), 1u);
  ASSERT_EQ(table_parts_of(model).networks.size(), 2u);
  EXPECT_NE(table_parts_of(model).networks[0], table_parts_of(model).networks[1]);
}

}  // namespace
}  // namespace dfcl::train
