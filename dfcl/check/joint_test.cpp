// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/joint_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/distributions.h"

namespace dfcl::check {
namespace {

// A column of which less than this share of its own variance is left, given the columns before it, is dependent.
constexpr double kMinLeft = 1e-5;

// Pivoted Cholesky of the correlation matrix, in place: row i < rank of `factor` is the i-th row of U, R = U'U, with
// columns in the order of `pivots`.
struct Factor {
  std::vector<double> rows;         // columns x columns
  std::vector<std::size_t> pivots;  // position -> column
  std::vector<double> deviation;    // per column: square root of its variance
  std::size_t rank = 0;
};

Factor factorise(std::span<const double> covariance, std::size_t size) {
  Factor factor;
  factor.rows.assign(size * size, 0.0);
  factor.pivots.resize(size);
  factor.deviation.resize(size);
  std::iota(factor.pivots.begin(), factor.pivots.end(), 0);
  for (std::size_t i = 0; i < size; ++i) factor.deviation[i] = std::sqrt(std::max(0.0, covariance[i * size + i]));
  const auto correlation = [&](std::size_t a, std::size_t b) {
    const double scale = factor.deviation[a] * factor.deviation[b];
    return scale > 0.0 ? covariance[std::min(a, b) * size + std::max(a, b)] / scale : 0.0;
  };
  std::vector<double> left(size);  // by position
  for (std::size_t i = 0; i < size; ++i) left[i] = factor.deviation[i] > 0.0 ? 1.0 : 0.0;
  double* rows = factor.rows.data();
  for (std::size_t k = 0; k < size; ++k) {
    const auto best = static_cast<std::size_t>(
        std::max_element(left.begin() + static_cast<std::ptrdiff_t>(k), left.end()) - left.begin());
    if (!(left[best] > kMinLeft)) break;
    std::swap(left[k], left[best]);
    std::swap(factor.pivots[k], factor.pivots[best]);
    for (std::size_t i = 0; i < k; ++i) std::swap(rows[i * size + k], rows[i * size + best]);
    const double diagonal = std::sqrt(left[k]);
    rows[k * size + k] = diagonal;
    for (std::size_t j = k + 1; j < size; ++j) rows[k * size + j] = correlation(factor.pivots[k], factor.pivots[j]);
    for (std::size_t i = 0; i < k; ++i) {
      const double above = rows[i * size + k];
      for (std::size_t j = k + 1; j < size; ++j) rows[k * size + j] -= above * rows[i * size + j];
    }
    for (std::size_t j = k + 1; j < size; ++j) {
      rows[k * size + j] /= diagonal;
      left[j] -= rows[k * size + j] * rows[k * size + j];
    }
    factor.rank = k + 1;
  }
  return factor;
}

// d' S^-1 d over the independent columns.
double squared_length(const Factor& factor, std::span<const double> deviation) {
  const std::size_t size = factor.pivots.size();
  std::vector<double> solved(factor.rank);
  for (std::size_t j = 0; j < factor.rank; ++j) {
    const std::size_t column = factor.pivots[j];
    solved[j] = deviation[column] / factor.deviation[column];
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < factor.rank; ++i) {  // U' y = d
    solved[i] /= factor.rows[i * size + i];
    for (std::size_t j = i + 1; j < factor.rank; ++j) solved[j] -= factor.rows[i * size + j] * solved[i];
    sum += solved[i] * solved[i];
  }
  return sum;
}

// Pillai's trace V = T / (N - 1) and its F approximation (docs/check.md, eq. 6).
double pillai_p(double statistic, double columns, double arms, double draws) {
  const double trace = statistic / (draws - 1.0);
  const double s = std::min(columns, arms - 1.0);
  const double m = (std::fabs(columns - (arms - 1.0)) - 1.0) / 2.0;
  const double n = (draws - arms - columns - 1.0) / 2.0;
  if (trace >= s) return 0.0;
  const double f = (2.0 * n + s + 1.0) / (2.0 * m + s + 1.0) * trace / (s - trace);
  return core::f_upper(f, s * (2.0 * m + s + 1.0), s * (2.0 * n + s + 1.0));
}

}  // namespace

JointTest joint_test(std::span<const double> covariance, std::span<const double> deviations,
                     std::span<const double> counts, std::size_t num_columns) {
  JointTest test;
  const double draws = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto arms = static_cast<double>(counts.size());
  const Factor factor = factorise(covariance, num_columns);
  test.rank = factor.rank;
  const auto columns = static_cast<double>(factor.rank);
  if (factor.rank == 0 || draws - arms - columns < 10.0) return test;
  for (std::size_t arm = 0; arm < counts.size(); ++arm) {
    test.statistic += counts[arm] * squared_length(factor, deviations.subspan(arm * num_columns, num_columns));
  }
  test.run = true;
  test.degrees = columns * (arms - 1.0);
  test.p = pillai_p(test.statistic, columns, arms, draws);
  return test;
}

}  // namespace dfcl::check
