// SPDX-License-Identifier: Apache-2.0
#include "dfcl/loss/fd_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfcl/core/error.h"

namespace dfcl::loss {
namespace {

template <class T>
core::Matrix<T> copy_of(core::MatrixView<const T> from) {
  core::Matrix<T> copy(from.rows, from.cols);
  std::copy_n(from.data, from.size(), copy.data());
  return copy;
}

// `moved` is a part of the predictions in `rows`.
template <class T>
void add_differences(const Rows<T>& rows, core::Matrix<T>& moved, const PlanValue<T>& value, double base, double step,
                     double scale, core::MatrixView<T> gradient) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const T kept = moved.data()[i];
    moved.data()[i] = static_cast<T>(kept + static_cast<T>(step));
    const double difference = value(rows) - base;
    moved.data()[i] = kept;
    gradient.data[i] -= static_cast<T>(scale * difference / step);
  }
}

}  // namespace

template <class T>
FdLoss<T>::FdLoss(const FdOptions& options, PlanValue<T> value) : options_(options), value_(std::move(value)) {
  if (options_.step == 0.0 || !std::isfinite(options_.step)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "step of finite differences is out of range",
                       .found = fmt::format("{}", options_.step),
                       .expected = "a finite number other than zero"});
  }
}

template <class T>
double FdLoss<T>::add_gradient(const Rows<T>& rows, std::span<const double>, double scale, Gradient<T> gradient) const {
  if (rows.num_rows() > kMostFdRows) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .what = "plain finite differences solve the budget problem anew for every prediction",
                       .found = fmt::format("{} units", rows.num_rows()),
                       .expected = fmt::format("at most {}", kMostFdRows),
                       .hint = "use dfcl-ifd, or a sample"});
  }
  core::Matrix<T> revenue = copy_of(rows.revenue);
  core::Matrix<T> cost = copy_of(rows.cost);
  Rows<T> moved = rows;
  moved.revenue = revenue.view();
  moved.cost = cost.view();
  const double base = value_(moved);
  add_differences(moved, revenue, value_, base, options_.step, scale, gradient.revenue);
  if (options_.gradient_to_cost) {
    add_differences(moved, cost, value_, base, options_.step, scale, gradient.cost);
  }
  return -base;
}

template class FdLoss<float>;
template class FdLoss<double>;

double fd_score_slope(std::span<const double> score, std::span<const double> reward, std::size_t arm, double step) {
  const auto value_at = [&](double moved) {
    std::size_t winner = 0;
    double best = arm == 0 ? score[0] + moved : score[0];
    for (std::size_t other = 1; other < score.size(); ++other) {
      const double a = other == arm ? score[other] + moved : score[other];
      if (a > best) {
        best = a;
        winner = other;
      }
    }
    return reward[winner];
  };
  return (value_at(step) - value_at(0.0)) / step;
}

}  // namespace dfcl::loss
