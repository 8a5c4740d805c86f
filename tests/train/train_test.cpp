// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "../io/temporary_folder.h"
#include "dfcl/allocate/allocate.h"
#include "dfcl/core/error.h"
#include "dfcl/learn/record_json.h"
#include "dfcl/model/model_file.h"
#include "dfcl/model/predict.h"
#include "dfcl/train/methods.h"
#include "small_trial.h"
#include "trained_model.h"

namespace dfcl::train {
namespace {

model::Model train_small(const data::Trial& trial, const data::Study& study, int threads = 2) {
  core::RunContext context(threads, 5);
  return train(trial, study, {}, context);
}

std::string bytes_of(const model::Model& model) { return io::safetensors_bytes(model::tensor_file_of(model)); }

std::vector<learn::EpochRecord> record_of(const model::Model& model) {
  return learn::parse_record(model.record, "test");
}

data::Prediction predictions_of(const model::Model& model, const data::Trial& trial) {
  core::RunContext context(2);
  return model::predict(model, trial.features, trial.ids, context);
}

// The plan of the model's predictions at a share of the costliest.
std::vector<std::uint8_t> plan_of(const model::Model& model, const data::Trial& trial, double share) {
  core::RunContext context(2);
  const data::Prediction prediction = predictions_of(model, trial);
  const allocate::Problem problem{.revenue = prediction.revenue.view(), .cost = prediction.cost.view()};
  return allocate::allocate(problem, share * allocate::spend_range(problem, context).costliest, context).arm;
}

// Two arms for the methods that know no more.
std::size_t arms_for(const Method& method) { return method.two_arms_only ? 2 : 3; }

data::Study brief_study(const Method& method) {
  data::Study study = small_study(method.name);
  study.method.epochs = 3;
  return study;
}

TEST(Train, TwoStageLearningLowersTheLossAndFindsTheLift) {
  const data::Trial trial = small_trial(4000);
  data::Study study = small_study("tsm");
  study.method.epochs = 15;
  const model::Model model = train_small(trial, study);
  const std::vector<learn::EpochRecord> record = record_of(model);
  ASSERT_EQ(record.size(), 15u);
  EXPECT_LT(record.back().prediction_loss, record.front().prediction_loss - 0.1);
  EXPECT_LT(*record.back().validation_loss, *record.front().validation_loss);
  const data::Prediction prediction = predictions_of(model, trial);
  std::vector<double> predicted(3), seen(3), count(3);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm)
      predicted[arm] += static_cast<double>(prediction.revenue(unit, arm)) / 4000.0;
    seen[trial.arm[unit]] += static_cast<double>(trial.revenue[unit]);
    count[trial.arm[unit]] += 1.0;
  }
  for (std::size_t arm = 0; arm < 3; ++arm) EXPECT_NEAR(predicted[arm], seen[arm] / count[arm], 0.3) << "arm " << arm;
  EXPECT_GT(predicted[1], predicted[0]);
  EXPECT_GT(predicted[2], predicted[1]);
}

class EveryMethod : public testing::TestWithParam<const Method*> {};

TEST_P(EveryMethod, GivesAConsistentModelWithFinitePredictions) {
  const Method& method = *GetParam();
  const data::Trial trial = small_trial(2000, arms_for(method));
  const model::Model model = train_small(trial, brief_study(method));
  model::require_consistent(model, method.name);
  EXPECT_EQ(model.method, method.name);
  EXPECT_EQ(model.is_index(), method.learns_efficiencies());
  EXPECT_EQ(model.trained.num_units, 1200u);
  EXPECT_EQ(model.trained.trial_fingerprint, trial.fingerprint);
  ASSERT_EQ(model.multipliers.size(), 2u);
  const data::Prediction prediction = predictions_of(model, trial);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    EXPECT_EQ(prediction.cost(unit, 0), 0.0f);  // control is free
    for (std::size_t arm = 0; arm < trial.arms.size(); ++arm) {
      ASSERT_TRUE(std::isfinite(prediction.revenue(unit, arm)));
      ASSERT_TRUE(std::isfinite(prediction.cost(unit, arm)));
      if (arm > 0) {
        EXPECT_GE(prediction.cost(unit, arm), prediction.cost(unit, arm - 1));
      }
    }
  }
}

