// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/propensities.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/check/covariance.h"
#include "dfcl/check/draws.h"
#include "dfcl/check/expansion.h"
#include "dfcl/core/parallel.h"

namespace dfcl::check {
namespace {

constexpr int kMostSteps = 50;
constexpr double kSettled = 1e-8;     // of the gradient per draw, in standardised columns
constexpr double kPenalty = 1.0;      // of a squared coefficient, in draws
constexpr double kSmallest = 1e-4;    // propensities below it are cut
constexpr double kRounding = 0x1p20;  // coefficients are rounded to 2^-20, so that the order of sums cannot be seen

// Solves A x = b for a positive definite A (n x n, lower triangle of its Cholesky factor).
class Cholesky {
 public:
  Cholesky(std::vector<double> matrix, std::size_t size) : factor_(std::move(matrix)), size_(size) {
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t i = j; i < size_; ++i) {
        double sum = factor_[i * size_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * size_ + k] * factor_[j * size_ + k];
        factor_[i * size_ + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / factor_[j * size_ + j];
      }
    }
  }

  void solve(double* b) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= factor_[i * size_ + k] * b[k];
      b[i] /= factor_[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) b[i] -= factor_[k * size_ + i] * b[k];
      b[i] /= factor_[i * size_ + i];
    }
  }

 private:
  std::vector<double> factor_;
  std::size_t size_;
};

struct Slope {
  double log_likelihood = 0.0;
  std::vector<double> gradient;  // arms x (1 + columns); the first of an arm is its intercept
};

// Sample weights of the draws, of mean 1; empty: all alike.
std::vector<double> draw_weights(const data::Trial& trial, const Draws& draws) {
  std::vector<double> weights;
  double total = 0.0;
  for (std::size_t draw = 0; !trial.weight.empty() && draw < draws.arm.size(); ++draw) {
    double sum = 0.0;
    const std::size_t size = draws.groups.size_of(draw);
    for (std::size_t i = 0; i < size; ++i) sum += trial.sample_weight(draws.groups.row(draw, i));
    weights.push_back(sum / static_cast<double>(size));
    total += weights.back();
  }
  for (double& weight : weights) weight *= static_cast<double>(weights.size()) / total;
  return weights;
}

// The columns that differ most between an arm and control, in standard deviations.
std::vector<std::size_t> most_different(const ColumnMoments& moments, std::size_t control, std::size_t most) {
  const std::size_t size = moments.num_columns;
  std::vector<double> difference(size);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t arm = 0; arm < moments.draws.size(); ++arm) {
      const double mean = moments.mean(arm, k);
      const double variance = moments.square[arm * size + k] / moments.weight[arm] - mean * mean;
      if (variance > 0.0)
        difference[k] = std::max(difference[k], std::fabs(mean - moments.mean(control, k)) / std::sqrt(variance));
    }
  }
  std::vector<std::size_t> columns(size);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::size_t a, std::size_t b) { return difference[a] > difference[b]; });
  columns.resize(std::min(most, size));
  std::sort(columns.begin(), columns.end());
  return columns;
}

class PropensityModel : public data::PropensityScores {
 public:
  PropensityModel(const data::Trial& trial, Draws draws, Expansion expansion, const CheckOptions& options,
                  core::RunContext& context)
      : draws_(std::move(draws)),
        expansion_(std::move(expansion)),
        weights_(draw_weights(trial, draws_)),
        arms_(trial.arms.size()) {
    const bool weighted = !weights_.empty();
    ColumnMoments moments = column_moments(trial, draws_, expansion_, weighted, context);
    if (expansion_.num_columns() > options.max_columns) {
      expansion_.keep(most_different(moments, trial.arms.control, options.max_columns));
      moments = column_moments(trial, draws_, expansion_, weighted, context);
    }
    columns_ = expansion_.num_columns();
    mean_.resize(columns_);
    coefficients_.resize(arms_ * (1 + columns_));
    num_draws_ = std::accumulate(moments.draws.begin(), moments.draws.end(), 0.0);
    const double total = std::accumulate(moments.weight.begin(), moments.weight.end(), 0.0);
    for (std::size_t arm = 0; arm < arms_; ++arm) {
      share_.push_back(std::max(1.0, moments.weight[arm] * (num_draws_ / total)) / num_draws_);
      coefficients_[arm * (1 + columns_)] = std::log(share_[arm] / share_[0]);
      for (std::size_t k = 0; k < columns_; ++k) mean_[k] += moments.sum[arm * columns_ + k] / total;
    }
    std::vector<double> covariance =
        column_covariance(trial, draws_, expansion_, moments, options.covariance_draws, context);
    for (std::size_t i = 0; i < columns_; ++i) {
      for (std::size_t j = 0; j < i; ++j) covariance[i * columns_ + j] = covariance[j * columns_ + i];
      covariance[i * columns_ + i] += 1e-4 * covariance[i * columns_ + i] + kPenalty / num_draws_ + 1e-9;
    }
    metric_.emplace(std::move(covariance), columns_);
  }

