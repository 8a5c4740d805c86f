// SPDX-License-Identifier: Apache-2.0
//
// Estimates in imbalanced trials, adjusted by estimated propensities: intervals hold the truth as often as they say,
// and no more often. 400 trials a configuration and loose bounds; DFCL_COVERAGE_TRIALS=2000 narrows them.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "covered.h"
#include "dfcl/check/propensities.h"
#include "dfcl/core/distributions.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/estimators/influence.h"
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

namespace dfcl::evaluate {
namespace {

constexpr double kEffect = 0.5;
constexpr double kSlope = 3.0;  // of revenue in the feature that tilts the arms

struct Configuration {
  const char* name;
  Estimator estimator;
  double known;                       // share of the slope that the nuisance knows
  double test_share;                  // evaluated units, the last ones; propensities are fitted on all
  bool weighted = false;              // sample weights rise with the feature that tilts the arms
  std::size_t units_per_cluster = 1;  // drawn into an arm as one
};

// Treatment is a little likelier where the first of three features is large.
data::Trial tilted_trial(std::size_t num_units, const Configuration& configuration, std::uint64_t seed) {
  data::Trial trial;
  trial.arms.labels = {"0", "1"};
  trial.ids = data::RowNumbers{1, num_units};
  for (const char* name : {"a", "b", "c"})
    trial.features.columns.push_back({.name = name, .categorical = false, .levels = {}});
  trial.features.values = core::Matrix<float>(num_units, 3);
  double shared = 0.0;
  bool given = false;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream random(seed, core::stream_purpose("tilted"), unit);
    for (std::size_t k = 0; k < 3; ++k) trial.features.values(unit, k) = static_cast<float>(random.normal());
    const bool is_first = unit % configuration.units_per_cluster == 0;
    const double x = is_first ? static_cast<double>(trial.features.values(unit, 0)) : shared;
    shared = x;
    trial.features.values(unit, 0) = static_cast<float>(x);
    if (is_first) given = random.uniform() < 1.0 / (1.0 + std::exp(-0.09 * x));
    trial.arm.push_back(given ? 1 : 0);
    trial.revenue.push_back(static_cast<float>(kSlope * x + (given ? kEffect : 0.0) + random.normal()));
    trial.cost.push_back(given ? 1.0f : 0.0f);
    if (configuration.weighted) trial.weight.push_back(static_cast<float>(std::exp(0.5 * x)));
    if (configuration.units_per_cluster > 1)
      trial.cluster.push_back(static_cast<std::uint32_t>(unit / configuration.units_per_cluster));
    const bool is_test = static_cast<double>(unit) >= (1.0 - configuration.test_share) * static_cast<double>(num_units);
    trial.split.push_back(is_test ? data::Split::test : data::Split::train);
  }
  if (configuration.units_per_cluster > 1) trial.num_clusters = trial.cluster.back() + 1;
  return trial;
}

void adjust_by_estimate(data::Trial& trial, core::RunContext& context) {
  check::PropensityEstimate estimate = check::estimate_propensities(trial, context);
  trial.propensity = std::move(estimate.propensity);
  trial.propensity_scores = std::move(estimate.scores);
}

bool covers(const Configuration& configuration, std::uint64_t seed, bool adjust, core::RunContext& context) {
  data::Trial trial = tilted_trial(2000 * configuration.units_per_cluster, configuration, seed);
  if (adjust) adjust_by_estimate(trial, context);
  const TrialRows rows = rows_of(trial, data::Split::test);
  core::Matrix<float> nuisance(rows.size(), 2);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const float x = trial.features.values(rows.trial_row[row], 0);
    nuisance(row, 0) = nuisance(row, 1) = static_cast<float>(configuration.known * kSlope) * x;
  }
  const Rewards rewards(rows, configuration.estimator,
                        {std::as_const(nuisance).view(), std::as_const(nuisance).view()});
  const std::vector<std::uint8_t> treated(rows.size(), 1), control(rows.size(), 0);
  const double effect = estimate_of(rewards, treated, context).revenue - estimate_of(rewards, control, context).revenue;
  const double deviation = standard_deviation(combine(1.0, influence_of(rewards, treated, context).revenue, -1.0,
                                                      influence_of(rewards, control, context).revenue),
                                              SeriesKind::influence);
  return std::abs(effect - kEffect) <= core::normal_critical(0.95) * deviation;
}