TEST_P(EveryMethod, OutcomesInAnotherCurrencyGiveTheSamePlan) {
  const Method& method = *GetParam();
  const data::Trial trial = small_trial(2000, arms_for(method));
  data::Trial scaled = small_trial(2000, arms_for(method));
  for (float& value : scaled.revenue) value *= 1024.0f;
  for (float& value : scaled.cost) value *= 0.125f;
  const model::Model model = train_small(trial, brief_study(method));
  const model::Model other = train_small(scaled, brief_study(method));
  if (dynamic_cast<const nn::NetworkPredictor*>(model.predictors.at(0).predictor.get()) != nullptr) {
    EXPECT_EQ(members_of(model), members_of(other));
  }
  EXPECT_EQ(plan_of(model, trial, 0.2), plan_of(other, scaled, 0.2));
}

TEST_P(EveryMethod, TheNumberOfThreadsChangesNothing) {
  const Method& method = *GetParam();
  const data::Trial trial = small_trial(2000, arms_for(method));
  data::Study study = brief_study(method);
  study.method.baseline = "dr";
  const std::string one = bytes_of(train_small(trial, study, 1));
  EXPECT_EQ(one, bytes_of(train_small(trial, study, 2)));
  EXPECT_EQ(one, bytes_of(train_small(trial, study, 8)));
}

std::vector<const Method*> pointers_to_methods() {
  std::vector<const Method*> list;
  for (const Method& method : all_methods()) list.push_back(&method);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Train, EveryMethod, testing::ValuesIn(pointers_to_methods()), [](const auto& tested) {
  std::string name = tested.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Train, ArraysInFilesGiveTheSameModel) {
  const io::TemporaryFolder folder;
  const data::Trial trial = small_trial();
  for (const char* method : {"tsm", "dfcl-mer"}) {
    data::Study study = brief_study(find_method(method));
    study.method.baseline = "dr";
    core::RunContext context(2, 5);
    context.scratch_folder = folder.file("");
    EXPECT_EQ(bytes_of(train(trial, study, {}, context)), bytes_of(train_small(trial, study))) << method;
  }
}

double share_of_equal_arms(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::size_t equal = 0;
  for (std::size_t unit = 0; unit < a.size(); ++unit) equal += a[unit] == b[unit] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

// What a plan earns a unit, by the units that got the arm it gives them; arms are drawn alike.
double value_of(const std::vector<std::uint8_t>& plan, const data::Trial& trial) {
  double sum = 0.0;
  for (std::size_t unit = 0; unit < plan.size(); ++unit) {
    if (plan[unit] == trial.arm[unit]) sum += static_cast<double>(trial.revenue[unit]);
  }
  return sum * static_cast<double>(trial.arms.size()) / static_cast<double>(plan.size());
}
constexpr double kNoise = 0.1;  // of such a value, on small_trial(): about one standard error

// Not a power of two: roundings differ, and with them the odd close call.
TEST(Train, OutcomesAHundredTimesAsLargeGiveNearlyTheSamePlan) {
  const data::Trial trial = small_trial();
  data::Trial larger = small_trial();
  for (float& value : larger.revenue) value *= 100.0f;
  for (float& value : larger.cost) value *= 100.0f;
  for (const char* method : {"tsm", "dfcl-mer", "dfcl-ifd"}) {
    const data::Study study = small_study(method);
    const auto plan = plan_of(train_small(trial, study), trial, 0.2);
    const auto other = plan_of(train_small(larger, study), larger, 0.2);
    EXPECT_GE(share_of_equal_arms(plan, other), 0.99) << method;
    EXPECT_NEAR(value_of(plan, trial), value_of(other, trial), kNoise) << method;
  }
}

TEST(Train, WithSquaredErrorEveryonesRevenueMayBeRaised) {
  const data::Trial trial = small_trial();
  data::Trial raised = small_trial();
  for (float& value : raised.revenue) value += 50.0f;
  for (const char* method : {"tsm", "dfcl-mer", "dfcl-ifd"}) {
    data::Study study = small_study(method);
    study.network.revenue_kind = "real";
    const auto plan = plan_of(train_small(trial, study), trial, 0.2);
    const auto other = plan_of(train_small(raised, study), raised, 0.2);
    EXPECT_GE(share_of_equal_arms(plan, other), 0.99) << method;
    EXPECT_NEAR(value_of(plan, trial), value_of(other, trial), kNoise) << method;
  }
}

TEST(Train, RealAndBinaryOutcomesAndHeadsOfTheirOwnAreTrainedToo) {
  data::Trial trial = small_trial();
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    trial.cost[unit] -= 0.5f;
    trial.revenue[unit] = trial.revenue[unit] > 2.0f ? 1.0f : 0.0f;
  }
  data::Study study = small_study("dfcl-mer");
  study.cost = {};
  study.network.hidden = {};
  study.network.shared = {16};
  study.network.heads = {8};
  const model::Model model = train_small(trial, study);
  model::require_consistent(model, "test");
  const data::Prediction prediction = predictions_of(model, trial);
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      EXPECT_GT(prediction.revenue(unit, arm), 0.0f);
      EXPECT_LT(prediction.revenue(unit, arm), 1.0f);
      ASSERT_TRUE(std::isfinite(prediction.cost(unit, arm)));
    }
  }
}

