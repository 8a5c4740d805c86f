// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/settings.h"

#include <gtest/gtest.h>

#include <functional>

#include "dfcl/core/error.h"

namespace dfcl::train {
namespace {

data::Study study_with(const std::function<void(data::Study::Method&)>& change) {
  data::Study study;
  change(study.method);
  return study;
}

Settings settings_with(const data::Study& study, const char* method = "dfcl-mer", std::size_t num_units = 100'000) {
  return settings_of(study, find_method(method), num_units, 1);
}

TEST(Settings, ValuesThatDoNotGoTogetherAreRefusedByTheirKey) {
  using M = data::Study::Method;
  const std::pair<const char*, std::function<void(M&)>> cases[] = {
      {"method.warm_epochs", [](M& method) { method.warm_epochs = 1'000; }},
      {"method.epochs", [](M& method) { method.epochs = 1; }},
  };
  for (const auto& [field, change] : cases) {
    try {
      (void)settings_with(study_with(change));
      ADD_FAILURE() << field << " was accepted";
    } catch (const core::Error& error) {
      EXPECT_EQ(error.kind(), core::ErrorKind::usage);
      EXPECT_EQ(error.details().field, field);
      EXPECT_FALSE(error.details().found.empty());
      EXPECT_FALSE(error.details().expected.empty());
    }
  }
}

TEST(Settings, WhatTheStudySaysIsTaken) {
  const Settings settings = settings_with(study_with([](data::Study::Method& method) {
    method.epochs = 7;
    method.batch = 333;
    method.learning_rate = 0.25;
    method.weight_decay = 0.0;
    method.alpha = 0.5;
    method.temperature = 3.0;
    method.baseline = "dr";
    method.multipliers = {1.5, 2.5};
    method.ensemble = 3;
  }));
  EXPECT_EQ(settings.epochs, 7u);
  EXPECT_EQ(settings.steps.batch, 333u);
  EXPECT_EQ(settings.steps.rate, 0.25);
  EXPECT_EQ(settings.steps.weight_decay, 0.0);
  EXPECT_EQ(settings.alpha, 0.5);
  EXPECT_EQ(settings.temperature, 3.0);
  EXPECT_EQ(settings.baseline, loss::Baseline::doubly_robust);
  EXPECT_EQ(settings.multipliers, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(settings.ensemble, 3u);
}

TEST(Settings, ABatchIsNeverLargerThanTheTrainingUnits) {
  const data::Study study = study_with([](data::Study::Method& method) { method.batch = 1'000'000; });
  EXPECT_EQ(settings_with(study, "tsm", 100).steps.batch, 100u);
  EXPECT_EQ(settings_with({}, "tsm", 100).steps.batch, 100u);
  EXPECT_LE(settings_with({}, "tsm", 100'000'000).steps.batch, 65'536u);
}

TEST(Settings, OnlyDecisionMethodsHaveAPartAfterTheWarmStart) {
  for (const Method& method : all_methods()) {
    const Settings settings = settings_with({}, method.name);
    const bool decides = method.decides();
    EXPECT_EQ(settings.warm_epochs < settings.epochs, decides) << method.name;
    EXPECT_GE(settings.warm_epochs, 1u) << method.name;
  }
}

TEST(Settings, AsPublishedTurnsOffWhatMakesItWork) {
  data::Study study = study_with([](data::Study::Method& method) { method.as_published = true; });
  study.cost.control_is_free = true;
  const Settings settings = settings_with(study);
  EXPECT_EQ(settings.baseline, loss::Baseline::none);
  EXPECT_FALSE(settings.relative_temperature);
  EXPECT_EQ(settings.temperature, find_method("dfcl-mer").published_temperature);
  EXPECT_FALSE(settings.multipliers.empty());
  EXPECT_TRUE(settings.gradient_to_cost);
}

TEST(Settings, TheDecisionReachesCostOnlyWhereSomethingIsKnownAboutIt) {
  data::Study study;
  EXPECT_FALSE(settings_with(study).gradient_to_cost);
  study.cost.non_negative = true;
  EXPECT_FALSE(settings_with(study).gradient_to_cost) << "this alone holds no cost in place";
  study.cost.control_is_free = true;
  EXPECT_TRUE(settings_with(study).gradient_to_cost);
}

TEST(Methods, AMisspeltNameIsAnsweredWithTheLikelyOne) {
  try {
    (void)find_method("dfcl-mre");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'dfcl-mer'?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dfcl::train
