// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "small_trial.h"
#include "trained_model.h"

namespace dfcl::train {
namespace {

// A small trial made ready, with all that a fit refers to.
struct SmallTraining {
  explicit SmallTraining(const data::Study& study, data::Trial units = small_trial())
      : trial(std::move(units)),
        context(2, 5),
        prepared(prepare(trial, study, find_method(study.method.name), context)),
        settings(settings_of(study, find_method(study.method.name), prepared.train_rows.size(), context.seed)),
        learner(make_learner(settings.method.learner, prepared, trial, study, settings, context)),
        set(prepared.training_set(trial)) {}

  learn::Fit fit() { return fit_stages(*learner, set, prepared, settings, 0, nullptr, "", {}, context); }
  learn::Fit fit_prediction(std::size_t epochs) {
    return learner->fit(set, prediction_objective(prepared, settings.method), {.epochs = epochs}, context);
  }

  data::Trial trial;
  core::RunContext context;
  Preparation prepared;
  Settings settings;
  std::unique_ptr<learn::Learner> learner;
  learn::TrainingSet set;
};

// Predicts the same for every unit: the revenue and cost of each arm.
class Constant final : public learn::Predictor {
 public:
  Constant(std::vector<float> revenue, std::vector<float> cost)
      : revenue_(std::move(revenue)), cost_(std::move(cost)) {}
  const char* kind() const override { return "constant"; }
  void predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext&) const override {
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      std::ranges::copy(revenue_, out.revenue.row(unit).begin());
      std::ranges::copy(cost_, out.cost.row(unit).begin());
    }
  }
  learn::Description describe(const learn::Schema&) const override { return {}; }
  void require_fits(const learn::Schema&, const std::string&) const override {}
  void save(learn::PartWriter) const override {}

 private:
  std::vector<float> revenue_, cost_;
};

// A learner that has nothing to learn: each fit yields what it was told, and lets it be judged.
class Told final : public learn::Learner {
 public:
  Told(std::vector<float> revenue, std::vector<float> cost) : revenue_(std::move(revenue)), cost_(std::move(cost)) {}
  learn::Fit fit(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 core::RunContext& context) const override {
    learn::Fit fit{std::make_unique<Constant>(revenue_, cost_), {}, {}};
    for (std::size_t epoch = 0; epoch < stage.epochs; ++epoch) {
      learn::EpochRecord record;
      record.epoch = stage.first_epoch + epoch + 1;
      record.decides = objective.decides;
      const learn::Predicted predicted = learn::predict_scaled(*fit.predictor, set, set.validation_rows, context);
      if (stage.judge) stage.judge(predicted, epoch + 1 == stage.epochs, record);
      fit.record.push_back(record);
    }
    return fit;
  }

 private:
  std::vector<float> revenue_, cost_;
};

// The median over units and multipliers of the distance between the best two scores.
double median_margin(const learn::Predicted& predicted, const std::vector<double>& multipliers) {
  std::vector<double> margins;
  for (const double multiplier : multipliers) {
    for (std::size_t unit = 0; unit < predicted.revenue.rows(); ++unit) {
      std::vector<double> scores;
      for (std::size_t arm = 0; arm < predicted.revenue.cols(); ++arm) {
        scores.push_back(static_cast<double>(predicted.revenue(unit, arm)) -
                         multiplier * static_cast<double>(predicted.cost(unit, arm)));
      }
      std::sort(scores.rbegin(), scores.rend());
      margins.push_back(scores[0] - scores[1]);
    }
  }
  std::sort(margins.begin(), margins.end());
  return margins[margins.size() / 2];
}

TEST(Stages, TemperaturesAreMeasuredInTheUsualDistanceOfTheBestTwoScores) {
  data::Study study = small_study("dfcl-mer");
  study.method.temperature = 0.75;
  SmallTraining made(study);
  const learn::Fit warm = made.fit_prediction(3);
  const DecisionPrices prices = decision_prices(*warm.predictor, made.set, made.prepared, made.settings, made.context);
  const double margin = median_margin(
      learn::predict_scaled(*warm.predictor, made.set, made.prepared.train_rows, made.context), prices.multipliers);
  EXPECT_GT(margin, 0.0);
  EXPECT_NEAR(prices.temperature, 0.75 * margin, 1e-6 * margin);

  study.method.as_published = true;
  SmallTraining published(study);
  EXPECT_EQ(decision_prices(*warm.predictor, published.set, published.prepared, published.settings, published.context)
                .temperature,
            0.75);
}

TEST(Stages, EpochsOfDecisionsFollowThoseOfPredictionAndAreJudged) {
  data::Study study = small_study("dfcl-mer");
  study.method.epochs = 30;
  data::Trial trial = small_trial();  // with arms that matter
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.revenue[unit] *= 1.0f + 2.0f * trial.arm[unit];
  SmallTraining made(study, std::move(trial));
  const learn::Fit fit = made.fit();
  ASSERT_EQ(fit.record.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(fit.record[i].epoch, i + 1);
    EXPECT_EQ(fit.record[i].decides, i >= made.settings.warm_epochs);
    EXPECT_EQ(fit.record[i].validation_value.has_value(), fit.record[i].decides) << "epoch " << i + 1;
    EXPECT_EQ(fit.record[i].multipliers.empty(), !fit.record[i].decides);
  }
}

// Any learner can be fine-tuned; one that then predicts the opposite of the truth loses value.
TEST(Stages, DecisionsThatLoseValueOnTheValidationUnitsAreUndone) {
  data::Trial trial = small_trial();
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.revenue[unit] *= 1.0f + 2.0f * trial.arm[unit];
  data::Study study = small_study("dfcl-mer");
  study.method.multipliers = {0.1};
  SmallTraining made(study, std::move(trial));
  const Constant good({2.0f, 8.0f, 15.0f}, {0.0f, 0.5f, 1.0f});
  const auto tuned = [&](const Told& learner) {
    return fine_tune(learner, made.set, made.prepared, made.settings, good, {}, made.context);
  };
  const FineTuned worse = tuned(Told({15.0f, 8.0f, 2.0f}, {0.0f, 0.5f, 1.0f}));
  EXPECT_TRUE(worse.went_back);
  EXPECT_TRUE(worse.fit.record.back().went_back);
  for (std::size_t i = 0; i + 1 < worse.fit.record.size(); ++i) EXPECT_FALSE(worse.fit.record[i].went_back);
  EXPECT_FALSE(tuned(Told({2.0f, 8.0f, 15.0f}, {0.0f, 0.5f, 1.0f})).went_back);
}

TEST(Stages, TwoStageLearningIsOneFit) {
  SmallTraining made(small_study("tsm"));
  const learn::Fit both = made.fit();
  EXPECT_EQ(both.record.size(), 4u);
  EXPECT_EQ(parts_of(*both.predictor).members, parts_of(*made.fit_prediction(4).predictor).members);
}

}  // namespace
}  // namespace dfcl::train
