// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/preparation.h"

#include <gtest/gtest.h>

#include <span>

#include "dfcl/core/error.h"
#include "dfcl/nn/network_learner.h"
#include "dfcl/nn/network_predictor.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

using loss::OutcomeKind;

Preparation prepare_for(const data::Trial& trial, const data::Study& study) {
  core::RunContext context(1);
  return prepare(trial, study, find_method(study.method.name), context);
}

core::ErrorDetails refusal(const data::Trial& trial, const data::Study& study) {
  try {
    (void)prepare_for(trial, study);
  } catch (const core::Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

double mean_of_training(const data::Trial& trial, std::span<const float> values) {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] != data::Split::train) continue;
    sum += static_cast<double>(values[unit]);
    count += 1.0;
  }
  return sum / count;
}

TEST(Preparation, TakesTheUnitsOfTheSplit) {
  const data::Trial trial = small_trial();
  const Preparation prepared = prepare_for(trial, small_study("tsm"));
  EXPECT_EQ(prepared.train_rows.size(), 1200u);
  EXPECT_EQ(prepared.validation_rows.size(), 400u);
  for (const std::uint32_t row : prepared.train_rows) EXPECT_EQ(trial.split[row], data::Split::train);
  for (const std::uint32_t row : prepared.validation_rows) EXPECT_EQ(trial.split[row], data::Split::validation);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_EQ(prepared.is_training[unit] != 0, trial.split[unit] == data::Split::train);
  }
}

TEST(Preparation, ChoosesTheKindOfOutcomeFromTheTrainingUnits) {
  data::Trial trial = small_trial();
  EXPECT_EQ(prepare_for(trial, small_study("tsm")).facts.revenue.kind, OutcomeKind::non_negative);
  for (float& value : trial.revenue) value = value > 2.0f ? 1.0f : 0.0f;
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.cost[unit] -= 1.0f;
  Preparation prepared = prepare_for(trial, small_study("tsm"));
  EXPECT_EQ(prepared.facts.revenue.kind, OutcomeKind::binary);
  EXPECT_EQ(prepared.facts.cost.kind, OutcomeKind::real);
  trial.revenue[9] = 7.0f;  // a test unit: nothing may be learned from it, its kind included
  ASSERT_EQ(trial.split[9], data::Split::test);
  prepared = prepare_for(trial, small_study("tsm"));
  EXPECT_EQ(prepared.facts.revenue.kind, OutcomeKind::binary);
}

TEST(Preparation, ADeclaredKindComesFirst) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  study.network.revenue_kind = "real";
  EXPECT_EQ(prepare_for(trial, study).facts.revenue.kind, OutcomeKind::real);
}

TEST(Preparation, ADeclaredKindThatTheDataContradictIsRefusedWithTheValue) {
  data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  study.network.revenue_kind = "binary";
  core::ErrorDetails details = refusal(trial, study);
  EXPECT_EQ(details.kind, core::ErrorKind::usage);
  EXPECT_EQ(details.field, "network.revenue_kind");
  EXPECT_EQ(details.what, "the revenue of the training units is not binary");
  // The value named must be one that is neither 0 nor 1.
  EXPECT_NE(details.found, "a value of 0");
  EXPECT_NE(details.found, "a value of 1");

  study.network.revenue_kind = "non_negative";
  trial.revenue[1] = -2.5f;
  details = refusal(trial, study);
  EXPECT_EQ(details.found, "a value of -2.5");
}

TEST(Preparation, NonNegativeOutcomesAreDividedByTheirMean) {
  const data::Trial trial = small_trial();
  const Preparation prepared = prepare_for(trial, small_study("tsm"));
  EXPECT_EQ(prepared.scales.revenue.center, 0.0);
  EXPECT_DOUBLE_EQ(prepared.scales.revenue.scale, mean_of_training(trial, trial.revenue));
  EXPECT_NEAR(mean_of_training(trial, prepared.revenue), 1.0, 1e-6);
  EXPECT_NEAR(mean_of_training(trial, prepared.cost), 1.0, 1e-6);
  EXPECT_DOUBLE_EQ(prepared.scales.multiplier_factor(), prepared.scales.cost.scale / prepared.scales.revenue.scale);
}

TEST(Preparation, RealRevenueIsStandardisedAndCostKeepsItsZero) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  study.network.revenue_kind = "real";
  study.network.cost_kind = "real";
  const Preparation prepared = prepare_for(trial, study);
  EXPECT_NEAR(mean_of_training(trial, prepared.revenue), 0.0, 1e-6);
  std::vector<float> squares;
  for (const float value : prepared.revenue) squares.push_back(value * value);
  EXPECT_NEAR(mean_of_training(trial, squares), 1.0, 1e-5);
  EXPECT_EQ(prepared.scales.cost.center, 0.0);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.cost[unit] == 0.0f) {
      EXPECT_EQ(prepared.cost[unit], 0.0f);
    }
  }
}

