// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/random.h"
#include "dfcl/learn/part.h"
#include "dfcl/model/typical_values.h"

namespace dfcl::model {
namespace {

// Two arms over control, of which the first earns by features 0 and 1 together, the second by feature 2; each costs 1.
class KnownPredictor final : public learn::Predictor {
 public:
  const char* kind() const override { return "known"; }
  void predict(const learn::FeatureTile& units, learn::Outcomes out, core::RunContext&) const override {
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const auto x = units.values.row(unit);
      const float missing = std::isnan(x[2]) ? 1.0f : 0.0f;
      out.revenue(unit, 0) = 10.0f + x[3];
      out.revenue(unit, 1) = out.revenue(unit, 0) + 2.0f * x[0] + x[0] * x[1];
      out.revenue(unit, 2) = out.revenue(unit, 0) + (missing > 0.0f ? -1.0f : x[2]);
      for (std::size_t arm = 0; arm < 3; ++arm) out.cost(unit, arm) = arm == 0 ? 0.0f : 1.0f;
    }
  }
  learn::Description describe(const learn::Schema&) const override { return {}; }
  void require_fits(const learn::Schema&, const std::string&) const override {}
  void save(learn::PartWriter) const override {}
};

constexpr std::size_t kFeatures = 20;

core::Matrix<float> some_units(std::size_t count, std::uint64_t seed) {
  core::Matrix<float> units(count, kFeatures);
  for (std::size_t unit = 0; unit < count; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("units"), unit);
    for (std::size_t feature = 0; feature < kFeatures; ++feature)
      units(unit, feature) = static_cast<float>(std::round(4.0 * stream.normal()) / 4.0);
    if (stream.bernoulli(0.2)) units(unit, 2) = std::nanf("");
  }
  return units;
}

Model known_model() {
  Model model;
  model.arms.labels = {"none", "a", "b"};
  for (std::size_t feature = 0; feature < kFeatures; ++feature)
    model.features.push_back({"x" + std::to_string(feature), false, {}});
  model.predictors.push_back({std::make_shared<KnownPredictor>(), 1.0});
  core::RunContext context(1);
  data::Features features;
  features.columns = model.features;
  features.values = some_units(5000, 1);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 5000; ++row) rows.push_back(row);
  model.summaries = summarise_features(features, data::RowNumbers{1, 5000}, rows, context);
  return model;
}

std::vector<Explanation> explained(const Model& model, const core::Matrix<float>& units, std::uint8_t arm,
                                   std::uint8_t second, int threads = 2, const ExplainOptions& options = {}) {
  core::RunContext context(threads);
  const Explainer explainer(model, {.revenue = 1.0, .cost = 0.5, .arm = {}}, options, context);
  const std::vector<std::uint8_t> arms(units.rows(), arm), seconds(units.rows(), second);
  std::vector<Explanation> found(units.rows());
  explainer.explain(units.view(), arms, seconds, found, context);
  return found;
}

double sum_of(const Explanation& one) { return one.typical + one.adds[0] + one.adds[1] + one.adds[2] + one.others; }

TEST(Explain, WhatFeaturesAddIsTheScore) {
  const Model model = known_model();
  const core::Matrix<float> units = some_units(1300, 2);  // more than two tiles
  for (const Explanation& one : explained(model, units, 1, 0))
    ASSERT_NEAR(sum_of(one), one.score, 1e-9 * (1.0 + std::abs(one.score)));
}

TEST(Explain, NamesTheFeaturesThatDecideAndNoOther) {
  const Model model = known_model();
  const core::Matrix<float> units = some_units(800, 3);
  std::size_t treated = 0, named = 0;
  for (const Explanation& one : explained(model, units, 1, 0)) {
    for (const std::uint32_t feature : one.feature) ASSERT_TRUE(feature == kNoFeature || feature < 2) << feature;
    if (one.score < 1.0) continue;
    ++treated;
    named += one.feature[0] == 0 || one.feature[1] == 0 ? 1 : 0;
  }
  ASSERT_GT(treated, 50u);
  EXPECT_GE(static_cast<double>(named), 0.95 * static_cast<double>(treated));
}