  // Newton's method with the curvature at "no differences", which is near where the differences are small; steps are
  // halved until the likelihood rises.
  void fit(const data::Trial& trial, core::RunContext& context) {
    Slope slope = slope_at(trial, coefficients_, context);
    for (int step = 0; step < kMostSteps && largest(slope.gradient) > kSettled * num_draws_; ++step) {
      const std::vector<double> direction = newton_direction(slope.gradient);
      double length = 1.0;
      bool rose = false;
      for (int halving = 0; halving < 20 && !rose; ++halving, length *= 0.5) {
        std::vector<double> tried = coefficients_;
        for (std::size_t i = 0; i < tried.size(); ++i) tried[i] += length * direction[i];
        Slope there = slope_at(trial, tried, context);
        rose = there.log_likelihood > slope.log_likelihood;
        if (rose) coefficients_ = std::move(tried), slope = std::move(there);
      }
      if (!rose) break;
    }
    for (double& coefficient : coefficients_) coefficient = std::round(coefficient * kRounding) / kRounding;
  }

  core::Column<float> propensities(const data::Trial& trial, core::RunContext& context) const {
    core::Column<float> propensity;
    propensity.resize(trial.num_units());
    core::for_each_chunk(context, draws_.arm.size(), chunk_size_of(draws_.arm.size()),
                         [&](std::size_t begin, std::size_t end, std::size_t) {
                           std::vector<float> row(columns_);
                           std::vector<double> probability(arms_);
                           for (std::size_t draw = begin; draw < end; ++draw) {
                             predict(trial, draw, coefficients_, row, probability);
                             for (std::size_t i = 0; i < draws_.groups.size_of(draw); ++i) {
                               const std::size_t unit = draws_.groups.row(draw, i);
                               propensity[unit] = static_cast<float>(std::max(kSmallest, probability[trial.arm[unit]]));
                             }
                           }
                         });
    return propensity;
  }

  // Which draw a unit belongs to; needed by draw_of only.
  void find_draws(std::size_t num_units) {
    draw_of_.resize(num_units);
    for (std::size_t draw = 0; draw < draws_.arm.size(); ++draw) {
      for (std::size_t i = 0; i < draws_.groups.size_of(draw); ++i)
        draw_of_[draws_.groups.row(draw, i)] = static_cast<std::uint32_t>(draw);
    }
  }
  std::size_t num_columns() const override { return columns_; }
  double num_draws() const override { return num_draws_; }
  std::size_t draw_of(std::size_t unit) const override { return draw_of_[unit]; }
  std::size_t num_units(std::size_t draw) const override { return draws_.groups.size_of(draw); }
  void look_at(const data::Trial& trial, std::size_t draw, std::span<float> columns,
               std::span<double> probability) const override {
    predict(trial, draw, coefficients_, columns, probability);
    for (std::size_t k = 0; k < columns_; ++k) columns[k] -= static_cast<float>(mean_[k]);
  }
  void divide_by_covariance(std::span<double> values) const override { metric_->solve(values.data()); }

