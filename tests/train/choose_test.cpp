// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/choose.h"

#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "../io/temporary_folder.h"
#include "dfcl/core/error.h"
#include "dfcl/model/model_file.h"
#include "dfcl/train/train.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

// Counts the trainings of the contest and cancels after some.
class Counter : public core::ProgressSink {
 public:
  explicit Counter(std::size_t stop_after) : stop_after_(stop_after) {}
  void progress(std::string_view task, std::uint64_t, std::uint64_t, std::string_view) override {
    if (task == "choosing a method" && ++trainings == stop_after_) cancel = true;
  }
  void finished(std::string_view) override {}
  void warning(std::string_view) override {}

  std::size_t trainings = 0;
  std::atomic<bool> cancel = false;

 private:
  std::size_t stop_after_;
};

data::Study auto_study(const char* baseline = "") {
  data::Study study = small_study("auto");
  study.method.epochs = 2;
  if (*baseline != '\0') study.method.baseline = baseline;
  return study;
}

std::string bytes_of(const model::Model& model) { return io::safetensors_bytes(model::tensor_file_of(model)); }

TEST(Choose, AFoldThatIsDoneIsNotDoneAgain) {
  const data::Trial trial = small_trial(1000);
  core::RunContext plain(2, 5);
  const std::string whole = bytes_of(train(trial, auto_study(), {}, plain));
  Counter all(0);
  core::RunContext counted(2, 5, &all);
  (void)choose_method(trial, auto_study(), 0.0, "", counted);
  const std::size_t a_fold = all.trainings / 5;
  ASSERT_EQ(all.trainings, 5 * a_fold);
  for (const std::size_t stop_after : {a_fold + 1, 3 * a_fold + 1}) {
    const io::TemporaryFolder folder;
    TrainOptions options;
    options.checkpoint_folder = folder.file("checkpoint");
    Counter stopping(stop_after);
    core::RunContext first(2, 5, &stopping, &stopping.cancel);
    EXPECT_THROW((void)train(trial, auto_study(), options, first), core::Error);
    Counter counter(0);
    core::RunContext second(2, 5, &counter);
    EXPECT_EQ(bytes_of(train(trial, auto_study(), options, second)), whole);
    EXPECT_EQ(counter.trainings, all.trainings - stop_after / a_fold * a_fold);
    Counter none(0);
    core::RunContext third(2, 5, &none);
    EXPECT_EQ(bytes_of(train(trial, auto_study(), options, third)), whole);
    EXPECT_EQ(none.trainings, 0u);
  }
}

TEST(Choose, AFewClustersSayNothingAboutMethods) {
  data::Trial trial = small_trial(1000);
  core::RunContext context(2, 5);
  for (std::uint32_t unit = 0; unit < 1000; ++unit) trial.cluster.push_back(unit / 10 % 8);
  trial.num_clusters = 8;
  const Choice choice = choose_method(trial, auto_study(), 0.0, "", context);
  EXPECT_EQ(choice.method, "tsm");
  EXPECT_EQ(choice.num_folds, 0u);
  EXPECT_NE(choice.sentence.find("8 clusters"), std::string::npos) << choice.sentence;
}

TEST(Choose, AChoiceThatTimeEndedIsKept) {
  const data::Trial trial = small_trial(1000);
  const io::TemporaryFolder folder;
  core::RunContext context(2, 5);
  const Choice hurried = choose_method(trial, auto_study(), 1e-9, folder.file("checkpoint"), context);
  EXPECT_EQ(hurried.num_folds, 1u);
  for (const double seconds : {1e-9, 1e9}) {
    const Choice again = choose_method(trial, auto_study(), seconds, folder.file("checkpoint"), context);
    EXPECT_EQ(again.num_folds, 1u);
    EXPECT_EQ(again.sentence, hurried.sentence);
  }
  data::Study other = auto_study();
  other.method.batch = 64;
  EXPECT_THROW((void)choose_method(trial, other, 0.0, folder.file("checkpoint"), context), core::Error);
}

TEST(Choose, CandidatesAreJudgedWithTheBaselineAskedFor) {
  const data::Trial trial = small_trial(2000);
  core::RunContext context(2, 5);
  const auto choice = [&](const char* baseline) {
    data::Study study = auto_study(baseline);
    study.method.epochs = 6;
    return choose_method(trial, study, 1e-9, "", context);
  };
  const Choice usual = choice("");
  const Choice mean = choice("mean");
  const Choice robust = choice("dr");
  ASSERT_FALSE(mean.scores.empty());
  EXPECT_EQ(usual.scores[0].gain, mean.scores[0].gain);
  EXPECT_NE(mean.scores[0].gain, robust.scores[0].gain);
}

