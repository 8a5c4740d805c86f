// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <utility>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/model/remarks.h"
#include "dfcl/train/train.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

// Counts the fits of the stack and cancels after some.
class Counter : public core::ProgressSink {
 public:
  explicit Counter(std::size_t stop_after = 0) : stop_after_(stop_after) {}
  void progress(std::string_view task, std::uint64_t, std::uint64_t, std::string_view) override {
    if (task == "fitting the stack" && ++fits == stop_after_) cancel = true;
  }
  void finished(std::string_view) override {}
  void warning(std::string_view text) override { warnings += std::string(text) + "\n"; }

  std::size_t fits = 0;
  std::string warnings;
  std::atomic<bool> cancel = false;

 private:
  std::size_t stop_after_;
};

data::Study stack_study() {
  data::Study study = small_study("auto");
  study.method.epochs = 3;
  study.method.members = {"tsm", "dfcl-mer"};
  study.forest.trees = 8;
  study.forest.leaf = 100;
  return study;
}

model::Model train_stack(const data::Trial& trial, const data::Study& study, int threads = 2,
                         const TrainOptions& options = {}) {
  core::RunContext context(threads, 5);
  return train(trial, study, options, context);
}

std::string bytes_of(const model::Model& model) { return io::safetensors_bytes(model::tensor_file_of(model)); }

std::string complaint_of(const data::Trial& trial, const data::Study& study) {
  try {
    (void)train_stack(trial, study);
  } catch (const core::Error& error) {
    return error.details().what;
  }
  return "";
}

TEST(Stack, MembersOfAllKindsGiveOneModelOfWeightedPredictors) {
  data::Study study = stack_study();
  study.method.members.clear();
  const data::Trial trial = small_trial(3000);
  const model::Model model = train_stack(trial, study);
  ASSERT_TRUE(model.stack && model.calibration && model.held_out);
  EXPECT_EQ(model.method, "auto");
  EXPECT_EQ(model.stack->num_folds, 3u);
  EXPECT_EQ(model.stack->num_units, 2400u);
  EXPECT_GE(model.stack->members.size(), 5u);
  EXPECT_EQ(model.stack->members.back().method, model::kMeanEffectName);
  double total = 0.0;
  for (const model::StackMember& member : model.stack->members) {
    total += member.weight;
    EXPECT_GT(member.standard_error, 0.0) << member.method;
  }
  EXPECT_NEAR(total, 1.0, 1e-9);
  ASSERT_TRUE(model.evaluated);
  EXPECT_EQ(model.evaluated->units, data::UnseenUnits::out_of_fold);
  EXPECT_EQ(model.evaluated->num_units, 2400u);
  EXPECT_TRUE(model.evaluated->chose_members);
  EXPECT_GT(model.evaluated->plans.size(), 10u);
  model::require_consistent(model, "stack");
  const model::Model again = model::model_of(model::tensor_file_of(model), "again");
  EXPECT_EQ(bytes_of(again), bytes_of(model));
  core::RunContext context(2);
  const data::Prediction predicted = model::predict(again, trial.features, trial.ids, context);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_EQ(predicted.cost(unit, 0), 0.0f) << "control is free";
    for (std::size_t arm = 1; arm < 3; ++arm) EXPECT_GE(predicted.cost(unit, arm), predicted.cost(unit, arm - 1));
  }
}

TEST(Stack, TheNumberOfThreadsChangesNothing) {
  const data::Trial trial = small_trial(2000);
  data::Study study = stack_study();
  study.method.members = {"tsm-forest", "tsm", "dfcl-ifd"};
  const std::string one = bytes_of(train_stack(trial, study, 1));
  EXPECT_EQ(bytes_of(train_stack(trial, study, 2)), one);
  EXPECT_EQ(bytes_of(train_stack(trial, study, 8)), one);
}

