// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/simultaneous.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/interval.h"
#include "dfcl/core/parallel.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/estimators/intervals.h"

namespace dfcl::evaluate {
namespace {

// In place, row by row; a row without rest (a figure that others make) gets zeros.
void cholesky(std::vector<double>& matrix, std::size_t size) {
  constexpr double kNoRest = 1e-10;  // of a variance of 1
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t col = 0; col <= row; ++col) {
      double sum = matrix[row * size + col];
      for (std::size_t k = 0; k < col; ++k) sum -= matrix[row * size + k] * matrix[col * size + k];
      if (col < row) {
        matrix[row * size + col] = matrix[col * size + col] > 0.0 ? sum / matrix[col * size + col] : 0.0;
      } else {
        matrix[row * size + col] = sum > kNoRest ? std::sqrt(sum) : 0.0;
      }
    }
  }
}

}  // namespace

FigureCovariance::FigureCovariance(std::size_t num_figures)
    : size_(num_figures),
      sums_(num_figures <= kMostFigures ? num_figures * (num_figures + 1) / 2 : num_figures),
      groups_(num_figures),
      open_(num_figures),
      is_touched_(num_figures) {}

double& FigureCovariance::at(std::size_t row, std::size_t col) {
  if (!is_kept()) return sums_[row];
  return row >= col ? sums_[row * (row + 1) / 2 + col] : sums_[col * (col + 1) / 2 + row];
}

void FigureCovariance::add(std::size_t figure, double influence) {
  if (!is_touched_[figure]) {
    is_touched_[figure] = true;
    touched_.push_back(static_cast<std::uint32_t>(figure));
  }
  open_[figure] += influence;
}

void FigureCovariance::close_group() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const std::size_t figure = touched_[i];
    if (is_kept()) {
      for (std::size_t k = 0; k <= i; ++k) at(figure, touched_[k]) += open_[figure] * open_[touched_[k]];
    } else {
      sums_[figure] += open_[figure] * open_[figure];
    }
    groups_[figure] += 1.0;
  }
  for (const std::uint32_t figure : touched_) {
    open_[figure] = 0.0;
    is_touched_[figure] = false;
  }
  touched_.clear();
}

void FigureCovariance::add_groups(std::size_t figure, double num_groups, double squares) {
  at(figure, figure) += squares;
  groups_[figure] += num_groups;
}

void FigureCovariance::add(const FigureCovariance& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  for (std::size_t figure = 0; figure < size_; ++figure) groups_[figure] += other.groups_[figure];
}

void FigureCovariance::take_off(std::size_t first, std::size_t second, double part) {
  double& sum = at(first, second);
  sum = first == second ? std::max(0.0, sum - part) : sum - part;
}

void FigureCovariance::widen(double factor) {
  for (double& sum : sums_) sum *= factor * factor;
}

double FigureCovariance::correction(std::size_t figure) const {
  return std::sqrt(groups_[figure] / (groups_[figure] - 1.0));  // NaN for one group
}

double FigureCovariance::error(std::size_t figure) const {
  const double square = is_kept() ? sums_[figure * (figure + 1) / 2 + figure] : sums_[figure];
  return std::sqrt(square) * correction(figure);
}

double FigureCovariance::critical(const std::vector<bool>& counted, double level, core::RunContext& context) const {
  std::vector<std::size_t> figures;
  for (std::size_t figure = 0; figure < size_; ++figure) {
    if (counted[figure] && error(figure) > 0.0) figures.push_back(figure);
  }
  const std::size_t size = figures.size();
  if (size < 2) return core::normal_critical(level);
  if (!is_kept()) return bonferroni_critical(size, level);
  std::vector<double> root(size * size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t col = 0; col <= row; ++col) {
      const std::size_t first = std::max(figures[row], figures[col]);
      const std::size_t second = std::min(figures[row], figures[col]);
      root[row * size + col] =
          sums_[first * (first + 1) / 2 + second] /
          std::sqrt(sums_[first * (first + 1) / 2 + first] * sums_[second * (second + 1) / 2 + second]);
    }
  }
  cholesky(root, size);
  std::vector<double> largest(kDraws);
  core::for_each_chunk(context, kDraws, 256, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<double> normal(size);
    for (std::size_t draw = begin; draw < end; ++draw) {
      core::RandomStream stream(context.seed, core::stream_purpose("largest t"), draw);
      for (double& one : normal) one = stream.normal();
      double most = 0.0;
      for (std::size_t row = 0; row < size; ++row) {
        double t = 0.0;
        for (std::size_t col = 0; col <= row; ++col) t += root[row * size + col] * normal[col];
        most = std::max(most, std::abs(t));
      }
      largest[draw] = most;
    }
  });
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(level * static_cast<double>(kDraws))) - 1;
  std::nth_element(largest.begin(), largest.begin() + place, largest.end());
  return std::max(core::normal_critical(level), largest[static_cast<std::size_t>(place)]);
}

}  // namespace dfcl::evaluate
