// SPDX-License-Identifier: Apache-2.0
#include "dfcl/core/small_system.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfcl::core {

std::optional<std::vector<double>> solve_system(std::vector<double> rows, std::size_t n, std::size_t right_sides) {
  const std::size_t width = n + right_sides;
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return rows[i * width + j]; };
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(at(i, j)));
  }
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t i = column + 1; i < n; ++i) {
      if (std::abs(at(i, column)) > std::abs(at(pivot, column))) pivot = i;
    }
    if (!(std::abs(at(pivot, column)) > 1e-11 * largest)) return std::nullopt;
    for (std::size_t j = 0; j < width; ++j) std::swap(at(pivot, j), at(column, j));
    for (std::size_t i = column + 1; i < n; ++i) {
      const double factor = at(i, column) / at(column, column);
      for (std::size_t j = column; j < width; ++j) at(i, j) -= factor * at(column, j);
    }
  }
  std::vector<double> solution(n * right_sides);
  for (std::size_t side = 0; side < right_sides; ++side) {
    for (std::size_t i = n; i-- > 0;) {
      double sum = at(i, n + side);
      for (std::size_t j = i + 1; j < n; ++j) sum -= at(i, j) * solution[j * right_sides + side];
      solution[i * right_sides + side] = sum / at(i, i);
    }
  }
  return solution;
}

std::optional<std::vector<double>> inverse_of(const std::vector<double>& matrix, std::size_t n) {
  std::vector<double> rows(n * 2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i * 2 * n + j] = matrix[i * n + j];
    rows[i * 2 * n + n + i] = 1.0;
  }
  return solve_system(std::move(rows), n, n);
}

}  // namespace dfcl::core