// As they run on a graphics card; here on the processor.
TEST(Stack, SeveralFitsAtATimeGiveTheSameBytesAndTellOfTheSameEpochs) {
  data::Study study = stack_study();
  study.method.members = {"tsm-boost", "dfcl-mer", "tsm", "dfcl-ifd"};
  study.method.baseline = "dr";
  study.method.ensemble = 2;
  study.boost.trees = 20;
  const data::Trial trial = small_trial(1500);
  const io::TemporaryFolder folder;
  std::vector<std::string> models;
  std::vector<std::vector<std::string>> told;
  for (const auto& [at_once, kept] :
       {std::pair(1, false), std::pair(7, false), std::pair(7, true), std::pair(2, true)}) {
    core::RunContext context(4, 5);
    context.device.fits_at_once = static_cast<std::size_t>(at_once);
    TrainOptions options;
    if (kept) options.checkpoint_folder = folder.file("run");
    told.emplace_back();
    options.on_epoch = [&](const learn::EpochRecord& record) {
      if (record.member >= 2'000) return;  // trees of the nuisance, which are fitted ahead
      told.back().push_back(fmt::format("{} {} {}", record.member, record.epoch, record.prediction_loss));
    };
    models.push_back(bytes_of(train(trial, study, options, context)));
  }
  for (const std::string& model : models) EXPECT_EQ(model, models.front());
  EXPECT_GT(told[0].size(), 30u);
  EXPECT_EQ(told[0], told[1]);
  EXPECT_EQ(told[0], told[2]);
  EXPECT_TRUE(told[3].empty()) << told[3].size();  // all had been done
}

TEST(Stack, AFitThatIsDoneIsNotDoneAgain) {
  const data::Trial trial = small_trial(1500);
  data::Study study = stack_study();
  study.method.members = {"tsm-forest", "tsm", "dfcl-mer"};
  const std::string whole = bytes_of(train_stack(trial, study));
  for (const std::size_t stop_after : {1u, 3u, 6u}) {
    const io::TemporaryFolder folder;
    TrainOptions options;
    options.checkpoint_folder = folder.file("checkpoint");
    std::vector<learn::EpochRecord> epochs;
    options.on_epoch = [&](const learn::EpochRecord& record) { epochs.push_back(record); };
    Counter stopping(stop_after);
    core::RunContext first(2, 5, &stopping, &stopping.cancel);
    EXPECT_THROW((void)train(trial, study, options, first), core::Error);
    const std::size_t before = epochs.size();
    core::RunContext second(2, 5);
    EXPECT_EQ(bytes_of(train(trial, study, options, second)), whole) << stop_after;
    const std::size_t all = epochs.size();
    core::RunContext third(2, 5);
    EXPECT_EQ(bytes_of(train(trial, study, options, third)), whole);
    EXPECT_EQ(epochs.size(), all) << "nothing is trained again";
    EXPECT_GT(all, before);
    data::Study other = study;
    other.forest.leaf = 120;
    core::RunContext fourth(2, 5);
    EXPECT_THROW((void)train(trial, other, options, fourth), core::Error);
  }
}

TEST(Stack, WhatTimeLeftOutIsSaidAndTheRestCanBeRepeated) {
  const data::Trial trial = small_trial(1500);
  data::Study study = stack_study();
  const io::TemporaryFolder folder;
  TrainOptions options;
  options.time_budget_seconds = 1e-9;
  options.checkpoint_folder = folder.file("checkpoint");
  Counter sink;
  core::RunContext context(2, 5, &sink);
  const model::Model hurried = train(trial, study, options, context);
  ASSERT_EQ(hurried.stack->left_out.size(), 1u);
  EXPECT_EQ(hurried.stack->left_out[0].method, "dfcl-mer");
  EXPECT_NE(sink.warnings.find("dfcl-mer is not in the stack"), std::string::npos) << sink.warnings;
  options.time_budget_seconds = 0.0;
  core::RunContext later(2, 5);
  EXPECT_EQ(bytes_of(train(trial, study, options, later)), bytes_of(hurried)) << "the same command ends the same";
  study.method.members = {"tsm"};
  model::Model repeated = train_stack(trial, study);
  EXPECT_EQ(repeated.options, hurried.options);
  repeated.stack->left_out = hurried.stack->left_out;
  EXPECT_EQ(bytes_of(repeated), bytes_of(hurried));
}

TEST(Stack, OutOfFoldPredictionsAreThoseOfTheTrainingUnits) {
  const data::Trial trial = small_trial(1500);
  TrainOptions options;
  std::optional<data::Prediction> kept;
  options.on_out_of_bag = [&](const data::Prediction& made) {
    kept.emplace();
    kept->ids = made.ids;
    kept->revenue = core::Matrix<float>(made.revenue.rows(), made.revenue.cols());
    std::copy_n(made.revenue.data(), made.revenue.rows() * made.revenue.cols(), kept->revenue.data());
  };
  data::Study study = stack_study();
  study.method.epochs = 15;  // long enough for two fits to agree
  const model::Model model = train_stack(trial, study, 2, options);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->revenue.rows(), 900u);
  core::RunContext context(2);
  const data::Prediction seen = model::predict(model, trial.features, trial.ids, context);
  std::size_t next = 0, same = 0, close = 0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] != data::Split::train) continue;
    const float ratio = kept->revenue(next, 1) / seen.revenue(unit, 1);
    close += ratio > 0.5f && ratio < 2.0f ? 1u : 0u;
    same += ratio == 1.0f ? 1u : 0u;
    ++next;
  }
  EXPECT_GT(close, 700u) << "of the same units";
  EXPECT_LT(same, 100u) << "by fits without the unit";
}

