// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/over_seeds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dfcl::compare {
namespace {

// A model of two budgets with these revenues, matched ones twice as large.
evaluate::ModelFigures model_with(double low, double high) {
  evaluate::ModelFigures model;
  for (const double revenue : {low, high}) {
    evaluate::JudgedPlan plan;
    plan.revenue = evaluate::Interval(revenue);
    plan.cost = evaluate::Interval(0.1 * revenue);
    model.deployed.push_back(plan);
    plan.revenue = evaluate::Interval(2.0 * revenue);
    model.matched.push_back(plan);
  }
  return model;
}

const SeedFigure* find(const SeedEntry& entry, const std::string& figure, double budget) {
  for (const SeedFigure& one : entry.figures) {
    if (one.figure == figure &&
        (one.budget_per_unit == budget || (std::isnan(budget) && std::isnan(one.budget_per_unit))))
      return &one;
  }
  return nullptr;
}

const std::vector<std::string> kNames = {"a", "b", "never trained"};

TEST(OverSeeds, DifferencesArePairedBySeed) {
  evaluate::Evaluation evaluation;
  evaluation.budgets_per_unit = {0.1, 0.2};
  // Seeds 1, 2, 3 of a and b; b has no model of seed 2 but one of seed 4, which a lacks.
  evaluation.models = {model_with(1.0, 2.0), model_with(1.5, 2.0), model_with(2.0, 2.0),
                       model_with(3.0, 2.0), model_with(3.0, 2.0), model_with(9.0, 9.0)};
  const std::vector<TrainedModel> trained = {{0, 1}, {1, 1}, {0, 2}, {0, 3}, {1, 3}, {1, 4}};
  const std::vector<SeedEntry> entries = over_seeds(evaluation, trained, kNames, 0.95);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_TRUE(entries[2].figures.empty());
  const SeedFigure* a = find(entries[0], "revenue", 0.1);
  ASSERT_NE(a, nullptr);
  EXPECT_DOUBLE_EQ(a->mean, 2.0);
  EXPECT_DOUBLE_EQ(a->sd, 1.0);
  EXPECT_TRUE(std::isnan(a->difference.value)) << "the reference has none";
  const SeedFigure* b = find(entries[1], "revenue", 0.1);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->seeds, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_DOUBLE_EQ(b->difference.value, 0.25);
  EXPECT_NEAR(b->difference.high - b->difference.value, 12.7062047 * 0.25, 1e-6);  // sd 0.3535 / sqrt 2, one degree
  const SeedFigure* gain = find(entries[1], "gain", NAN);
  ASSERT_NE(gain, nullptr);
  EXPECT_DOUBLE_EQ(gain->values[0], 0.25);  // half more at one of two budgets
  EXPECT_DOUBLE_EQ(gain->values[1], 0.0);
}

TEST(OverSeeds, OneSeedHasNoSpread) {
  evaluate::Evaluation evaluation;
  evaluation.budgets_per_unit = {0.1, 0.2};
  evaluation.models = {model_with(1.0, 2.0), model_with(1.5, 2.0)};
  const std::vector<TrainedModel> trained = {{0, 7}, {1, 7}};
  const SeedEntry entry = over_seeds(evaluation, trained, kNames, 0.95)[1];
  const SeedFigure* figure = find(entry, "revenue", 0.1);
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(std::isnan(figure->sd));
  EXPECT_DOUBLE_EQ(figure->difference.value, 0.5);
  EXPECT_TRUE(std::isnan(figure->difference.low));
  EXPECT_EQ(find(entry, "share_of_oracle", NAN), nullptr) << "without a truth there is none";
  EXPECT_EQ(find(entry, "revenue_mse", NAN), nullptr) << "without a fit there is none";
}

}  // namespace
}  // namespace dfcl::compare
