// SPDX-License-Identifier: Apache-2.0
//
// Moments of expanded features over the draws of a trial: per arm over all draws, and the covariance of the columns
// from a fixed sample of them. Time: one pass, and draws sampled x columns^2 / 2. Memory: 64 partial sums of arms x
// columns, 16 partial matrices of columns x columns.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/check/draws.h"
#include "dfcl/check/expansion.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Sums over the draws of each arm. A draw's columns are the means over its rows; its weight is 1, or the mean of
// sample weight / propensity over its rows.
struct ColumnMoments {
  std::size_t num_columns = 0;
  std::vector<double> draws;           // per arm
  std::vector<double> weight;          // per arm: sum of w
  std::vector<double> weight_squared;  // per arm: sum of w^2
  std::vector<double> sum;             // arms x columns: sum of w x
  std::vector<double> square;          // arms x columns: sum of w x^2
  std::vector<double> sum_squared;     // arms x columns: sum of w^2 x; empty unless weighted, as the next
  std::vector<double> square_squared;  // arms x columns: sum of w^2 x^2

  double mean(std::size_t arm, std::size_t column) const { return sum[arm * num_columns + column] / weight[arm]; }
};

ColumnMoments empty_moments(std::size_t num_arms, std::size_t num_columns, bool weighted);
ColumnMoments column_moments(const data::Trial& trial, const Draws& draws, const Expansion& expansion, bool weighted,
                             core::RunContext& context);

// Total covariance, columns x columns (upper triangle), divisor draws - 1: variances from all draws, correlations from
// at most max_draws of them. Draws count by the weights that the moments have.
std::vector<double> column_covariance(const data::Trial& trial, const Draws& draws, const Expansion& expansion,
                                      const ColumnMoments& moments, std::size_t max_draws, core::RunContext& context);

}  // namespace dfcl::check