TEST(Stack, AFewClustersSayNothingAboutMethods) {
  data::Trial trial = small_trial(1000);
  for (std::uint32_t unit = 0; unit < 1000; ++unit) trial.cluster.push_back(unit / 10 % 8);
  trial.num_clusters = 8;
  const model::Model model = train_stack(trial, stack_study());
  EXPECT_FALSE(model.stack);
  EXPECT_EQ(model.method, "tsm");
  EXPECT_NE(model.options.back().second.find("8 clusters"), std::string::npos) << model.options.back().second;
}

TEST(Stack, FoldsFollowNamesNotRows) {
  data::Trial trial = small_trial(1000);
  std::vector<std::int64_t> names(1000);
  for (std::size_t row = 0; row < 1000; ++row) names[row] = static_cast<std::int64_t>(7 * row + 3);
  trial.ids = names;
  core::RunContext context(1, 5);
  const auto folds_by_name = [&](const data::Trial& of) {
    const Preparation prepared = prepare(of, small_study("auto"), two_stage_method(), context);
    const HeldUnits units = held_units(of, prepared, context);
    std::map<std::int64_t, std::uint8_t> folds;
    for (std::size_t place = 0; place < units.size(); ++place)
      folds[of.ids.number(units.rows[place])] = units.fold[place];
    return folds;
  };
  const auto before = folds_by_name(trial);
  data::Trial turned = small_trial(1000);
  std::vector<std::int64_t> turned_names(names.rbegin(), names.rend());
  turned.ids = turned_names;
  for (std::size_t row = 0; row < 1000; ++row) {
    turned.split[row] = trial.split[999 - row];
    turned.arm[row] = trial.arm[999 - row];
    turned.revenue[row] = trial.revenue[999 - row];
    turned.cost[row] = trial.cost[999 - row];
  }
  EXPECT_EQ(folds_by_name(turned), before);
  std::array<std::size_t, kFolds> sizes{};
  for (const auto& [name, fold] : before) ++sizes[fold];
  for (const std::size_t size : sizes) EXPECT_NEAR(static_cast<double>(size), 267.0, 50.0);
  for (std::uint32_t row = 0; row < 1000; ++row) trial.cluster.push_back(row / 4);
  trial.num_clusters = 250;
  const Preparation prepared = prepare(trial, small_study("auto"), two_stage_method(), context);
  const HeldUnits units = held_units(trial, prepared, context);
  std::map<std::uint32_t, std::uint8_t> of_cluster;
  for (std::size_t place = 0; place < units.size(); ++place) {
    const auto [entry, is_new] = of_cluster.emplace(trial.cluster[units.rows[place]], units.fold[place]);
    EXPECT_EQ(entry->second, units.fold[place]) << "a cluster is in one fold";
  }
}

