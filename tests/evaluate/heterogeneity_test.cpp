// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "dfcl/core/interval.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/curves/setting.h"
#include "dfcl/evaluate/heterogeneity/deciles.h"
#include "dfcl/evaluate/heterogeneity/effect_scores.h"
#include "dfcl/evaluate/heterogeneity/segment_effects.h"
#include "dfcl/evaluate/heterogeneity/simultaneous.h"
#include "small_trials.h"

namespace dfcl::evaluate {
namespace {

// Figures that are moved by groups of their own are independent; for two of them the largest |t| is known.
TEST(Simultaneous, CriticalValueOfIndependentFigures) {
  core::RunContext context(2);
  FigureCovariance covariance(3);
  for (std::size_t group = 0; group < 300; ++group) {
    covariance.add(group % 3, group % 2 == 0 ? 1.0 : -1.0);
    covariance.close_group();
  }
  // P(|t| <= c)^3 = 0.95 for c = 2.388.
  EXPECT_NEAR(covariance.critical({true, true, true}, 0.95, context), 2.388, 0.05);
  EXPECT_NEAR(covariance.critical({true, true, false}, 0.95, context), 2.236, 0.05);
  EXPECT_DOUBLE_EQ(covariance.critical({true, false, false}, 0.95, context), core::normal_critical(0.95));
  EXPECT_NEAR(covariance.error(0), std::sqrt(100.0 * 100.0 / 99.0), 1e-12);
}

TEST(Simultaneous, FiguresThatMoveTogetherCountOnce) {
  core::RunContext context(1);
  FigureCovariance covariance(2);
  for (std::size_t group = 0; group < 50; ++group) {
    const double influence = group % 2 == 0 ? 1.0 : -1.0;
    covariance.add(0, influence);
    covariance.add(1, 3.0 * influence);
    covariance.close_group();
  }
  EXPECT_NEAR(covariance.critical({true, true}, 0.95, context), core::normal_critical(0.95), 0.05);
}

TEST(Simultaneous, ManyFiguresAreBonferronis) {
  core::RunContext context(1);
  FigureCovariance covariance(kMostFigures + 1);
  std::vector<bool> counted(kMostFigures + 1, true);
  for (std::size_t group = 0; group < 3 * (kMostFigures + 1); ++group) {
    covariance.add(group % (kMostFigures + 1), group % 2 == 0 ? 1.0 : -1.0);
    covariance.close_group();
  }
  EXPECT_DOUBLE_EQ(covariance.critical(counted, 0.95, context), bonferroni_critical(kMostFigures + 1, 0.95));
}

TEST(LabelMeans, AreMeansWithErrorsOverClusters) {
  const SmallTrial small = small_trial(4, {.num_units = 600, .units_per_cluster = 3});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  std::vector<std::uint32_t> labels;
  for (const std::size_t unit : rows.trial_row)
    labels.push_back(unit % 7 == 0 ? kNoLabel : small.x[unit] < 0.5 ? 0 : 1);
  const auto value = [&](std::size_t row) { return static_cast<double>(rows.revenue[row]); };
  core::RunContext context(1);
  const std::vector<LabelMean> found = label_means(rows, labels, 2, values_of_rows(rows, context, value), context);
  for (std::uint32_t label = 0; label < 2; ++label) {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (labels[row] != label) continue;
      sum += value(row);
      count += 1.0;
    }
    std::vector<double> of_cluster(rows.num_clusters, 0.0);
    std::vector<bool> has(rows.num_clusters);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (labels[row] != label) continue;
      of_cluster[rows.cluster[row]] += value(row) - sum / count;
      has[rows.cluster[row]] = true;
    }
    double squares = 0.0;
    double clusters = 0.0;
    for (std::size_t cluster = 0; cluster < has.size(); ++cluster) {
      squares += of_cluster[cluster] * of_cluster[cluster];
      clusters += has[cluster] ? 1.0 : 0.0;
    }
    EXPECT_EQ(static_cast<double>(found[label].num_units), count);
    EXPECT_NEAR(found[label].mean, sum / count, 1e-12);
    EXPECT_NEAR(found[label].error, std::sqrt(squares * clusters / (clusters - 1.0)) / count, 1e-12);
  }
}