class AdjustedCoverage : public testing::TestWithParam<Configuration> {};

TEST_P(AdjustedCoverage, HoldsTheTruthAsOftenAsItSays) {
  const std::size_t num_trials = num_coverage_trials(400);
  core::RunContext context(2);
  std::size_t covered = 0;
  std::size_t without = 0;
  for (std::size_t number = 0; number < num_trials; ++number) {
    covered += covers(GetParam(), 100 + number, true, context) ? 1 : 0;
    without += covers(GetParam(), 100 + number, false, context) ? 1 : 0;
  }
  std::cout << GetParam().name << ", adjusted: " << covered << ", not adjusted: " << without << " of " << num_trials
            << "\n";
  const double rate = static_cast<double>(covered) / static_cast<double>(num_trials);
  const bool is_narrow = num_trials >= 2000;
  EXPECT_GE(rate, is_narrow ? 0.935 : 0.92) << "seeds from 100 on";
  EXPECT_LE(rate, is_narrow ? 0.965 : 0.98) << "seeds from 100 on";
  EXPECT_LT(without, covered);
}

INSTANTIATE_TEST_SUITE_P(Estimators, AdjustedCoverage,
                         testing::Values(Configuration{"doubly robust", Estimator::doubly_robust, 0.8, 1.0},
                                         Configuration{"hajek", Estimator::hajek, 0.0, 1.0},
                                         Configuration{"stratified", Estimator::stratified, 0.0, 1.0},
                                         Configuration{"hajek, of 30 % of the units", Estimator::hajek, 0.0, 0.3},
                                         Configuration{"hajek, weighted", Estimator::hajek, 0.0, 1.0, true},
                                         Configuration{"hajek, clusters", Estimator::hajek, 0.0, 1.0, false, 2}));

// Figures of deciles, segments and rules have the errors that plans have: all units treated, less none.
TEST(AdjustedFigures, HaveTheErrorsOfPlans) {
  core::RunContext context(2);
  for (const Configuration& configuration : {Configuration{"all", Estimator::doubly_robust, 0.3, 1.0},
                                             Configuration{"some", Estimator::doubly_robust, 0.3, 0.4},
                                             Configuration{"weighted", Estimator::doubly_robust, 0.3, 1.0, true},
                                             Configuration{"clusters", Estimator::doubly_robust, 0.3, 1.0, true, 3}}) {
    data::Trial trial = tilted_trial(3000, configuration, 5);
    adjust_by_estimate(trial, context);
    TrialRows rows = rows_of(trial, data::Split::test);
    core::Matrix<float> nuisance(rows.size(), 2);
    for (std::size_t row = 0; row < rows.size(); ++row)
      nuisance(row, 0) = nuisance(row, 1) = trial.features.values(rows.trial_row[row], 0);
    const Rewards rewards(rows, Estimator::doubly_robust,
                          {std::as_const(nuisance).view(), std::as_const(nuisance).view()});
    const EffectScores effects(rewards, false);
    const std::vector<double> effect =
        values_of_rows(rows, context, [&](std::size_t row) { return effects.of(row, 1).revenue; });
    const std::vector<std::uint8_t> treated(rows.size(), 1), control(rows.size(), 0);
    const double of_plans = standard_deviation(combine(1.0, influence_of(rewards, treated, context).revenue, -1.0,
                                                       influence_of(rewards, control, context).revenue),
                                               SeriesKind::influence);
    EXPECT_NEAR(mean_of_all(rows, effect, context).error / of_plans, 1.0, 1e-9) << configuration.name;
    const std::vector<std::uint32_t> one_label(rows.size(), 0);
    EXPECT_NEAR(label_means(rows, one_label, 1, effect, context)[0].error / of_plans, 1.0, 1e-9) << configuration.name;
    rows.propensity_scores = nullptr;
    EXPECT_GT(mean_of_all(rows, effect, context).error, 1.05 * of_plans) << configuration.name;
  }
}

}  // namespace
}  // namespace dfcl::evaluate