TEST(Stack, MembersThatCanBeNoneAreRefused) {
  const data::Trial trial = small_trial(500);
  data::Study study = stack_study();
  study.method.members = {"tsm", "drm"};
  EXPECT_NE(complaint_of(trial, study).find("index"), std::string::npos);
  study.method.members = {"tsm", "tsm"};
  EXPECT_NE(complaint_of(trial, study).find("twice"), std::string::npos);
  study.method.members = {"nothing"};
  EXPECT_NE(complaint_of(trial, study).find("unknown method"), std::string::npos);
}

TEST(Stack, ATrialTooSmallForAMemberGoesWithoutIt) {
  const data::Trial trial = small_trial(600);
  data::Study study = stack_study();
  study.forest.leaf = 100'000;
  study.method.members = {"tsm-forest", "tsm"};
  const model::Model model = train_stack(trial, study);
  ASSERT_EQ(model.stack->left_out.size(), 1u);
  EXPECT_EQ(model.stack->left_out[0].method, "tsm-forest");
  study.method.members = {"tsm-forest"};
  EXPECT_NE(complaint_of(trial, study).find("none of them"), std::string::npos);
}

// The weights of a stack of given predictions: as they are used, or before they are drawn towards the first.
enum class Weights { used, aggregated };
std::vector<double> weights_of(const data::Trial& trial, const data::Study& study,
                               const std::vector<learn::Predicted>& members, core::RunContext& context,
                               Weights kind = Weights::used) {
  const Preparation prepared = prepare(trial, study, two_stage_method(), context);
  const HeldUnits units = held_units(trial, prepared, context);
  const HeldOutcomes outcomes = held_outcomes(trial, prepared, units.rows, context);
  std::vector<const learn::Predicted*> unseen;
  for (const learn::Predicted& member : members) unseen.push_back(&member);
  StackJudge judge(trial, prepared, units, outcomes, unseen, context);
  return kind == Weights::used ? judge.weights() : judge.aggregated_weights();
}

// The truth of the small trial, with noise of this size on the effects, for all units that do not test.
learn::Predicted noisy_truth(const data::Trial& trial, double noise, std::uint64_t seed) {
  std::vector<std::size_t> rows;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] != data::Split::test) rows.push_back(unit);
  }
  learn::Predicted predicted{core::Matrix<float>(rows.size(), 3), core::Matrix<float>(rows.size(), 3)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    core::RandomStream random(seed, core::stream_purpose("noisy truth"), rows[i]);
    const auto features = trial.features.values.row(rows[i]);
    const double taste = std::isnan(features[1]) ? 0.0 : static_cast<double>(features[1]);
    for (std::size_t arm = 0; arm < 3; ++arm) {
      const double lift =
          static_cast<double>(arm) * (0.15 + 0.1 * std::tanh(taste) + (features[2] == 2.0f ? 0.1 : 0.0));
      const double mean = std::exp(0.7 + 0.5 * static_cast<double>(features[0]) + lift);
      const double wrong = arm == 0 ? 0.0 : noise * random.normal();
      predicted.revenue(i, arm) = static_cast<float>(mean + wrong);
      predicted.cost(i, arm) = static_cast<float>(0.25 * static_cast<double>(arm) * mean);
    }
  }
  return predicted;
}

TEST(Stack, AGoodMemberGetsNearlyAllBesideOneOfNoise) {
  core::RunContext context(2, 5);
  const data::Trial trial = small_trial(6000);
  std::vector<learn::Predicted> members;
  members.push_back(noisy_truth(trial, 3.0, 1));
  members.push_back(noisy_truth(trial, 0.0, 2));
  const std::vector<double> weights = weights_of(trial, small_study("auto"), members, context);
  EXPECT_GT(weights[1], 0.85);
  EXPECT_LT(weights[0], 0.1);
}