TEST(Train, AnEnsembleHasDifferentMembersAndARecordOfEach) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("tsm");
  study.method.ensemble = 3;
  const model::Model model = train_small(trial, study);
  ASSERT_EQ(members_of(model).size(), 3u);
  EXPECT_NE(members_of(model)[0], members_of(model)[1]);
  EXPECT_NE(members_of(model)[1], members_of(model)[2]);
  EXPECT_EQ(record_of(model).size(), 12u);
  EXPECT_EQ(record_of(model).back().member, 2u);
  study.method.ensemble = 1;
  EXPECT_EQ(members_of(train_small(trial, study))[0], members_of(model)[0])
      << "the first member does not depend on the others";
}

// As they run on a graphics card; here on the processor.
TEST(Train, SeveralNetworksAtATimeGiveTheSameBytes) {
  data::Study study = small_study("dfcl-mer");
  study.method.ensemble = 3;
  study.method.epochs = 3;
  const data::Trial trial = small_trial(1500);
  std::vector<std::string> models;
  for (const std::size_t at_once : {1u, 4u}) {
    core::RunContext context(2, 5);
    context.device.fits_at_once = at_once;
    models.push_back(io::safetensors_bytes(model::tensor_file_of(train(trial, study, {}, context))));
  }
  EXPECT_EQ(models[0], models[1]);
}

TEST(Train, TheSeedDecides) {
  const data::Trial trial = small_trial();
  core::RunContext other(2, 6);
  EXPECT_NE(members_of(train_small(trial, small_study("tsm"))),
            members_of(train(trial, small_study("tsm"), {}, other)));
}

TEST(Train, TestUnitsAreNeverLookedAt) {
  data::Trial trial = small_trial();
  const model::Model before = train_small(trial, small_study("dfcl-ifd"));
  for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
    if (trial.split[unit] == data::Split::test) trial.revenue[unit] = 40.0f;
  }
  EXPECT_EQ(members_of(before), members_of(train_small(trial, small_study("dfcl-ifd"))));
}

TEST(Train, MultipliersFollowTheBudgets) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("dfcl-mer");
  study.budgets.share_of_max = {0.05, 0.2, 0.5};
  study.method.epochs = 9;
  const model::Model model = train_small(trial, study);
  std::size_t num_deciding = 0;
  for (const learn::EpochRecord& record : record_of(model)) {
    if (!record.decides) continue;
    ++num_deciding;
    ASSERT_EQ(record.multipliers.size(), 3u);
    EXPECT_GT(record.multipliers[0], record.multipliers[1]);
    EXPECT_GE(record.multipliers[1], record.multipliers[2]);
  }
  EXPECT_GT(num_deciding, 0u);

  // Those of the model spend the budgets on the training units.
  const data::Prediction prediction = predictions_of(model, trial);
  for (const model::BudgetMultiplier& price : model.multipliers) {
    double sum = 0.0;
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      if (trial.split[unit] != data::Split::train) continue;
      const auto score = [&](std::size_t arm) {
        return static_cast<double>(prediction.revenue(unit, arm)) -
               price.multiplier * static_cast<double>(prediction.cost(unit, arm));
      };
      std::size_t best = 0;
      for (std::size_t arm = 1; arm < 3; ++arm) best = score(arm) > score(best) ? arm : best;
      sum += static_cast<double>(prediction.cost(unit, best));
    }
    if (price.multiplier > 0.0) {
      EXPECT_NEAR(sum / 1200.0, price.budget_per_unit, 0.01) << price.budget;
    }
    EXPECT_NEAR(price.scaled_multiplier,
                price.multiplier * parts_of(model).scales.cost.scale / parts_of(model).scales.revenue.scale,
                1e-12 * (1.0 + price.multiplier));
  }
}

TEST(Train, FixedMultipliersStay) {
  const data::Trial trial = small_trial();
  data::Study study = small_study("dfcl-ifd");
  study.method.multipliers = {0.5, 2.0};
  for (const learn::EpochRecord& record : record_of(train_small(trial, study))) {
    if (!record.decides) continue;
    ASSERT_EQ(record.multipliers.size(), 2u);
    EXPECT_NEAR(record.multipliers[0], 0.5, 1e-12);
    EXPECT_NEAR(record.multipliers[1], 2.0, 1e-12);
  }
}

