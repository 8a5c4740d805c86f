// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/member_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "small_trial.h"

namespace dfcl::train {
namespace {

// One network of a small trial, with all that it refers to.
struct SmallTraining {
  explicit SmallTraining(const data::Study& study, data::Trial units = small_trial())
      : trial(std::move(units)),
        context(2, 5),
        prepared(prepare(trial, study, find_method(study.method.name), context)),
        settings(settings_of(study, find_method(study.method.name), prepared.train_rows.size(), context.seed)),
        trainer(trial, prepared, settings, 0, prepared.train_rows, context) {
    while (!trainer.finished()) trainer.run_epoch();
  }

  data::Trial trial;
  core::RunContext context;
  Preparation prepared;
  Settings settings;
  MemberTrainer trainer;
};

// The median over units and multipliers of the distance between the best two scores.
double median_margin(const core::Matrix<float>& revenue, const core::Matrix<float>& cost,
                     const std::vector<double>& multipliers) {
  std::vector<double> margins;
  for (const double multiplier : multipliers) {
    for (std::size_t unit = 0; unit < revenue.rows(); ++unit) {
      std::vector<double> scores;
      for (std::size_t arm = 0; arm < revenue.cols(); ++arm) {
        scores.push_back(static_cast<double>(revenue(unit, arm)) - multiplier * static_cast<double>(cost(unit, arm)));
      }
      std::sort(scores.rbegin(), scores.rend());
      margins.push_back(scores[0] - scores[1]);
    }
  }
  std::sort(margins.begin(), margins.end());
  return margins[margins.size() / 2];
}

TEST(MemberTrainer, TemperaturesAreMeasuredInTheUsualDistanceOfTheBestTwoScores) {
  data::Study study = small_study("dfcl-mer");
  study.method.temperature = 0.75;
  SmallTraining made(study);
  const MemberState& state = made.trainer.state();
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  made.trainer.predict(state.warm_parameters, made.prepared.train_rows, revenue, cost);
  const double margin = median_margin(revenue, cost, state.multipliers);
  EXPECT_GT(margin, 0.0);
  EXPECT_NEAR(state.temperature, 0.75 * margin, 1e-6 * margin);

  study.method.as_published = true;
  SmallTraining published(study);
  EXPECT_EQ(published.trainer.state().temperature, 0.75);
}

TEST(MemberTrainer, DecisionEpochsThatLoseValueOnTheValidationUnitsAreUndone) {
  data::Study study = small_study("dfcl-mer");
  study.method.epochs = 30;
  data::Trial trial = small_trial();  // with arms that matter
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.revenue[unit] *= 1.0f + 2.0f * trial.arm[unit];
  SmallTraining gentle(study, std::move(trial));
  EXPECT_EQ(gentle.trainer.state().record.size(), 30u);
  for (const EpochRecord& record : gentle.trainer.state().record)
    EXPECT_EQ(record.validation_value.has_value(), record.decides) << "epoch " << record.epoch;

  MemberTrainer trainer(gentle.trial, gentle.prepared, gentle.settings, 0, gentle.prepared.train_rows, gentle.context);
  while (trainer.state().epochs_done < 29) trainer.run_epoch();
  const std::vector<float> warm = trainer.state().warm_parameters;
  for (float& parameter : trainer.state().parameters) parameter = -parameter;  // decides against all it knew
  while (!trainer.finished()) trainer.run_epoch();
  EXPECT_TRUE(trainer.state().record.back().went_back);
  EXPECT_EQ(trainer.result(), warm);
}

TEST(MemberTrainer, TwoStageLearningKeepsItsLastEpoch) {
  SmallTraining made(small_study("tsm"));
  EXPECT_EQ(made.trainer.result(), made.trainer.state().parameters);
  EXPECT_EQ(made.trainer.state().record.size(), 4u);
}

TEST(MemberTrainer, EpochsSeeTheUnitsInDifferentOrders) {
  // From the same start, the first and the second epoch end differently.
  data::Study study = small_study("tsm");
  study.method.epochs = 2;
  study.method.batch = 64;
  SmallTraining made(study);
  const auto one_epoch_from = [&](std::size_t epoch) {
    MemberTrainer trainer(made.trial, made.prepared, made.settings, 0, made.prepared.train_rows, made.context);
    trainer.state().epochs_done = epoch;
    trainer.run_epoch();
    return trainer.state().parameters;
  };
  EXPECT_EQ(one_epoch_from(0), one_epoch_from(0));
  EXPECT_NE(one_epoch_from(0), one_epoch_from(1));
}

}  // namespace
}  // namespace dfcl::train
