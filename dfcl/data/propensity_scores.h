// SPDX-License-Identifier: Apache-2.0
//
// The model that propensities were estimated with: a multinomial logit of the arm on columns made of the features. What
// intervals need of it: with estimated propensities the influence of a unit on an estimate is what its score, the slope
// of its log-likelihood, leaves unexplained. The score for arm j is (1[t = j] - p_j) (1, columns).
#pragma once

#include <cstddef>
#include <span>

namespace dfcl::data {

struct Trial;

class PropensityScores {
 public:
  virtual ~PropensityScores() = default;

  virtual std::size_t num_columns() const = 0;
  virtual double num_draws() const = 0;  // that it was fitted on: units, or what was drawn as one
  // Units of one draw share its columns and probabilities.
  virtual std::size_t draw_of(std::size_t unit) const = 0;
  virtual std::size_t num_units(std::size_t draw) const = 0;
  // The columns of a draw less their means, and the probability of every arm. Time: units of the draw x features, and
  // columns x arms.
  virtual void look_at(const Trial& trial, std::size_t draw, std::span<float> columns,
                       std::span<double> probability) const = 0;
  // Divides num_columns() numbers by the covariance of the columns.
  virtual void divide_by_covariance(std::span<double> values) const = 0;
};

}  // namespace dfcl::data