TEST(Choose, TheFiguresToldAreThoseOfTheMethodChosen) {
  const std::vector<CandidateScore> scores = {
      {"dfcl-mer", 1.0, 0.3, 0.1}, {"dfcl-ifd", 1.0, 0.5, 0.2}, {"tsm-forest", 0.0, 0.9, 1.0}};
  const Choice choice = choice_of(scores, 5);
  EXPECT_EQ(choice.method, "dfcl-ifd");
  EXPECT_NE(choice.sentence.find("dfcl-ifd with alpha 1 gained 0.5 "), std::string::npos) << choice.sentence;
  const Choice kept = choice_of({{"dfcl-mer", 1.0, -0.3, 0.1}, {"tsm-forest", 0.0, 0.9, 1.0}}, 5);
  EXPECT_EQ(kept.method, "tsm");
  EXPECT_NE(kept.sentence.find("the best other, tsm-forest gained 0.9 "), std::string::npos) << kept.sentence;
}

TEST(Choose, AnAlphaThatIsGivenIsTheOneTried) {
  const data::Trial trial = small_trial(1000);
  core::RunContext context(2, 5);
  data::Study study = auto_study();
  study.method.alpha = 2.5;
  for (const CandidateScore& score : choose_method(trial, study, 1e-9, "", context).scores)
    EXPECT_TRUE(score.alpha == 2.5 || score.method == "tsm-forest") << score.method;
}

TEST(Choose, ACheckpointOfAnotherForestIsRefused) {
  const data::Trial trial = small_trial(1000);
  const io::TemporaryFolder folder;
  core::RunContext context(2, 5);
  data::Study study = auto_study();
  study.forest.leaf = 100;
  (void)choose_method(trial, study, 1e-9, folder.file("checkpoint"), context);
  study.forest.trees = 17;
  EXPECT_THROW((void)choose_method(trial, study, 1e-9, folder.file("checkpoint"), context), core::Error);
}

TEST(Choose, AForestThatWinsIsTheOneThatItsMethodGrows) {
  const data::Trial trial = small_trial(4000);
  data::Study study = auto_study();
  study.method.epochs = 2;
  study.method.learning_rate = 1e-6;  // the networks know next to nothing
  study.forest.trees = 24;
  study.forest.leaf = 200;
  std::vector<std::size_t> epochs;
  TrainOptions options;
  options.on_epoch = [&](const learn::EpochRecord& record) { epochs.push_back(record.epoch); };
  core::RunContext context(2, 5);
  model::Model chosen = train(trial, study, options, context);
  ASSERT_EQ(chosen.method, "tsm-forest") << chosen.options.back().second;
  const std::vector<std::size_t> epochs_of_chosen = std::exchange(epochs, {});
  study.method.name = "tsm-forest";
  const model::Model named = train(trial, study, options, context);
  EXPECT_EQ(chosen.options.back().first, "chosen");
  chosen.options.pop_back();
  EXPECT_EQ(bytes_of(chosen), bytes_of(named));
  EXPECT_EQ(epochs_of_chosen, epochs);
}

TEST(Choose, NeedsEpochsOfTwoStageLearning) {
  const data::Trial trial = small_trial(1000);
  core::RunContext context(2, 5);
  data::Study study = auto_study();
  study.method.warm_epochs = 0;
  EXPECT_THROW((void)choose_method(trial, study, 1e-9, "", context), core::Error);
}

TEST(Choose, AForestThatCannotBeIsLeftOutAndAWrongOneIsTold) {
  const data::Trial trial = small_trial(1000);
  core::RunContext context(2, 5);
  const auto entrants = [&](const data::Study& study) {
    return choose_method(trial, study, 1e-9, "", context).scores.size();
  };
  data::Study study = auto_study();
  study.forest.leaf = 100;
  const std::size_t all = entrants(study);
  study.forest.leaf = 100'000;
  EXPECT_EQ(entrants(study), all - 1);
  study.forest.leaf = 100;
  study.method.concave = {"revenue"};
  EXPECT_EQ(entrants(study), all - 1) << "a forest knows no falling steps";
  study.forest.trees = 0;
  EXPECT_THROW(entrants(study), core::Error);
}

}  // namespace
}  // namespace dfcl::train
