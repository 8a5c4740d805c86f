// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/cross_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/train/stages.h"
#include "small_trial.h"

namespace dfcl::train {
namespace {

Nuisance nuisance_of(const data::Trial& trial) {
  core::RunContext context(1, 5);
  const data::Study study = small_study("dfcl-mer");
  const Method& method = find_method("dfcl-mer");
  const Preparation prepared = prepare(trial, study, method, context);
  const Settings settings = settings_of(study, method, prepared.train_rows.size(), context.seed);
  const auto learner = make_learner(method.learner, prepared, trial, study, settings, context);
  return fit_nuisance(*learner, prepared.training_set(trial), prediction_objective(prepared, method),
                      settings.nuisance_epochs, settings.ensemble, {}, context);
}

std::size_t half_of_unit(const data::Trial& trial, std::uint32_t row) {
  learn::TrainingSet set;
  if (trial.has_clusters()) set.cluster = trial.cluster;
  return half_of(set, row);
}

bool same_row(const Nuisance& a, const Nuisance& b, std::size_t row) {
  return std::ranges::equal(a.revenue.row(row), b.revenue.row(row)) &&
         std::ranges::equal(a.cost.row(row), b.cost.row(row));
}

// Two units change outcomes with each other, so that means and scales stay as they were.
TEST(Nuisance, AUnitsOwnOutcomeDoesNotReachItsPrediction) {
  data::Trial trial = small_trial(1000);
  const Nuisance before = nuisance_of(trial);
  std::vector<std::uint32_t> train_rows;
  for (std::uint32_t row = 0; row < trial.num_units(); ++row) {
    if (trial.split[row] == data::Split::train) train_rows.push_back(row);
  }
  std::vector<std::size_t> folds;
  for (const std::uint32_t row : train_rows) folds.push_back(half_of_unit(trial, row));
  const std::size_t first = train_rows[0];
  std::size_t second = 0;
  for (std::size_t i = 1; i < folds.size() && second == 0; ++i) {
    const std::size_t row = train_rows[i];
    if (folds[i] == folds[0] && trial.arm[row] == trial.arm[first] && trial.revenue[row] > trial.revenue[first] + 2.0f)
      second = row;
  }
  ASSERT_NE(second, 0u);
  std::swap(trial.revenue[first], trial.revenue[second]);
  std::swap(trial.cost[first], trial.cost[second]);
  const Nuisance after = nuisance_of(trial);
  EXPECT_TRUE(same_row(before, after, first));
  EXPECT_TRUE(same_row(before, after, second));
  // The units of their own half do not see them either; those of the other half do.
  for (std::size_t i = 0; i < folds.size(); ++i) {
    EXPECT_EQ(same_row(before, after, train_rows[i]), folds[i] == folds[0]) << "unit " << train_rows[i];
  }
}

TEST(Nuisance, AClusterIsNeverSplit) {
  data::Trial trial = small_trial(1000);
  trial.num_clusters = 50;
  for (std::uint32_t row = 0; row < trial.num_units(); ++row) trial.cluster.push_back(row % 50);
  std::vector<std::size_t> folds;
  for (std::uint32_t row = 0; row < trial.num_units(); ++row) folds.push_back(half_of_unit(trial, row));
  for (std::size_t row = 50; row < folds.size(); ++row) EXPECT_EQ(folds[row], folds[row - 50]);
  EXPECT_NE(std::count(folds.begin(), folds.end(), 0), 0);
  EXPECT_NE(std::count(folds.begin(), folds.end(), 1), 0);
}

TEST(Nuisance, OneClusterAloneIsRefused) {
  data::Trial trial = small_trial(1000);
  trial.num_clusters = 1;
  trial.cluster.assign(trial.num_units(), 0);
  try {
    (void)nuisance_of(trial);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), core::ErrorKind::data);
  }
}

}  // namespace
}  // namespace dfcl::train
