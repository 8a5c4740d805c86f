// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dfcl::learn {
namespace {

struct Table {
  Table(float control, float treated) : revenue(1, 2), cost(1, 2) {
    revenue(0, 0) = control;
    revenue(0, 1) = treated;
    cost(0, 0) = 0.0f;
    cost(0, 1) = 0.25f;
  }
  Outcomes view() { return {revenue.view(), cost.view()}; }
  core::Matrix<float> revenue, cost;
};

constexpr OutcomeForm kCount{loss::OutcomeKind::non_negative, false};
constexpr OutcomeForm kProbability{loss::OutcomeKind::binary, false};

TEST(Calibration, ShiftsOnTheScaleOfTheLink) {
  EXPECT_EQ(shifted({}, 2.0, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(shifted(kCount, 2.0, std::log(1.5)), 3.0);
  EXPECT_DOUBLE_EQ(shifted(kProbability, 0.5, std::log(3.0)), 0.75);
  EXPECT_EQ(shifted(kProbability, 0.0, 1.0), 0.0);
  EXPECT_EQ(shifted(kProbability, 1.0, 1.0), 1.0);
  EXPECT_EQ(shifted(kProbability, 0.1, 0.0), 0.1) << "exactly";
}

TEST(Calibration, ShrinksEffectsTowardsTheirMeanAndKeepsTheOutcomeWithinItsRange) {
  Calibration calibration;
  calibration.revenue = {kCount, {0.0, std::log(2.0)}, {0.0, 1.0}, 0.5, 0.5, 0.1};
  Table table(4.0f, 5.0f);
  calibrate(calibration, 0, table.view());
  EXPECT_EQ(table.revenue(0, 0), 4.0f);
  EXPECT_EQ(table.revenue(0, 1), 4.0f + 0.5f * 1.0f + 0.5f * 6.0f);  // 10 after the factor
  EXPECT_EQ(table.cost(0, 1), 0.25f) << "cost is known";
  calibration.revenue.center = {0.0, -10.0};
  Table low(1.0f, 0.5f);
  calibrate(calibration, 0, low.view());
  EXPECT_EQ(low.revenue(0, 1), 0.0f);
}

TEST(Calibration, EffectsAreFreedOfTheBaseAndMultipliedBeforeTheyAreBounded) {
  Calibration calibration;
  calibration.revenue = {{}, {0.0, 0.0}, {0.0, 1.0}, 2.0, 2.0, 0.1, {0.0, 0.5}, -0.5};
  calibration.cost = {kCount, {0.0, 0.0}, {0.0, 0.25}, 1.0, 1.0, 0.1, {0.0, 0.2}, 1.0, 1.5};
  calibration.base_mean = 2.0;
  calibration.base_spread = 1.0;
  Table table(4.0f, 5.5f);  // two deviations above the mean
  calibrate(calibration, 0, table.view());
  EXPECT_FLOAT_EQ(table.revenue(0, 1), 4.0f + (1.0f + 2.0f * 0.5f - 0.5f * 0.5f * 2.0f));
  EXPECT_FLOAT_EQ(table.cost(0, 1), 1.5f * (0.25f + 1.0f * 0.2f * 2.0f));
  Table far(-400.0f, -399.0f);  // deviations are kept within three
  calibrate(calibration, 0, far.view());
  EXPECT_FLOAT_EQ(far.revenue(0, 1), -400.0f + (1.0f + 0.5f * 0.5f * 3.0f));
  EXPECT_EQ(far.cost(0, 1), 0.0f) << "1.5 x (0.25 - 0.6) lies below what a cost can be";
}

TEST(Calibration, ErrorsOfEffectsAreStretchedAlike) {
  Calibration calibration;
  calibration.revenue = {kCount, {0.0, std::log(2.0)}, {0.0, 1.0}, 0.5, 0.5, 0.1};
  Table errors(0.0f, 3.0f);
  calibrate_errors(calibration, errors.view());
  EXPECT_EQ(errors.revenue(0, 1), 3.0f);
  EXPECT_EQ(errors.cost(0, 1), 0.25f);
  calibration.revenue.slope = 0.0;
  Table unsure(0.0f, 3.0f);
  calibrate_errors(calibration, unsure.view());
  EXPECT_FLOAT_EQ(unsure.revenue(0, 1), 0.1f * 2.0f * 3.0f) << "a slope of 0 has an error of its own";
}

TEST(Calibration, ASlopeWhoseIntervalHoldsZeroIsUnsupported) {
  Calibration::Outcome outcome{{}, {0.0, 0.0}, {0.0, 0.0}, 0.2, 0.2, 0.15};
  EXPECT_TRUE(outcome.is_unsupported());
  outcome.slope_error = 0.05;
  EXPECT_FALSE(outcome.is_unsupported());
  outcome.slope_error = 0.0;
  EXPECT_FALSE(outcome.is_unsupported());
}

TEST(MeanEffect, StandsOnThePredictionOfControl) {
  MeanEffect mean;
  mean.weight = 1.0;
  mean.revenue = {kCount, {0.0, 0.5}};
  Table table(4.0f, 9.0f);
  mix_mean_effect(mean, 0, table.view());
  EXPECT_EQ(table.revenue(0, 0), 4.0f);
  EXPECT_EQ(table.revenue(0, 1), 4.5f);
  EXPECT_EQ(table.cost(0, 1), 0.25f) << "not learned";
  mean.weight = 0.25;
  Table part(4.0f, 8.0f);
  mix_mean_effect(mean, 0, part.view());
  EXPECT_EQ(part.revenue(0, 1), 4.0f + 0.75f * 4.0f + 0.25f * 0.5f);
  mean.revenue.effect = {0.0, -100.0};
  mix_mean_effect(mean, 0, part.view());
  EXPECT_EQ(part.revenue(0, 1), 0.0f);
}

}  // namespace
}  // namespace dfcl::learn