TEST(Preparation, WeightsAreOneOverTheArmsShareAmongTrainingUnits) {
  data::Trial trial = small_trial();
  Preparation prepared = prepare_for(trial, small_study("tsm"));
  std::vector<double> sums(3);
  for (const std::uint32_t row : prepared.train_rows) sums[trial.arm[row]] += static_cast<double>(prepared.weight[row]);
  for (const double sum : sums) EXPECT_NEAR(sum, 1200.0, 1e-2);

  trial.propensity.assign(trial.num_units(), 0.25f);
  prepared = prepare_for(trial, small_study("tsm"));
  for (const float weight : prepared.weight) EXPECT_EQ(weight, 4.0f);
}

// Sums over training units are those of units that stand as often as their weights say, but for a common factor.
TEST(Preparation, WholeSampleWeightsAreRepeatedUnits) {
  data::Trial trial = small_trial();
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.weight.push_back(static_cast<float>(1 + unit % 3));
  const Preparation prepared = prepare_for(trial, small_study("tsm"));
  std::vector<double> copies(3), sums(3), expected(3);
  double all = 0.0, sample = 0.0;
  for (const std::uint32_t row : prepared.train_rows) {
    copies[trial.arm[row]] += static_cast<double>(trial.weight[row]);
    all += static_cast<double>(trial.weight[row]);
    sample += static_cast<double>(prepared.sample[row]);
  }
  for (const std::uint32_t row : prepared.train_rows) {
    const std::size_t arm = trial.arm[row];
    sums[arm] += static_cast<double>(prepared.weight[row]) * static_cast<double>(trial.revenue[row]);
    expected[arm] +=
        static_cast<double>(trial.weight[row]) * (all / copies[arm]) * static_cast<double>(trial.revenue[row]);
  }
  const double factor = static_cast<double>(prepared.train_rows.size()) / all;
  for (std::size_t arm = 0; arm < 3; ++arm) EXPECT_NEAR(sums[arm] / (factor * expected[arm]), 1.0, 1e-6);
  EXPECT_NEAR(sample, static_cast<double>(prepared.train_rows.size()), 1e-2);
}

TEST(Preparation, AnArmWithoutTrainingUnitsIsRefused) {
  data::Trial trial = small_trial();
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.arm[unit] == 2) trial.split[unit] = data::Split::test;
  }
  core::ErrorDetails details = refusal(trial, small_study("tsm"));
  EXPECT_EQ(details.kind, core::ErrorKind::data);
  EXPECT_EQ(details.what, "no training units in arm '2'");

  trial.split.assign(trial.num_units(), data::Split::test);
  details = refusal(trial, small_study("tsm"));
  EXPECT_EQ(details.kind, core::ErrorKind::data);
  EXPECT_EQ(details.what, "no training units");
}

TEST(Preparation, MethodsThatDoNotFitTheArmsAreRefused) {
  data::Trial trial = small_trial();
  EXPECT_EQ(refusal(trial, small_study("drp")).what, "drp is for trials of two arms");
  trial.arms.ordered = false;
  EXPECT_EQ(refusal(trial, small_study("dpm")).what, "dpm needs ordered arms");
  data::Study study = small_study("tsm");
  study.method.monotone = {"revenue"};
  EXPECT_EQ(refusal(trial, study).field, "method.monotone");
}

TEST(Preparation, CostsThatRiseWithTheArmNeedAnOrderThatBeginsWithControl) {
  data::Trial trial = small_trial();
  trial.arms.ordered = false;
  EXPECT_EQ(refusal(trial, small_study("tsm")).field, "cost.rises_with_arm");
  data::Study study = small_study("tsm");
  study.cost.rises_with_arm = false;
  EXPECT_NO_THROW(prepare_for(trial, study));
  trial.arms.ordered = true;
  trial.arms.control = 1;
  EXPECT_EQ(refusal(trial, small_study("tsm")).field, "cost.rises_with_arm");
}

TEST(Preparation, ShapesThatAMethodDoesNotHaveAreRefused) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm-forest");
  study.method.concave = {"cost"};
  EXPECT_EQ(refusal(trial, study).field, "method.concave");
  study = small_study("dpm");
  study.method.monotone = {"revenue"};
  EXPECT_EQ(refusal(trial, study).expected, "cost");
  study.method.monotone = {"cost"};
  EXPECT_NO_THROW(prepare_for(trial, study));
}

