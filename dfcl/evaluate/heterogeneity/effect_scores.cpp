// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

GroupedRows::GroupedRows(const TrialRows& rows) : row(rows.size()), begin(rows.num_groups() + 1) {
  if (rows.cluster.empty()) {
    std::iota(row.begin(), row.end(), 0u);
    std::iota(begin.begin(), begin.end(), 0u);
    return;
  }
  for (const std::uint32_t cluster : rows.cluster) ++begin[cluster + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) row[next[rows.cluster[i]]++] = static_cast<std::uint32_t>(i);
}

std::vector<LabelMean> label_means(const TrialRows& rows, std::span<const std::uint32_t> labels, std::size_t num_labels,
                                   const std::function<double(std::size_t)>& value) {
  std::vector<LabelMean> means(num_labels);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (labels[row] == kNoLabel) continue;
    ++means[labels[row]].num_units;
    means[labels[row]].weight += rows.sample_weight(row);
    means[labels[row]].mean += rows.sample_weight(row) * value(row);
  }
  for (LabelMean& one : means) one.mean /= one.weight;
  std::vector<double> squares(num_labels);
  std::vector<double> groups(num_labels);
  std::vector<double> sum(num_labels);
  std::vector<std::uint32_t> touched;
  std::vector<bool> is_touched(num_labels);
  const GroupedRows grouped(rows);
  for (std::size_t group = 0; group + 1 < grouped.begin.size(); ++group) {
    for (std::size_t i = grouped.begin[group]; i < grouped.begin[group + 1]; ++i) {
      const std::size_t row = grouped.row[i];
      const std::uint32_t label = labels[row];
      if (label == kNoLabel) continue;
      if (!is_touched[label]) {
        is_touched[label] = true;
        touched.push_back(label);
      }
      sum[label] += rows.sample_weight(row) * (value(row) - means[label].mean);
    }
    for (const std::uint32_t label : touched) {
      squares[label] += sum[label] * sum[label];
      groups[label] += 1.0;
      sum[label] = 0.0;
      is_touched[label] = false;
    }
    touched.clear();
  }
  for (std::size_t label = 0; label < num_labels; ++label) {
    means[label].error = std::sqrt(squares[label] * groups[label] / (groups[label] - 1.0)) / means[label].weight;
  }
  return means;
}

double error_of_sums(const TrialRows& rows, std::vector<double> influence) {
  std::vector<double> center(rows.num_arms());
  std::vector<double> units(rows.num_arms());
  const auto stratum = [&](std::size_t row) { return rows.has_propensity ? std::size_t{0} : rows.arm[row]; };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    center[stratum(row)] += influence[row];
    units[stratum(row)] += rows.sample_weight(row);
  }
  double squares = 0.0;
  const GroupedRows grouped(rows);
  for (std::size_t group = 0; group + 1 < grouped.begin.size(); ++group) {
    double sum = 0.0;
    for (std::size_t i = grouped.begin[group]; i < grouped.begin[group + 1]; ++i) {
      const std::size_t row = grouped.row[i];
      sum += influence[row] - rows.sample_weight(row) * (center[stratum(row)] / units[stratum(row)]);
    }
    squares += sum * sum;
  }
  const auto groups = static_cast<double>(rows.num_groups());
  return std::sqrt(squares * groups / (groups - 1.0));
}

LabelMean mean_of_all(const TrialRows& rows, const std::function<double(std::size_t)>& value) {
  std::vector<double> values(rows.size());
  const auto count = static_cast<double>(rows.size());
  LabelMean all{rows.size(), count, 0.0, 0.0};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    values[row] = rows.sample_weight(row) * value(row) / count;
    all.mean += values[row];
  }
  all.error = error_of_sums(rows, std::move(values));
  return all;
}

double in_digits(double value, int digits) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0.0 ? std::round(value * scale) / scale : value;
}

}  // namespace dfcl::evaluate
