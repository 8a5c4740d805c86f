// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

#include <cmath>
#include <utility>

#include "dfcl/evaluate/heterogeneity/figure_influences.h"

namespace dfcl::evaluate {
namespace {

// Where each row moves one figure: that of its label (kNoLabel: none), or the first without labels.
template <class Influence>
FigureCovariance covariance_of_labels(const TrialRows& rows, std::span<const std::uint32_t> labels,
                                      std::size_t num_figures, Influence&& influence, core::RunContext& context) {
  const auto label = [&](std::size_t row) { return labels.empty() ? 0u : labels[row]; };
  if (!rows.cluster.empty() || rows.propensity_scores != nullptr) {
    return covariance_of(
        rows, num_figures,
        [&](std::size_t row, const AddInfluence& add) {
          if (label(row) != kNoLabel) add(label(row), influence(row));
        },
        context);
  }
  struct Sum {
    double groups = 0.0;
    double squares = 0.0;
  };
  const std::vector<Sum> sums = core::sum_chunks(
      context, rows.size(), kFigureRows, std::vector<Sum>(num_figures),
      [&](std::size_t begin, std::size_t end) {
        std::vector<Sum> part(num_figures);
        for (std::size_t row = begin; row < end; ++row) {
          if (label(row) == kNoLabel) continue;
          const double own = influence(row);
          part[label(row)].groups += 1.0;
          part[label(row)].squares += own * own;
        }
        return part;
      },
      [](std::vector<Sum>& total, const std::vector<Sum>& part) {
        for (std::size_t figure = 0; figure < total.size(); ++figure) {
          total[figure].groups += part[figure].groups;
          total[figure].squares += part[figure].squares;
        }
      });
  FigureCovariance covariance(num_figures);
  for (std::size_t figure = 0; figure < num_figures; ++figure)
    covariance.add_groups(figure, sums[figure].groups, sums[figure].squares);
  return covariance;
}

}  // namespace

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

std::vector<LabelMean> label_means(const TrialRows& rows, std::span<const std::uint32_t> labels, std::size_t num_labels,
                                   std::span<const double> value, core::RunContext& context) {
  std::vector<LabelMean> means = core::sum_chunks(
      context, rows.size(), kFigureRows, std::vector<LabelMean>(num_labels),
      [&](std::size_t begin, std::size_t end) {
        std::vector<LabelMean> part(num_labels);
        for (std::size_t row = begin; row < end; ++row) {
          if (labels[row] == kNoLabel) continue;
          LabelMean& own = part[labels[row]];
          ++own.num_units;
          own.weight += rows.sample_weight(row);
          own.mean += rows.sample_weight(row) * value[row];
        }
        return part;
      },
      [](std::vector<LabelMean>& total, const std::vector<LabelMean>& part) {
        for (std::size_t label = 0; label < total.size(); ++label) {
          total[label].num_units += part[label].num_units;
          total[label].weight += part[label].weight;
          total[label].mean += part[label].mean;
        }
      });
  for (LabelMean& one : means) one.mean /= one.weight;
  const FigureCovariance covariance = covariance_of_labels(
      rows, labels, num_labels,
      [&](std::size_t row) {
        const LabelMean& own = means[labels[row]];
        return rows.sample_weight(row) * (value[row] - own.mean) / own.weight;
      },
      context);
  for (std::size_t label = 0; label < num_labels; ++label) means[label].error = covariance.error(label);
  return means;
}

double error_of_sums(const TrialRows& rows, std::span<const double> influence, core::RunContext& context) {
  const auto stratum = [&](std::size_t row) { return rows.has_propensity ? std::size_t{0} : rows.arm[row]; };
  struct Stratum {
    double influence = 0.0;
    double units = 0.0;
  };
  const std::vector<Stratum> strata = core::sum_chunks(
      context, rows.size(), kFigureRows, std::vector<Stratum>(rows.num_arms()),
      [&](std::size_t begin, std::size_t end) {
        std::vector<Stratum> part(rows.num_arms());
        for (std::size_t row = begin; row < end; ++row) {
          part[stratum(row)].influence += influence[row];
          part[stratum(row)].units += rows.sample_weight(row);
        }
        return part;
      },
      [](std::vector<Stratum>& total, const std::vector<Stratum>& part) {
        for (std::size_t arm = 0; arm < total.size(); ++arm) {
          total[arm].influence += part[arm].influence;
          total[arm].units += part[arm].units;
        }
      });
  std::vector<double> center(strata.size());
  for (std::size_t arm = 0; arm < center.size(); ++arm) center[arm] = strata[arm].influence / strata[arm].units;
  return covariance_of_labels(
             rows, {}, 1,
             [&](std::size_t row) { return influence[row] - rows.sample_weight(row) * center[stratum(row)]; }, context)
      .error(0);
}

LabelMean mean_of_all(const TrialRows& rows, std::span<const double> value, core::RunContext& context) {
  const auto count = static_cast<double>(rows.size());
  LabelMean all{rows.size(), count, 0.0, 0.0};
  const std::vector<double> part =
      values_of_rows(rows, context, [&](std::size_t row) { return rows.sample_weight(row) * value[row] / count; });
  all.mean = core::sum_chunks(
      context, rows.size(), kFigureRows, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t row = begin; row < end; ++row) sum += part[row];
        return sum;
      },
      [](double& total, double sum) { total += sum; });
  all.error = error_of_sums(rows, part, context);
  return all;
}

double in_digits(double value, int digits) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0.0 ? std::round(value * scale) / scale : value;
}

}  // namespace dfcl::evaluate