// Stops after every possible number of epochs: those of both nuisance networks and of both members.
TEST(Train, AResumedRunEndsWithTheSameModel) {
  const data::Trial trial = small_trial(1000);
  data::Study study = small_study("dfcl-ifd");
  study.method.baseline = "dr";
  study.method.ensemble = 2;
  const std::string whole = bytes_of(train_small(trial, study));
  std::size_t stops = 0;
  for (std::size_t stop_after = 1;; ++stop_after) {
    const io::TemporaryFolder folder;
    std::atomic<bool> cancel = false;
    std::size_t num_epochs = 0;
    TrainOptions options;
    options.checkpoint_folder = folder.file("checkpoint");
    options.on_epoch = [&](const learn::EpochRecord&) { cancel = ++num_epochs == stop_after; };
    core::RunContext context(2, 5, nullptr, &cancel);
    try {
      (void)train(trial, study, options, context);
      break;
    } catch (const core::Error& error) {
      ASSERT_EQ(error.kind(), core::ErrorKind::interrupted);
    }
    ++stops;
    cancel = false;
    stop_after = num_epochs;
    options.on_epoch = {};
    EXPECT_EQ(bytes_of(train(trial, study, options, context)), whole) << "stopped after epoch " << stop_after;
  }
  EXPECT_GE(stops, 2 * 2 + 2 * 4 - 1u);
}

TEST(Train, ACheckpointOfOtherSettingsOrDataIsRefused) {
  const data::Trial trial = small_trial(1000);
  const io::TemporaryFolder folder;
  TrainOptions options;
  options.checkpoint_folder = folder.file("checkpoint");
  core::RunContext context(1, 5);
  (void)train(trial, small_study("dfcl-mer"), options, context);
  const auto refused = [&](const data::Trial& other_trial, const data::Study& study, std::uint64_t seed) {
    core::RunContext other(1, seed);
    try {
      (void)train(other_trial, study, options, other);
    } catch (const core::Error& error) {
      return error.kind() == core::ErrorKind::usage;
    }
    return false;
  };
  data::Study study = small_study("dfcl-mer");
  EXPECT_TRUE(refused(trial, study, 6));
  study.method.alpha = 0.3;
  EXPECT_TRUE(refused(trial, study, 5));
  study = small_study("dfcl-mer");
  study.budgets.share_of_max = {0.1, 0.4};
  EXPECT_TRUE(refused(trial, study, 5));
  study = small_study("dfcl-mer");
  study.split.seed = 3;
  EXPECT_TRUE(refused(trial, study, 5));
  study = small_study("dfcl-pl");
  EXPECT_TRUE(refused(trial, study, 5));
  study = small_study("dfcl-mer");
  study.cost.control_is_free = false;
  EXPECT_TRUE(refused(trial, study, 5));
  EXPECT_TRUE(refused(small_trial(1001), small_study("dfcl-mer"), 5));
  data::Trial moved = small_trial(1000);
  std::swap(moved.split[5], moved.split[9]);  // a training unit and a test unit, the same shares
  EXPECT_TRUE(refused(moved, small_study("dfcl-mer"), 5));
  EXPECT_FALSE(refused(trial, small_study("dfcl-mer"), 5));
}

TEST(Train, LossesThatAreNoNumbersStopTheRunByEpochAndHint) {
  data::Trial trial = small_trial();
  trial.revenue[0] = std::numeric_limits<float>::infinity();
  try {
    (void)train_small(trial, small_study("tsm"));
    FAIL() << "trained on infinite revenue";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("epoch 1"), std::string::npos) << error.what();
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(Train, PredictionsThatRunAwayStopTheRunByEpochAndHint) {
  data::Study study = small_study("tsm");
  study.method.learning_rate = 1.0;
  study.method.as_published = true;  // no clipping of gradients
  study.network.revenue_kind = "non_negative";
  study.network.hidden = {64, 64, 64};
  try {
    (void)train_small(small_trial(), study);
    FAIL() << "trained with a rate of one";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("training broke down in epoch"), std::string::npos) << error.what();
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(Train, AsPublishedIsTrainedByEveryDecisionMethod) {
  const data::Trial trial = small_trial();
  for (const Method& method : all_methods()) {
    if (!method.decides()) continue;
    data::Study study = brief_study(method);
    study.method.as_published = true;
    const model::Model model = train_small(trial, study);
    model::require_consistent(model, method.name);
    EXPECT_FALSE(parts_of(model).network.cost.control_is_free);
  }
}

}  // namespace
}  // namespace dfcl::train