TEST(Deciles, AreEqualPartsTheFirstOnesLarger) {
  core::RunContext context(1);
  std::vector<double> scores;
  for (int i = 0; i < 23; ++i) scores.push_back((i * 7) % 23);
  const std::vector<std::uint32_t> decile = deciles_of(scores, {}, context);
  std::vector<int> count(kDeciles);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ++count[decile[i]];
    for (std::size_t k = 0; k < scores.size(); ++k) {
      if (scores[i] > scores[k]) {
        EXPECT_LE(decile[i], decile[k]);
      }
    }
  }
  EXPECT_EQ(count, (std::vector<int>{3, 3, 3, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(Deciles, AreEqualPartsOfTheSampleWeights) {
  core::RunContext context(1);
  std::vector<double> scores, weights;
  double total = 0.0;
  for (int i = 0; i < 500; ++i) {
    scores.push_back((i * 7) % 500);
    weights.push_back(scores.back() > 400.0 ? 4.0 : 1.0);  // the best fifth stands for half of all
    total += weights.back();
  }
  const std::vector<std::uint32_t> decile = deciles_of(scores, weights, context);
  std::vector<double> weight(kDeciles);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    weight[decile[i]] += weights[i];
    for (std::size_t k = 0; k < scores.size(); ++k) {
      if (scores[i] > scores[k]) {
        EXPECT_LE(decile[i], decile[k]);
      }
    }
  }
  for (const double own : weight) EXPECT_NEAR(own, total / kDeciles, 4.0);
  EXPECT_EQ(deciles_of(scores, std::vector<double>(500, 3.0), context), deciles_of(scores, {}, context));
}

// Without a nuisance the mean score over all rows is Hajek's difference of means.
TEST(EffectScores, AreHajeksOverAllRows) {
  const SmallTrial small = small_trial(8, {.num_units = 500, .propensities = true});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Rewards rewards(rows, Estimator::hajek);
  const EffectScores scores(rewards, false);
  double found = 0.0;
  double sum[2] = {0.0, 0.0};
  double weight[2] = {0.0, 0.0};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    found += scores.of(row, 2).revenue / static_cast<double>(rows.size());
    if (rows.arm[row] == 1) continue;
    const int arm = rows.arm[row] == 2 ? 1 : 0;
    sum[arm] += rows.weight[row] * static_cast<double>(rows.revenue[row]);
    weight[arm] += rows.weight[row];
  }
  EXPECT_NEAR(found, sum[1] / weight[1] - sum[0] / weight[0], 1e-9);
}

TEST(SegmentEffects, AreTheSameForAnyNumberOfThreads) {
  const SmallTrial small = small_trial(9, {.num_units = 2000});
  const TrialRows rows = rows_of(small.trial, std::nullopt);
  const Predicted model = predict(small.x, small.y, sees_x);
  std::vector<double> ends;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads);
    EvaluationInput input{.rows = rows, .models = {}};
    input.models.push_back({.name = "a", .prediction = model.outcomes()});
    input.nuisance = model.outcomes();
    SegmentColumn column{"x", {}, {"low", "high"}};
    for (const std::size_t unit : rows.trial_row) column.value_of_row.push_back(small.x[unit] < 0.5 ? 0 : 1);
    input.segments = {column};
    EvaluationOptions options;
    options.budgets_per_unit = {0.3};
    options.num_resamples = 0;
    const Evaluation evaluation = evaluate(input, options, context);
    for (const SegmentEffects& effects : evaluation.effects) {
      for (const SegmentEffect& value : effects.values) ends.push_back(value.arms[0].simultaneous_low);
    }
    for (const UpliftDecile& decile : evaluation.models[0].uplift[1].deciles) ends.push_back(decile.uplift.low);
  }
  ASSERT_EQ(ends.size() % 3, 0u);
  for (std::size_t i = ends.size() / 3; i < ends.size(); ++i) EXPECT_EQ(ends[i], ends[i - ends.size() / 3]);
}

}  // namespace
}  // namespace dfcl::evaluate