TEST(Stack, WhereMembersAreNoiseTheMeanEffectIsLeft) {
  core::RunContext context(2, 5);
  const data::Trial trial = small_trial(6000);
  std::vector<learn::Predicted> members;
  members.push_back(noisy_truth(trial, 10.0, 1));
  members.push_back(noisy_truth(trial, 10.0, 2));
  const std::vector<double> weights = weights_of(trial, small_study("auto"), members, context);
  EXPECT_GT(weights[2], 0.9);
}

// Nine in ten units in control, and money of which a few units earn most.
data::Trial unequal_trial(std::uint64_t seed) {
  data::Trial trial = small_trial(8000);
  const learn::Predicted truth = noisy_truth(trial, 0.0, 1);
  std::size_t next = 0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] == data::Split::test) continue;
    core::RandomStream random(seed, core::stream_purpose("unequal trial"), unit);
    const double draw = random.uniform();
    trial.arm[unit] = draw < 0.9 ? 0 : draw < 0.95 ? 1 : 2;
    trial.revenue[unit] =
        truth.revenue(next, trial.arm[unit]) * static_cast<float>(std::exp(1.2 * random.normal() - 0.72));
    trial.cost[unit] = truth.cost(next, trial.arm[unit]);
    ++next;
  }
  return trial;
}

TEST(Stack, ARareArmDoesNotHideWhichMemberIsBetter) {
  core::RunContext context(2, 5);
  double least = 1.0, sum = 0.0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const data::Trial trial = unequal_trial(seed);
    std::vector<learn::Predicted> members;
    members.push_back(noisy_truth(trial, 1.0, 1));
    members.push_back(noisy_truth(trial, 0.0, 2));
    const double weight = weights_of(trial, small_study("auto"), members, context, Weights::aggregated)[1];
    least = std::min(least, weight);
    sum += weight;
  }
  EXPECT_GT(sum / 8.0, 0.8);
  EXPECT_GT(least, 0.5);
}

TEST(Stack, MembersThatDifferByLittleShareTheWeight) {
  core::RunContext context(2, 5);
  const data::Trial trial = small_trial(6000);
  std::vector<learn::Predicted> members;
  members.push_back(noisy_truth(trial, 0.0, 1));
  members.push_back(noisy_truth(trial, 0.0, 1));
  for (std::size_t unit = 0; unit < members[1].revenue.rows(); ++unit) {
    core::RandomStream random(7, core::stream_purpose("a little"), unit);
    for (std::size_t arm = 1; arm < 3; ++arm)
      members[1].revenue(unit, arm) += static_cast<float>(0.02 * random.normal());
  }
  std::vector<double> weights = weights_of(trial, small_study("auto"), members, context, Weights::aggregated);
  EXPECT_GT(std::min(weights[0], weights[1]), 0.05);
}

TEST(Stack, TheFirstMemberStandsUntilAnotherIsShownToBeBetter) {
  core::RunContext context(2, 5);
  const data::Trial trial = small_trial(6000);
  std::vector<double> of_the_better;
  for (const double noise : {0.03, 1.0, 3.0}) {  // of the first; the second is the truth
    std::vector<learn::Predicted> members;
    members.push_back(noisy_truth(trial, noise, 1));
    members.push_back(noisy_truth(trial, 0.0, 2));
    of_the_better.push_back(weights_of(trial, small_study("auto"), members, context)[1]);
  }
  EXPECT_EQ(of_the_better[0], 0.0) << "a difference that may be chance moves nothing";
  EXPECT_GT(of_the_better[1], 0.2);
  EXPECT_GT(of_the_better[2], 0.85);
}