// The network that a study asks for.
const nn::NetworkLearner& network_of(const std::unique_ptr<learn::Learner>& learner) {
  return dynamic_cast<const nn::NetworkLearner&>(*learner);
}
std::unique_ptr<learn::Learner> learner_for(const data::Trial& trial, const data::Study& study) {
  core::RunContext context(1);
  const Method& method = find_method(study.method.name);
  const Preparation prepared = prepare(trial, study, method, context);
  const Settings settings = settings_of(study, method, prepared.train_rows.size(), 5);
  return make_learner(method.learner, prepared, trial, study, settings, context);
}

TEST(Preparation, ANetworkOfTooManyUnitsIsRefused) {
  data::Study study = small_study("tsm");
  study.network.shared = {8};
  study.network.hidden = {};
  EXPECT_NO_THROW((void)learner_for(small_trial(), study));
  study.network.shared.assign(nn::kMostNeurons / nn::kMostWidth, nn::kMostWidth);
  try {
    (void)learner_for(small_trial(), study);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.details().what, "too wide");
  }
}

TEST(Preparation, EfficienciesNeedCostsThatRise) {
  data::Trial trial = small_trial();
  EXPECT_NO_THROW(prepare_for(trial, small_study("dpm")));
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) trial.cost[unit] = 1.0f + trial.arm[unit] % 2;
  data::Study study = small_study("dpm");
  study.cost = {};
  EXPECT_EQ(refusal(trial, study).found, "arm '2' costs no more than '1'");
  study = small_study("tsm");
  study.cost = {};
  EXPECT_NO_THROW(prepare_for(trial, study));
}

TEST(Preparation, NumbersAreScaledAsTheStudySays) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  const auto preprocessing = [&] { return network_of(learner_for(trial, study)).preprocessing(); };
  const nn::Preprocessing standard = preprocessing();
  study.network.scaling = "unit";
  const nn::Preprocessing unit = preprocessing();
  EXPECT_FALSE(unit == standard);
  study.network.scaling.reset();
  study.method.as_published = true;
  EXPECT_EQ(preprocessing(), unit);
  study.network.scaling = "standard";
  EXPECT_EQ(preprocessing(), standard);
}

TEST(Preparation, AsPublishedCountsAreFittedBySquaredError) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("dfcl-mer");
  EXPECT_EQ(prepare_for(trial, study).facts.revenue.kind, loss::OutcomeKind::non_negative);
  study.method.as_published = true;
  EXPECT_EQ(prepare_for(trial, study).facts.revenue.kind, loss::OutcomeKind::real);
  study.network.revenue_kind = "non_negative";
  EXPECT_EQ(prepare_for(trial, study).facts.revenue.kind, loss::OutcomeKind::non_negative);
}

TEST(Preparation, WhatIsKnownAboutCostShapesItsHeadUnlessAsPublished) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  Preparation prepared = prepare_for(trial, study);
  EXPECT_TRUE(prepared.facts.cost.control_is_free);
  EXPECT_EQ(prepared.facts.cost.arm_shape, learn::ArmShape::monotone);
  EXPECT_EQ(prepared.facts.revenue.arm_shape, learn::ArmShape::plain);
  study.method.as_published = true;
  prepared = prepare_for(trial, study);
  EXPECT_FALSE(prepared.facts.cost.control_is_free);
  EXPECT_EQ(prepared.facts.cost.arm_shape, learn::ArmShape::plain);
  study = small_study("cn");
  study.method.concave = {"revenue"};
  prepared = prepare_for(trial, study);
  EXPECT_EQ(prepared.facts.revenue.arm_shape, learn::ArmShape::concave);
}

TEST(Preparation, AControlThatNeverCostsIsFreeThoughNobodySaysSo) {
  data::Trial trial = small_trial();
  data::Study study = small_study("tsm-boost");
  study.cost = {};
  EXPECT_TRUE(prepare_for(trial, study).facts.cost.control_is_free);
  const auto control_unit_of = [&](data::Split split) {
    std::size_t unit = 0;
    while (trial.arm[unit] != trial.arms.control || trial.split[unit] != split) ++unit;
    return unit;
  };
  trial.cost[control_unit_of(data::Split::test)] = 0.25f;
  EXPECT_TRUE(prepare_for(trial, study).facts.cost.control_is_free) << "test units are not looked at";
  trial.cost[control_unit_of(data::Split::validation)] = 0.25f;
  EXPECT_FALSE(prepare_for(trial, study).facts.cost.control_is_free);
  trial = small_trial(100);
  EXPECT_FALSE(prepare_for(trial, study).facts.cost.control_is_free) << "few units prove nothing";
  study.method.as_published = true;
  EXPECT_FALSE(prepare_for(small_trial(), study).facts.cost.control_is_free);
}

}  // namespace
}  // namespace dfcl::train