 private:
  static double largest(const std::vector<double>& values) {
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::fabs(value));
    return most;
  }

  // The columns of a draw, and the probabilities of its arms; returns the log of their sum before dividing.
  void predict(const data::Trial& trial, std::size_t draw, const std::vector<double>& coefficients,
               std::span<float> row, std::span<double> probability) const {
    std::fill(row.begin(), row.end(), 0.0f);
    const std::size_t size = draws_.groups.size_of(draw);
    for (std::size_t i = 0; i < size; ++i)
      expansion_.add(trial.features.values.row(draws_.groups.row(draw, i)), 1.0f / static_cast<float>(size), row);
    double most = -INFINITY;
    for (std::size_t arm = 0; arm < arms_; ++arm) {
      const double* beta = coefficients.data() + arm * (1 + columns_);
      double score = beta[0];
      for (std::size_t k = 0; k < columns_; ++k) score += beta[1 + k] * (static_cast<double>(row[k]) - mean_[k]);
      probability[arm] = score;
      most = std::max(most, score);
    }
    double sum = 0.0;
    for (double& score : probability) sum += score = std::exp(score - most);
    for (double& score : probability) score /= sum;
  }

  Slope slope_at(const data::Trial& trial, const std::vector<double>& coefficients, core::RunContext& context) const {
    Slope empty{0.0, std::vector<double>(coefficients.size())};
    Slope slope = core::sum_chunks(
        context, draws_.arm.size(), chunk_size_of(draws_.arm.size()), empty,
        [&](std::size_t begin, std::size_t end) {
          Slope part = empty;
          std::vector<float> row(columns_);
          std::vector<double> probability(arms_);
          for (std::size_t draw = begin; draw < end; ++draw) {
            predict(trial, draw, coefficients, row, probability);
            const double weight = weights_.empty() ? 1.0 : weights_[draw];
            part.log_likelihood += weight * std::log(std::max(1e-300, probability[draws_.arm[draw]]));
            for (std::size_t arm = 1; arm < arms_; ++arm) {
              const double surplus = weight * ((draws_.arm[draw] == arm ? 1.0 : 0.0) - probability[arm]);
              double* gradient = part.gradient.data() + arm * (1 + columns_);
              gradient[0] += surplus;
              for (std::size_t k = 0; k < columns_; ++k)
                gradient[1 + k] += surplus * (static_cast<double>(row[k]) - mean_[k]);
            }
          }
          return part;
        },
        [](Slope& total, const Slope& part) {
          total.log_likelihood += part.log_likelihood;
          for (std::size_t i = 0; i < total.gradient.size(); ++i) total.gradient[i] += part.gradient[i];
        });
    for (std::size_t arm = 1; arm < arms_; ++arm) {
      for (std::size_t k = 1; k <= columns_; ++k) {
        const std::size_t at = arm * (1 + columns_) + k;
        slope.log_likelihood -= 0.5 * kPenalty * coefficients[at] * coefficients[at];
        slope.gradient[at] -= kPenalty * coefficients[at];
      }
    }
    return slope;
  }

  // At no differences the curvature is (diag(p) - p p') x S, with p the arms' shares and S the columns' covariance;
  // the inverse of the first, over all arms but the first, is diag(1 / p_j) + 1 / p_0.
  std::vector<double> newton_direction(const std::vector<double>& gradient) const {
    const std::size_t size = 1 + columns_;
    std::vector<double> direction(gradient.size());
    std::vector<double> sum(size);
    for (std::size_t arm = 1; arm < arms_; ++arm) {
      for (std::size_t k = 0; k < size; ++k) sum[k] += gradient[arm * size + k];
    }
    for (std::size_t arm = 1; arm < arms_; ++arm) {
      double* step = direction.data() + arm * size;
      for (std::size_t k = 0; k < size; ++k)
        step[k] = (gradient[arm * size + k] / share_[arm] + sum[k] / share_[0]) / num_draws_;
      metric_->solve(step + 1);
    }
    return direction;
  }

  Draws draws_;
  Expansion expansion_;
  std::vector<double> weights_;  // sample weights of the draws; empty: all alike
  std::size_t arms_;
  std::size_t columns_ = 0;
  std::vector<double> mean_;            // of the columns
  std::vector<double> coefficients_;    // arms x (1 + columns); those of the first arm stay 0
  std::vector<double> share_;           // of the draws, per arm
  std::vector<std::uint32_t> draw_of_;  // per unit
  double num_draws_ = 0.0;
  std::optional<Cholesky> metric_;
};

}  // namespace

PropensityEstimate estimate_propensities(const data::Trial& trial, core::RunContext& context,
                                         const CheckOptions& options) {
  const RowGroups groups = groups_of(trial, context);
  Draws draws = draws_of(trial, groups, context);
  std::vector<std::size_t> counts(trial.arms.size());
  for (const std::uint8_t arm : draws.arm) ++counts[arm];
  Expansion expansion(trial.features, draws.groups, *std::min_element(counts.begin(), counts.end()), options, context);
  auto model = std::make_shared<PropensityModel>(trial, std::move(draws), std::move(expansion), options, context);
  model->fit(trial, context);
  model->find_draws(trial.num_units());
  core::Column<float> propensity = model->propensities(trial, context);
  return {std::move(propensity), std::move(model)};
}

}  // namespace dfcl::check
