// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dfcl/core/distributions.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr double kLargestDifference = 100.0;
constexpr double kDrawsAColumn = 100.0;  // from which a covariance is known well enough

// Does the propensity differ between units of one arm? If not, arms are plain random samples of the units.
bool propensity_varies(const data::Trial& trial) {
  if (trial.propensity.empty()) return false;
  std::array<float, 256> low;
  std::array<float, 256> high;
  low.fill(std::numeric_limits<float>::infinity());
  high.fill(0.0f);
  for (std::size_t row = 0; row < trial.num_units(); ++row) {
    low[trial.arm[row]] = std::min(low[trial.arm[row]], trial.propensity[row]);
    high[trial.arm[row]] = std::max(high[trial.arm[row]], trial.propensity[row]);
  }
  for (std::size_t arm = 0; arm < trial.arms.size(); ++arm) {
    if (high[arm] > low[arm] * 1.00001f) return true;
  }
  return false;
}

}  // namespace

bool has_varying_weights(const data::Trial& trial) { return !trial.weight.empty() || propensity_varies(trial); }

std::size_t smallest_arm_of(const data::Trial& trial, const Draws& draws) {
  std::vector<std::size_t> counts(trial.arms.size());
  for (const std::uint8_t arm : draws.arm) ++counts[arm];
  return *std::min_element(counts.begin(), counts.end());
}

BalanceTest::BalanceTest(const data::Trial& trial, const Draws& draws, const CheckOptions& options,
                         core::RunContext& context)
    : trial_(trial), expansion_(trial.features, draws.groups, smallest_arm_of(trial, draws), options, context) {
  moments_ = column_moments(trial, draws, expansion_, has_varying_weights(trial), context);
  test_features(draws, options, context);
}

BalanceTest::BalanceTest(const data::Trial& trial, const Draws& draws, Expansion expansion, ColumnMoments moments,
                         const CheckOptions& options, core::RunContext& context)
    : trial_(trial), expansion_(std::move(expansion)), moments_(std::move(moments)) {
  test_features(draws, options, context);
}

void BalanceTest::test_features(const Draws& draws, const CheckOptions& options, core::RunContext& context) {
  const bool weighted = !moments_.sum_squared.empty();
  const auto at_hand =
      static_cast<double>(draws.arm.size());  // fewer than the moments are of: their covariance is a sample's
  const bool too_few = at_hand < std::accumulate(moments_.draws.begin(), moments_.draws.end(), 0.0) &&
                       at_hand < kDrawsAColumn * static_cast<double>(expansion_.num_columns());
  if (weighted || too_few || expansion_.num_columns() > options.max_columns) method_ = BalanceMethod::smallest_p;
  if (method_ == BalanceMethod::joint)
    covariance_ = column_covariance(trial_, draws, expansion_, moments_, options.covariance_draws, context);
  features_.resize(trial_.features.num_features());
  core::for_each_chunk(context, features_.size(), 1, [&](std::size_t feature, std::size_t, std::size_t) {
    features_[feature] = feature_balance(feature);
  });
}

// (mean of the arm - mean of control) over the root of the mean of their variances, of the units that have a value.
double BalanceTest::standardised_difference(const Expansion::Plan& plan, std::size_t column, std::size_t arm) const {
  const std::size_t size = moments_.num_columns;
  const auto moments_of = [&](std::size_t j) {
    double weight = moments_.weight[j];
    const bool is_value = column == plan.value_column && plan.missing_column != Expansion::kNone;
    if (is_value) weight -= moments_.sum[j * size + plan.missing_column];
    if (!(weight > 0.0)) return std::pair(0.0, 0.0);
    const double mean = moments_.sum[j * size + column] / weight;
    return std::pair(mean, std::max(0.0, moments_.square[j * size + column] / weight - mean * mean));
  };
  const auto [mean, variance] = moments_of(arm);
  const auto [control_mean, control_variance] = moments_of(trial_.arms.control);
  const double difference = mean - control_mean;
  const double spread = std::sqrt((variance + control_variance) / 2.0);
  if (std::fabs(difference) <= spread * 1e-12) return 0.0;
  return std::clamp(difference / std::max(spread, 1e-12), -kLargestDifference, kLargestDifference);
}