TEST(Explain, OfASumEachFeatureAddsItsOwnTerm) {
  const Model model = known_model();
  const core::Matrix<float> units = some_units(300, 4);
  const std::vector<Explanation> found = explained(model, units, 2, 0);
  double mean = 0.0;
  const core::Matrix<float> typical = typical_rows(model, ExplainOptions().num_paths, 0);
  for (std::size_t row = 0; row < typical.rows(); ++row) {
    const float value = typical(row, 2);
    mean += (std::isnan(value) ? -1.0 : static_cast<double>(value)) / static_cast<double>(typical.rows());
  }
  for (std::size_t unit = 0; unit < units.rows(); ++unit) {
    const double own = (std::isnan(units(unit, 2)) ? -1.0 : static_cast<double>(units(unit, 2))) - mean;
    if (own > 1e-6) {
      ASSERT_EQ(found[unit].feature[0], 2u);
      ASSERT_NEAR(found[unit].adds[0], own, 1e-5);
    } else {
      ASSERT_EQ(found[unit].feature[0], kNoFeature);
    }
  }
}

TEST(Explain, IsTheSameForAnyThreadsAndOrder) {
  const Model model = known_model();
  const core::Matrix<float> units = some_units(1200, 5);
  core::Matrix<float> reversed(units.rows(), units.cols());
  for (std::size_t row = 0; row < units.rows(); ++row)
    std::ranges::copy(units.row(units.rows() - 1 - row), reversed.row(row).begin());
  const std::vector<Explanation> one = explained(model, units, 1, 2, 1);
  const std::vector<Explanation> eight = explained(model, units, 1, 2, 8);
  const std::vector<Explanation> other = explained(model, reversed, 1, 2, 2);
  for (std::size_t unit = 0; unit < units.rows(); ++unit) {
    ASSERT_EQ(one[unit].adds, eight[unit].adds);
    ASSERT_EQ(one[unit].feature, other[units.rows() - 1 - unit].feature);
    ASSERT_EQ(one[unit].adds, other[units.rows() - 1 - unit].adds);
  }
}

TEST(Explain, TypicalValuesFollowTheTrainingUnits) {
  const Model model = known_model();
  EXPECT_NEAR(typical_value(model.summaries[0], false, 0.5), 0.0f, 0.3f);
  EXPECT_LT(typical_value(model.summaries[0], false, 0.01), -1.0f);
  EXPECT_GT(typical_value(model.summaries[0], false, 0.999), 1.0f);
  EXPECT_TRUE(std::isnan(typical_value(model.summaries[2], false, 0.9)));  // a fifth is missing
  FeatureSummary binary;
  binary.cuts = {0.0f};
  binary.counts = {55, 45};
  binary.last = 100.0f;
  EXPECT_EQ(typical_value(binary, false, 0.3), 0.0f);
  EXPECT_EQ(typical_value(binary, false, 0.7), 100.0f);
  FeatureSummary category;
  category.levels = {3, 1};
  category.counts = {10, 60, 20, 5};
  category.missing = 5;
  EXPECT_EQ(typical_value(category, true, 0.05), 0.0f);
  EXPECT_EQ(typical_value(category, true, 0.5), 3.0f);
  EXPECT_EQ(typical_value(category, true, 0.8), 1.0f);
  EXPECT_TRUE(std::isnan(typical_value(category, true, 0.99)));
}

TEST(Explain, ImportanceIsAShareOfWhatDecides) {
  const Model model = known_model();
  core::RunContext context(2);
  const auto list = feature_importance(model, context);
  ASSERT_EQ(list.size(), kFeatures);
  EXPECT_EQ(list[0].first, "x0");
  double total = 0.0;
  for (const auto& [name, share] : list) {
    total += share;
    const bool decides = name == "x0" || name == "x1" || name == "x2";
    EXPECT_EQ(share > 0.0, decides) << name;  // x3 moves all arms alike
  }
  EXPECT_NEAR(total, 1.0, 1e-9);
}

TEST(Explain, AModelWithoutSummariesIsRefused) {
  Model model = known_model();
  model.summaries.clear();
  core::RunContext context(1);
  EXPECT_THROW(Explainer(model, {}, {}, context), core::Error);
  EXPECT_TRUE(feature_importance(model, context).empty());
}

}  // namespace
}  // namespace dfcl::model
