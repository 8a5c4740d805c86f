// SPDX-License-Identifier: Apache-2.0
//
// What a fit minimises: weighted losses (dfcl/loss), the prediction loss first, and what a learner must know about
// them. Two-stage learning is one objective; fine-tuning for decisions is a second fit with another. Learners call it
// for a batch or a tile of rows, never for one row.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dfcl/loss/efficiency.h"
#include "dfcl/loss/loss.h"

namespace dfcl::learn {

class Objective {
 public:
  // validation_weight: of the loss in value(), by which validation units are judged; 0 leaves it out.
  void add(std::unique_ptr<const loss::Loss<float>> loss, double weight, double validation_weight);

  // The weights are those of the gradient.
  std::span<const loss::WeightedLoss<float>> losses() const { return losses_; }

  // The mean over the rows, by the validation weights. rows: a whole batch.
  double value(const loss::Rows<float>& rows) const;

  // The sum over the losses of weight x (scale x d(sum of the rows' losses)), added to the gradient and, where the
  // learner wants it, to the curvature: the second derivatives by each prediction alone. rows: a whole batch. Returns
  // the sum of the rows' losses, weighted. Throws Error of kind unavailable where a loss has no curvature.
  double add_gradient(const loss::Rows<float>& rows, double scale, loss::Gradient<float> gradient,
                      loss::Gradient<float>* curvature = nullptr) const;

  // Every loss looks at the arm received only, so predictions of other arms need not be made.
  bool received_arm_only = false;
  // A decision loss takes part, made for these multipliers, in the study's currencies.
  bool decides = false;
  std::vector<double> multipliers;
  // What the losses take for predicted revenue: revenue, or scores of efficiencies (dfcl/loss/efficiency.h).
  loss::RevenueForm revenue_form = loss::RevenueForm::outcome;
  double efficiency_cost_scale = 1.0;

 private:
  std::vector<std::unique_ptr<const loss::Loss<float>>> owned_;
  std::vector<loss::WeightedLoss<float>> losses_;
  std::vector<double> validation_weights_;
};

}  // namespace dfcl::learn
