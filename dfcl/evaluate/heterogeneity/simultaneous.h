// SPDX-License-Identifier: Apache-2.0
//
// Many means at once: their covariances over units or clusters, and the critical value for which all of them lie within
// so many standard errors of the truth together (largest |t|, eq. 18). The law of the largest |t| is that of the
// Gaussian multiplier bootstrap, whose draws are normal with these covariances whatever the rows; so it is drawn from
// the matrix and nothing of size rows x draws exists. Time: for each group of rows the square of the figures it is part
// of, and draws x figures^2. Memory: figures^2 numbers, for at most kMostFigures; beyond, Bonferroni's value. Internal
// to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/core/run_context.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kMostFigures = 300;
inline constexpr std::size_t kDraws = 10'000;

class FigureCovariance {
 public:
  explicit FigureCovariance(std::size_t num_figures);

  bool is_kept() const { return size_ <= kMostFigures; }
  // Of the open group: how much it moves a figure.
  void add(std::size_t figure, double influence);
  void close_group();
  // Of groups that move this figure and no other: how many, and the sum of the squares of how much.
  void add_groups(std::size_t figure, double num_groups, double squares);
  // The closed groups of another one with the same figures.
  void add(const FigureCovariance& other);
  // Of two figures: a part of their covariance that is not there after all; a variance stays at 0 or above.
  void take_off(std::size_t first, std::size_t second, double part);
  // Multiplies all standard errors.
  void widen(double factor);

  double error(std::size_t figure) const;
  // Over the figures with `counted` set.
  double critical(const std::vector<bool>& counted, double level, core::RunContext& context) const;

 private:
  std::size_t size_;
  std::vector<double> sums_;    // the lower triangle, row by row; only the diagonal where it is not kept
  std::vector<double> groups_;  // per figure: groups that move it
  std::vector<double> open_;    // influence of the open group
  std::vector<std::uint32_t> touched_;
  std::vector<bool> is_touched_;

  double& at(std::size_t row, std::size_t col);
  double correction(std::size_t figure) const;
};

}  // namespace dfcl::evaluate