TEST(Stack, TheMeanEffectKeepsTheShapeOverTheArms) {
  core::RunContext context(1, 5);
  data::Trial trial = small_trial(3000);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit)  // the second arm costs less than the first, by chance
    trial.cost[unit] = trial.arm[unit] == 0 ? 0.0f : trial.arm[unit] == 1 ? 1.0f : 0.75f;
  const std::vector<learn::Predicted> members = [&] {
    std::vector<learn::Predicted> list;
    list.push_back(noisy_truth(trial, 10.0, 1));
    return list;
  }();
  for (const bool rises : {false, true}) {
    data::Study study = small_study("auto");
    study.cost.rises_with_arm = rises;
    const Preparation prepared = prepare(trial, study, two_stage_method(), context);
    const HeldUnits units = held_units(trial, prepared, context);
    const HeldOutcomes outcomes = held_outcomes(trial, prepared, units.rows, context);
    const StackJudge judge(trial, prepared, units, outcomes, {&members[0]}, context);
    const std::vector<double>& effect = judge.mean_effect().cost.effect;
    EXPECT_EQ(effect[0], 0.0);
    EXPECT_NEAR(effect[1], rises ? 0.875 : 1.0, 0.05);
    EXPECT_NEAR(effect[2], rises ? 0.875 : 0.75, 0.05);
    EXPECT_EQ(effect[2] >= effect[1], rises);
  }
}

TEST(Stack, EveryMethodCanBeCalibratedThatPredictsOutcomes) {
  const data::Trial trial = small_trial(1500);
  data::Study study = stack_study();
  study.method.name = "tsm";
  const model::Model plain = train_stack(trial, study);
  EXPECT_FALSE(plain.calibration);
  ASSERT_TRUE(plain.evaluated);
  EXPECT_EQ(plain.evaluated->units, data::UnseenUnits::validation);
  EXPECT_FALSE(plain.evaluated->chose_members);
  study.method.calibrate = true;
  const model::Model model = train_stack(trial, study);
  ASSERT_TRUE(model.calibration && model.held_out && model.evaluated);
  EXPECT_EQ(model.evaluated->units, data::UnseenUnits::out_of_fold);
  EXPECT_TRUE(model.held_out->out_of_fold);
  EXPECT_EQ(model.calibration->num_units, 1200u);
  study.method.name = "tsm-forest";
  study.method.calibrate.reset();
  EXPECT_TRUE(train_stack(trial, study).calibration);
  study.method.calibrate = false;
  EXPECT_FALSE(train_stack(trial, study).calibration);
  study.method.name = "drm";
  const model::Model index = train_stack(trial, study);
  EXPECT_FALSE(index.held_out);
  EXPECT_TRUE(index.evaluated) << "what its plans are worth can be told all the same";
  study.method.calibrate = true;
  EXPECT_NE(complaint_of(trial, study).find("index"), std::string::npos);
}

TEST(Stack, AModelThatLearnedNothingSaysSo) {
  data::Trial trial = small_trial(2000);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {  // outcomes that no feature tells anything about
    core::RandomStream random(3, core::stream_purpose("no effect"), unit);
    trial.revenue[unit] = static_cast<float>(random.poisson(1.0) * random.poisson(1.0));
    trial.cost[unit] = 0.25f * trial.arm[unit] * trial.revenue[unit];
  }
  data::Study study = stack_study();
  study.method.name = "tsm";
  study.method.epochs = 40;
  study.method.weight_decay = 0.0;
  const model::Model model = train_stack(trial, study);
  const std::vector<std::string> remarks = model::learning_remarks(model);
  ASSERT_FALSE(remarks.empty());
  EXPECT_NE(remarks[0].find("revenue is not learned"), std::string::npos) << remarks[0];
  study = stack_study();
  study.method.epochs = 6;
  const model::Model good = train_stack(small_trial(4000), study);
  for (const std::string& remark : model::learning_remarks(good))
    EXPECT_EQ(remark.find("is not learned"), std::string::npos) << remark;
}

}  // namespace
}  // namespace dfcl::train