FeatureBalance BalanceTest::feature_balance(std::size_t feature) const {
  const Expansion::Plan& plan = expansion_.plans()[feature];
  FeatureBalance balance;
  balance.name = trial_.features.columns[feature].name;
  std::vector<std::size_t> columns(plan.end_column - plan.first_column);
  std::iota(columns.begin(), columns.end(), plan.first_column);
  if (columns.empty()) return balance;
  balance.tested = true;
  for (const std::size_t column : columns) {
    for (std::size_t arm = 0; arm < trial_.arms.size(); ++arm) {
      if (arm == trial_.arms.control) continue;
      const double difference = standardised_difference(plan, column, arm);
      if (!balance.arm.empty() && std::fabs(difference) <= std::fabs(balance.difference)) continue;
      balance.difference = difference;
      balance.arm = trial_.arms.labels[arm];
      balance.what = expansion_.what(trial_.features.columns[feature], plan, column);
    }
  }
  JointTest joint;
  balance.p = columns_p(columns, &joint);
  return balance;
}

// The p-value of some columns together; joint gets the statistic where there is one.
double BalanceTest::columns_p(const std::vector<std::size_t>& columns, JointTest* joint) const {
  if (method_ == BalanceMethod::smallest_p) return smallest_p(columns);
  const std::size_t all = moments_.num_columns;
  const std::size_t size = columns.size();
  const std::size_t num_arms = trial_.arms.size();
  std::vector<double> covariance(size * size);
  std::vector<double> deviations(num_arms * size);
  const double draws = std::accumulate(moments_.draws.begin(), moments_.draws.end(), 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j) covariance[i * size + j] = covariance_[columns[i] * all + columns[j]];
    double mean = 0.0;
    for (std::size_t arm = 0; arm < num_arms; ++arm) mean += moments_.sum[arm * all + columns[i]] / draws;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      if (moments_.draws[arm] > 0.0) deviations[arm * size + i] = moments_.mean(arm, columns[i]) - mean;
    }
  }
  *joint = joint_test(covariance, deviations, moments_.draws, size);
  return joint->run ? joint->p : smallest_p(columns);
}

// Bonferroni over columns and arms of the two-sample tests against control.
double BalanceTest::smallest_p(const std::vector<std::size_t>& columns) const {
  const std::size_t size = moments_.num_columns;
  const bool weighted = !moments_.sum_squared.empty();
  // Linearised variance of the weighted mean: sum of w^2 (x - mean)^2 over the squared sum of w.
  const auto variance_of = [&](std::size_t arm, std::size_t column) {
    const std::size_t at = arm * size + column;
    const double mean = moments_.mean(arm, column);
    const double square = weighted ? moments_.square_squared[at] : moments_.square[at];
    const double sum = weighted ? moments_.sum_squared[at] : moments_.sum[at];
    return std::max(0.0, square - 2.0 * mean * sum + mean * mean * moments_.weight_squared[arm]) /
           (moments_.weight[arm] * moments_.weight[arm]);
  };
  double smallest = 1.0;
  const std::size_t control = trial_.arms.control;
  for (const std::size_t column : columns) {
    for (std::size_t arm = 0; arm < trial_.arms.size(); ++arm) {
      if (arm == control || moments_.draws[arm] == 0.0 || moments_.draws[control] == 0.0) continue;
      const double variance = variance_of(arm, column) + variance_of(control, column);
      const double difference = moments_.mean(arm, column) - moments_.mean(control, column);
      if (difference == 0.0) continue;
      smallest = std::min(smallest, variance > 0.0 ? core::normal_two_sided(difference / std::sqrt(variance)) : 0.0);
    }
  }
  return std::min(1.0, smallest * static_cast<double>(columns.size() * (trial_.arms.size() - 1)));
}

Balance BalanceTest::result(const std::vector<bool>& left_out) const {
  Balance balance;
  balance.method = method_;
  balance.features = features_;
  std::vector<std::size_t> columns;
  double num_tested = 0.0;
  for (std::size_t feature = 0; feature < features_.size(); ++feature) {
    if (left_out[feature] || !features_[feature].tested) continue;
    num_tested += 1.0;
    balance.smallest_p = std::min(balance.smallest_p, features_[feature].p);
    const Expansion::Plan& plan = expansion_.plans()[feature];
    for (std::size_t column = plan.first_column; column < plan.end_column; ++column) columns.push_back(column);
  }
  if (columns.empty()) {
    balance.why_not = "no feature varies enough to be compared";
    return balance;
  }
  balance.run = true;
  balance.smallest_p = std::min(1.0, balance.smallest_p * num_tested);
  balance.num_columns = columns.size();
  JointTest joint;
  balance.p = columns_p(columns, &joint);
  if (joint.run) {
    balance.statistic = joint.statistic;
    balance.degrees = joint.degrees;
    balance.num_columns = joint.rank;
  } else {
    balance.method = BalanceMethod::smallest_p;
  }
  return balance;
}

}  // namespace dfcl::check
