// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/objective.h"

#include <algorithm>

#include "dfcl/core/error.h"
#include "dfcl/core/matrix.h"

namespace dfcl::learn {
namespace {

std::vector<double> totals_of(const loss::Loss<float>& loss, const loss::Rows<float>& rows) {
  std::vector<double> totals(loss.num_totals());
  loss.add_totals(rows, totals);
  return totals;
}

}  // namespace

void Objective::add(std::unique_ptr<const loss::Loss<float>> loss, double weight, double validation_weight) {
  losses_.push_back({loss.get(), weight});
  validation_weights_.push_back(validation_weight);
  owned_.push_back(std::move(loss));
}

double Objective::value(const loss::Rows<float>& rows) const {
  core::Matrix<float> revenue(rows.revenue.rows, rows.revenue.cols);
  core::Matrix<float> cost(rows.cost.rows, rows.cost.cols);
  std::fill_n(revenue.data(), rows.revenue.size(), 0.0f);
  std::fill_n(cost.data(), rows.cost.size(), 0.0f);
  double total = 0.0;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    if (validation_weights_[i] == 0.0) continue;
    const loss::Loss<float>& loss = *losses_[i].loss;
    total += validation_weights_[i] *
             loss.add_gradient(rows, totals_of(loss, rows), 0.0, {revenue.view(), cost.view()});  // a slope of nothing
  }
  return total / static_cast<double>(rows.num_rows());
}

double Objective::add_gradient(const loss::Rows<float>& rows, double scale, loss::Gradient<float> gradient,
                               loss::Gradient<float>* curvature) const {
  double total = 0.0;
  for (const loss::WeightedLoss<float>& part : losses_) {
    total += part.weight * part.loss->add_gradient(rows, totals_of(*part.loss, rows), scale * part.weight, gradient);
    if (curvature == nullptr) continue;
    if (!part.loss->add_curvature(rows, scale * part.weight, *curvature))
      throw core::Error({.kind = core::ErrorKind::unavailable, .what = "a loss without second derivatives"});
  }
  return total;
}

}  // namespace dfcl::learn
