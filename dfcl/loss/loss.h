// SPDX-License-Identifier: Apache-2.0
//
// The interface of every loss: predictions, outcomes and multipliers in, value and gradient out, a tile of rows at a
// time. A loss sees no network and no solver. Outcomes, predictions and multipliers are in scaled units (section 4 of
// docs/method.md), so that temperatures and windows mean the same in every currency. T is float for training and double
// for checks of gradients. Cost: a few operations for each row, arm and multiplier; no memory but the tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/loss/baseline.h"

namespace dfcl::loss {

// A tile of training rows. Views point into memory of the caller.
template <class T>
struct Rows {
  core::MatrixView<const T> revenue;        // rows x arms: predicted (for losses of efficiencies: rows x scores)
  core::MatrixView<const T> cost;           // rows x arms: predicted
  std::span<const std::uint8_t> arm;        // received
  std::span<const float> observed_revenue;  // r_i
  std::span<const float> observed_cost;     // c_i
  std::span<const float> weight;            // w_i = 1 / probability of the arm received, times the sample weight
  // rows x arms, from a model not fitted on the row (eq. 5b); or empty
  core::MatrixView<const float> nuisance_revenue = {};
  core::MatrixView<const float> nuisance_cost = {};
  std::span<const std::uint32_t> unit = {};  // which units of the trial the rows are; may be empty
  std::span<const float> sample = {};        // sample weights; empty: all rows count alike

  std::size_t num_rows() const { return arm.size(); }
  std::size_t num_arms() const { return cost.cols; }
};

// d loss / d prediction, in the shapes of Rows. Losses add to it, so that several can share one.
template <class T>
struct Gradient {
  core::MatrixView<T> revenue;
  core::MatrixView<T> cost;
};

template <class T>
class Loss {
 public:
  virtual ~Loss() = default;

  // A loss that is not separable by row (DRM) first gathers totals over all tiles of a batch.
  virtual std::size_t num_totals() const { return 0; }
  virtual void add_totals(const Rows<T>&, std::span<double>) const {}

  // Adds scale x d(sum of the rows' losses) to the gradient and returns the sum of the rows' losses, not scaled. With
  // scale = 1 / N the whole is the mean over the N rows of a batch. `totals` are those of the whole batch. What a row
  // adds to its gradient does not depend on the other rows of the tile.
  virtual double add_gradient(const Rows<T>& rows, std::span<const double> totals, double scale,
                              Gradient<T> gradient) const = 0;

  // Adds scale x d2(a row's loss) / d(prediction)2, each prediction alone, for learners that take Newton's steps. False
  // where the loss has none worth using; nothing is added then.
  virtual bool add_curvature(const Rows<T>&, double, Gradient<T>) const { return false; }
};

// One of the losses that are minimised together.
template <class T>
struct WeightedLoss {
  const Loss<T>* loss = nullptr;
  double weight = 1.0;
};

// What decision losses share.
struct DecisionOptions {
  std::vector<double> multipliers;  // S, scaled
  Baseline baseline = Baseline::mean;
  double temperature = 1.0;      // tau of MER (eq. 6); PL is 1
  double window = 1.0;           // h of IFD (eq. 9)
  bool gradient_to_cost = true;  // false: the decision gradient reaches revenue only
  bool as_published = false;     // eq. 8 as published, only for IFD and IFD-softmax; not with doubly_robust
};

// Throws Error of kind usage and names the field, the value and the bound.
void require_valid(const DecisionOptions& options);
// A bug of the caller's: throws Error of kind internal unless matrices of these sizes can go with the options.
void require_nuisance(const DecisionOptions& options, std::size_t size_predicted, std::size_t size_nuisance);

}  // namespace dfcl::loss
