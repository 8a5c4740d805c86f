// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/start_model.h"

#include <gtest/gtest.h>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/train.h"
#include "small_trial.h"
#include "trained_model.h"

namespace dfcl::train {
namespace {

model::Model train_from(const data::Trial& trial, const data::Study& study, const model::Model* start,
                        const std::string& checkpoint = "") {
  core::RunContext context(2, 5);
  TrainOptions options;
  options.start = start;
  options.checkpoint_folder = checkpoint;
  return train(trial, study, options, context);
}

std::string complaint(const data::Trial& trial, const data::Study& study, const model::Model& start) {
  try {
    (void)train_from(trial, study, &start);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage) << error.what();
    return error.what();
  }
  return "accepted";
}

data::Study long_study(const char* method, std::int64_t epochs) {
  data::Study study = small_study(method);
  study.method.epochs = epochs;
  return study;
}

TEST(StartModel, TrainingGoesOnWhereTheModelWas) {
  const data::Trial trial = small_trial();
  const model::Model start = train_from(trial, long_study("tsm", 15), nullptr);
  const auto first = learn::parse_record(train_from(trial, long_study("tsm", 1), nullptr).record, "test");
  const auto warm = learn::parse_record(train_from(trial, long_study("tsm", 1), &start).record, "test");
  EXPECT_LT(warm[0].prediction_loss, first[0].prediction_loss - 0.1);
}

TEST(StartModel, ItsPreprocessingAndScalesAreKept) {
  const model::Model start = train_from(small_trial(2000), small_study("tsm"), nullptr);
  data::Trial later = small_trial(3000);
  for (float& value : later.revenue) value *= 3.0f;
  const model::Model model = train_from(later, small_study("dfcl-mer"), &start);
  EXPECT_EQ(parts_of(model).preprocessing, parts_of(start).preprocessing);
  EXPECT_EQ(parts_of(model).scales, parts_of(start).scales);
  model::require_consistent(model, "model");
  const auto said = std::find_if(model.options.begin(), model.options.end(),
                                 [](const auto& option) { return option.first == "start_from"; });
  ASSERT_NE(said, model.options.end());
  EXPECT_EQ(said->second, model::fingerprint_of(start));
}

TEST(StartModel, TheDecisionLossAloneFineTunesFromTheFirstEpochOn) {
  const data::Trial trial = small_trial();
  for (const bool as_published : {false, true}) {
    data::Study study = small_study("tsm");
    study.method.as_published = as_published;
    const model::Model start = train_from(trial, study, nullptr);
    study.method.name = "dfcl-ifd";
    study.method.epochs = 1;
    study.method.alpha = 0.0;
    const model::Model tuned = train_from(trial, study, &start);
    const auto record = learn::parse_record(tuned.record, "test");
    ASSERT_EQ(record.size(), 1u);
    EXPECT_TRUE(record[0].decides);
    EXPECT_NE(members_of(tuned)[0], members_of(start)[0]);
    study.method.alpha = 5.0;
    EXPECT_NE(members_of(tuned)[0], members_of(train_from(trial, study, &start))[0]);
  }
}

TEST(StartModel, EpochsOnThePredictionLossCanBeAskedFor) {
  const data::Trial trial = small_trial();
  const model::Model start = train_from(trial, small_study("tsm"), nullptr);
  data::Study study = small_study("dfcl-mer");
  study.method.warm_epochs = 3;
  const auto record = learn::parse_record(train_from(trial, study, &start).record, "test");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(record[i].decides, i == 3) << i;
}

TEST(StartModel, LevelsAreTheSameByNameWhateverTheirCodes) {
  const data::Trial trial = small_trial();
  const model::Model start = train_from(trial, small_study("tsm"), nullptr);
  data::Trial recoded = small_trial();
  recoded.features.columns[2].levels = {data::kPooledLevel, "b", "a"};
  for (std::size_t unit = 0; unit < recoded.num_units(); ++unit) {
    float& code = recoded.features.values(unit, 2);
    code = code == 0.0f ? 0.0f : 3.0f - code;
  }
  EXPECT_EQ(members_of(train_from(recoded, small_study("dfcl-mer"), &start)),
            members_of(train_from(trial, small_study("dfcl-mer"), &start)));
}

TEST(StartModel, AModelOfSomethingElseIsRefused) {
  const data::Trial trial = small_trial();
  const model::Model start = train_from(trial, small_study("tsm"), nullptr);
  EXPECT_NE(complaint(small_trial(2000, 2), small_study("tsm"), start).find("other arms"), std::string::npos);
  data::Study of_forest = small_study("tsm-forest");
  of_forest.forest.trees = 8;
  of_forest.forest.leaf = 100;
  const model::Model forest = train_from(trial, of_forest, nullptr);
  EXPECT_NE(complaint(trial, small_study("tsm"), forest).find("cannot start from a model of this method"),
            std::string::npos);
  EXPECT_NE(complaint(trial, of_forest, start).find("tsm-forest cannot start from a model"), std::string::npos);
  data::Trial renamed = small_trial();
  renamed.features.columns[1].name = "tasty";
  EXPECT_NE(complaint(renamed, small_study("tsm"), start).find("'tasty'"), std::string::npos);
  data::Trial fewer = small_trial();
  fewer.features.columns.pop_back();
  EXPECT_NE(complaint(fewer, small_study("tsm"), start).find("'kind'"), std::string::npos);
  data::Study study = small_study("tsm");
  study.network.hidden = {16, 9};
  EXPECT_NE(complaint(trial, study, start).find("[16, 9]"), std::string::npos);
  study = small_study("tsm");
  study.network.revenue_kind = "real";
  EXPECT_NE(complaint(trial, study, start).find("another kind"), std::string::npos);
  study = small_study("tsm");
  study.cost.control_is_free = false;
  data::Trial charged = small_trial();
  for (std::size_t unit = 0; unit < charged.num_units(); ++unit) charged.cost[unit] += 0.25f;
  EXPECT_NE(complaint(charged, study, start).find("cost in another form"), std::string::npos);
  EXPECT_NE(complaint(trial, small_study("dpm"), start).find("revenue in another form"), std::string::npos);
  EXPECT_NE(complaint(trial, small_study("auto"), start).find("from scratch"), std::string::npos);
  data::Trial negative = small_trial();
  negative.revenue[0] = -1.0f;
  EXPECT_NE(complaint(negative, small_study("tsm"), start).find("not non_negative"), std::string::npos);
  study = small_study("tsm");
  study.network.hidden = {};  // the model's
  EXPECT_EQ(complaint(trial, study, start), "accepted");
}

TEST(StartModel, ACheckpointBelongsToOneStart) {
  const data::Trial trial = small_trial(1000);
  const model::Model start = train_from(trial, small_study("tsm"), nullptr);
  const model::Model other = train_from(trial, long_study("tsm", 3), nullptr);
  const io::TemporaryFolder folder;
  const model::Model whole = train_from(trial, small_study("dfcl-mer"), &start, folder.file("c"));
  EXPECT_EQ(members_of(train_from(trial, small_study("dfcl-mer"), &start, folder.file("c"))), members_of(whole));
  EXPECT_THROW((void)train_from(trial, small_study("dfcl-mer"), &other, folder.file("c")), core::Error);
}

TEST(StartModel, UnitsThatTheStartKnewCountAsTrainedOn) {
  data::Trial trial = small_trial(1000);
  const model::Model start = train_from(trial, small_study("tsm"), nullptr);
  data::Trial moved = small_trial(1000);
  for (data::Split& split : moved.split) {
    split = split == data::Split::test ? data::Split::train : split == data::Split::train ? data::Split::test : split;
  }
  const model::Model model = train_from(moved, small_study("tsm"), &start);
  std::vector<std::uint8_t> is_test;
  for (const data::Split split : moved.split) is_test.push_back(split == data::Split::test ? 1 : 0);
  EXPECT_EQ(model::overlap_with(model.trained, moved, is_test).num_trained, 600u);
}

}  // namespace
}  // namespace dfcl::train
