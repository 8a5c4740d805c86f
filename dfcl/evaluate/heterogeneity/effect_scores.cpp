// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

#include <cmath>
#include <utility>

#include "dfcl/evaluate/heterogeneity/figure_influences.h"

namespace dfcl::evaluate {

EffectScores::EffectScores(const Rewards& rewards, bool free_control)
    : rewards_(rewards), prices_(rewards.rows().prices()), free_control_(free_control) {
  if (rewards.estimator() == Estimator::doubly_robust) return;
  const TrialRows& rows = rewards.rows();
  means_.resize(rows.num_arms());
  std::vector<double> weight(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Means& sums = means_[rows.arm[row]];
    sums.revenue += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
    sums.cost += rows.total_weight(row) * static_cast<double>(rows.cost[row]);
    weight[rows.arm[row]] += rows.total_weight(row);
  }
  for (std::size_t arm = 0; arm < means_.size(); ++arm) {
    means_[arm].revenue /= weight[arm];
    means_[arm].cost /= weight[arm];
  }
}

Contribution EffectScores::contribution(std::size_t row, std::size_t arm) const {
  const TrialRows& rows = rewards_.rows();
  if (means_.empty()) {  // of one unit, not of all that the row stands for
    const Contribution all = rewards_.of(row, arm);
    const double units = rows.sample_weight(row);
    return {all.revenue / units, all.cost / units, all.weight / units};
  }
  Contribution own{means_[arm].revenue, means_[arm].cost, 0.0};
  if (rows.arm[row] == arm) {
    own.revenue += rows.weight[row] * (static_cast<double>(rows.revenue[row]) - means_[arm].revenue);
    own.cost += rows.weight[row] * (static_cast<double>(rows.cost[row]) - means_[arm].cost);
  }
  if (!rows.rates().empty()) own.cost = rows.rates()[arm] * own.revenue;
  if (free_control_ && arm == rows.arms.control) own.cost = 0.0;
  return own;
}

std::vector<LabelMean> label_means(const TrialRows& rows, std::span<const std::uint32_t> labels, std::size_t num_labels,
                                   const std::function<double(std::size_t)>& value, core::RunContext& context) {
  std::vector<LabelMean> means(num_labels);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (labels[row] == kNoLabel) continue;
    ++means[labels[row]].num_units;
    means[labels[row]].weight += rows.sample_weight(row);
    means[labels[row]].mean += rows.sample_weight(row) * value(row);
  }
  for (LabelMean& one : means) one.mean /= one.weight;
  const FigureCovariance covariance = covariance_of(
      rows, num_labels,
      [&](std::size_t row, const AddInfluence& add) {
        if (labels[row] == kNoLabel) return;
        const LabelMean& own = means[labels[row]];
        add(labels[row], rows.sample_weight(row) * (value(row) - own.mean) / own.weight);
      },
      context);
  for (std::size_t label = 0; label < num_labels; ++label) means[label].error = covariance.error(label);
  return means;
}

double error_of_sums(const TrialRows& rows, std::vector<double> influence, core::RunContext& context) {
  std::vector<double> center(rows.num_arms());
  std::vector<double> units(rows.num_arms());
  const auto stratum = [&](std::size_t row) { return rows.has_propensity ? std::size_t{0} : rows.arm[row]; };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    center[stratum(row)] += influence[row];
    units[stratum(row)] += rows.sample_weight(row);
  }
  for (std::size_t row = 0; row < rows.size(); ++row)
    influence[row] -= rows.sample_weight(row) * (center[stratum(row)] / units[stratum(row)]);
  return covariance_of(
             rows, 1, [&](std::size_t row, const AddInfluence& add) { add(0, influence[row]); }, context)
      .error(0);
}

LabelMean mean_of_all(const TrialRows& rows, const std::function<double(std::size_t)>& value,
                      core::RunContext& context) {
  std::vector<double> values(rows.size());
  const auto count = static_cast<double>(rows.size());
  LabelMean all{rows.size(), count, 0.0, 0.0};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    values[row] = rows.sample_weight(row) * value(row) / count;
    all.mean += values[row];
  }
  all.error = error_of_sums(rows, std::move(values), context);
  return all;
}

double in_digits(double value, int digits) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0.0 ? std::round(value * scale) / scale : value;
}

}  // namespace dfcl::evaluate
