// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/covariance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/parallel.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::check {
namespace {

constexpr std::size_t kTile = 64;        // draws expanded at a time
constexpr double kCovarianceWork = 4e9;  // multiplications that are quick enough never to be saved

void expand_draw(const data::Trial& trial, const Draws& draws, const Expansion& expansion, std::size_t draw,
                 std::vector<float>& columns) {
  std::fill(columns.begin(), columns.end(), 0.0f);
  const std::size_t size = draws.groups.size_of(draw);
  const float part = 1.0f / static_cast<float>(size);
  for (std::size_t i = 0; i < size; ++i) {
    expansion.add(trial.features.values.row(draws.groups.row(draw, i)), part, columns);
  }
}

double weight_of(const data::Trial& trial, const Draws& draws, std::size_t draw) {
  const std::size_t size = draws.groups.size_of(draw);
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) sum += data::row_weight(trial, draws.groups.row(draw, i));
  return sum / static_cast<double>(size);
}

void add_draw(ColumnMoments& moments, std::size_t arm, double weight, bool weighted,
              const std::vector<float>& columns) {
  moments.draws[arm] += 1.0;
  moments.weight[arm] += weight;
  moments.weight_squared[arm] += weight * weight;
  const std::size_t first = arm * moments.num_columns;
  double* sum = moments.sum.data() + first;
  double* square = moments.square.data() + first;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double value = columns[k];
    sum[k] += weight * value;
    square[k] += weight * value * value;
  }
  if (!weighted) return;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double value = columns[k];
    moments.sum_squared[first + k] += weight * weight * value;
    moments.square_squared[first + k] += weight * weight * value * value;
  }
}

void add_into(std::vector<double>& total, const std::vector<double>& part) {
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
}

// Adds x x' of the tile's rows to the upper triangle, four rows at a time.
void add_products(const std::vector<double>& tile, std::size_t num_columns, std::vector<double>& products) {
  for (std::size_t row = 0; row + 4 <= kTile; row += 4) {
    const double* x0 = tile.data() + row * num_columns;
    const double* x1 = x0 + num_columns;
    const double* x2 = x1 + num_columns;
    const double* x3 = x2 + num_columns;
    for (std::size_t i = 0; i < num_columns; ++i) {
      double* into = products.data() + i * num_columns;
      const double a0 = x0[i];
      const double a1 = x1[i];
      const double a2 = x2[i];
      const double a3 = x3[i];
      for (std::size_t j = i; j < num_columns; ++j) into[j] += a0 * x0[j] + a1 * x1[j] + a2 * x2[j] + a3 * x3[j];
    }
  }
}

}  // namespace

ColumnMoments empty_moments(std::size_t num_arms, std::size_t num_columns, bool weighted) {
  ColumnMoments moments;
  moments.num_columns = num_columns;
  moments.draws.resize(num_arms);
  moments.weight.resize(num_arms);
  moments.weight_squared.resize(num_arms);
  moments.sum.resize(num_arms * num_columns);
  moments.square.resize(num_arms * num_columns);
  moments.sum_squared.resize(weighted ? num_arms * num_columns : 0);
  moments.square_squared.resize(weighted ? num_arms * num_columns : 0);
  return moments;
}

ColumnMoments column_moments(const data::Trial& trial, const Draws& draws, const Expansion& expansion, bool weighted,
                             core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  const std::size_t num_columns = expansion.num_columns();
  return core::sum_chunks(
      context, draws.arm.size(), chunk_size_of(draws.arm.size()), empty_moments(num_arms, num_columns, weighted),
      [&](std::size_t begin, std::size_t end) {
        ColumnMoments part = empty_moments(num_arms, num_columns, weighted);
        std::vector<float> columns(num_columns);
        for (std::size_t draw = begin; draw < end; ++draw) {
          expand_draw(trial, draws, expansion, draw, columns);
          add_draw(part, draws.arm[draw], weighted ? weight_of(trial, draws, draw) : 1.0, weighted, columns);
        }
        return part;
      },
      [](ColumnMoments& total, const ColumnMoments& part) {
        add_into(total.draws, part.draws);
        add_into(total.weight, part.weight);
        add_into(total.weight_squared, part.weight_squared);
        add_into(total.sum, part.sum);
        add_into(total.square, part.square);
        add_into(total.sum_squared, part.sum_squared);
        add_into(total.square_squared, part.square_squared);
      });
}

std::vector<double> column_covariance(const data::Trial& trial, const Draws& draws, const Expansion& expansion,
                                      const ColumnMoments& moments, std::size_t max_draws, core::RunContext& context) {
  const std::size_t size = expansion.num_columns();
  const auto columns = static_cast<double>(size);
  const double affordable = std::max(100.0 * columns, kCovarianceWork / (columns * columns));
  const auto sample =
      spread_sample(draws.arm.size(), static_cast<std::size_t>(std::min(static_cast<double>(max_draws), affordable)));

  const bool weighted = !moments.sum_squared.empty();
  const double num_draws = std::accumulate(moments.draws.begin(), moments.draws.end(), 0.0);
  const double total_weight = std::accumulate(moments.weight.begin(), moments.weight.end(), 0.0);
  std::vector<double> mean(size);
  std::vector<double> variance(size);
  for (std::size_t k = 0; k < size; ++k) {
    double square = 0.0;
    for (std::size_t arm = 0; arm < moments.draws.size(); ++arm) {
      mean[k] += moments.sum[arm * size + k] / total_weight;
      square += moments.square[arm * size + k];
    }
    const double deviations = std::max(0.0, square - total_weight * mean[k] * mean[k]);
    variance[k] = deviations * (num_draws / total_weight) / (num_draws - 1.0);
  }

  std::vector<double> products = core::sum_chunks(
      context, sample.size(), std::max<std::size_t>(kTile, (sample.size() + 15) / 16), std::vector<double>(size * size),
      [&](std::size_t begin, std::size_t end) {
        std::vector<double> part(size * size);
        std::vector<double> tile(kTile * size);
        std::vector<float> row(size);
        for (std::size_t first = begin; first < end; first += kTile) {
          std::fill(tile.begin(), tile.end(), 0.0);
          for (std::size_t i = first; i < std::min(end, first + kTile); ++i) {
            expand_draw(trial, draws, expansion, sample[i], row);
            const double root = weighted ? std::sqrt(weight_of(trial, draws, sample[i])) : 1.0;
            for (std::size_t k = 0; k < size; ++k)
              tile[(i - first) * size + k] = root * (static_cast<double>(row[k]) - mean[k]);
          }
          add_products(tile, size, part);
        }
        return part;
      },
      [](std::vector<double>& total, const std::vector<double>& part) { add_into(total, part); });

  // The inverse of a sampled covariance is too large by this factor on average.
  const auto sampled = static_cast<double>(sample.size());
  const bool all = sampled == num_draws;  // moments may be of more draws than are at hand
  const double widen = all ? 1.0 : (sampled - 1.0) / (sampled - columns - 2.0);
  std::vector<double> deviation(size);
  for (std::size_t k = 0; k < size; ++k) deviation[k] = std::sqrt(products[k * size + k]);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j) {
      const double scale = deviation[i] * deviation[j];
      products[i * size + j] =
          scale > 0.0 ? widen * products[i * size + j] / scale * std::sqrt(variance[i] * variance[j]) : 0.0;
    }
  }
  return products;
}

}  // namespace dfcl::check
