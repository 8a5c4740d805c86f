// SPDX-License-Identifier: Apache-2.0
//
// The net value of decisions at given prices (eq. 20): what choosing the best score rh - L ch for every unit would
// earn after paying L for its cost, estimated doubly robustly from the one arm seen per unit. At common prices a model
// cannot win by overspending, so this is what models are chosen by. One pass over the units; no memory beside the
// input, but 16 bytes a unit where units have clusters.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"

namespace dfcl::evaluate {

// Units of a trial with a nuisance prediction m that was not fitted on them.
struct RewardUnits {
  std::span<const std::uint8_t> arm;               // received
  std::span<const float> revenue;                  // observed
  std::span<const float> cost;                     // observed
  std::span<const float> weight;                   // 1 / probability of the arm received, times the sample weight
  core::MatrixView<const float> nuisance_revenue;  // units x arms
  core::MatrixView<const float> nuisance_cost;     // units x arms
  std::span<const std::uint32_t> cluster = {};     // units that share a number belong together; empty: each its own
  std::span<const float> sample = {};              // sample weights; empty: all alike

  double sample_weight(std::size_t unit) const { return sample.empty() ? 1.0 : static_cast<double>(sample[unit]); }
  std::size_t size() const { return arm.size(); }
};

// A model's predictions for those units.
struct Scores {
  core::MatrixView<const float> revenue;  // units x arms
  core::MatrixView<const float> cost;     // units x arms
};

struct Estimate {
  double value = 0.0;
  double standard_error = 0.0;  // over groups
};

// Sums over groups: units, or clusters of them. Those of different groups add up.
struct ValueSums {
  double units = 0.0;
  double groups = 0.0;
  double sum = 0.0;      // of the groups' sums S
  double squares = 0.0;  // of S^2
  double cross = 0.0;    // of S n, n the units of a group
  double sizes = 0.0;    // of n^2

  void add_group(double value, double num_units);
  void add(const ValueSums& other);
  // Nothing is known of the error of fewer than two groups: it is infinite.
  Estimate mean() const;
};

// Of the mean over the multipliers of phi_{i, z(i)} (eq. 5b), z the best arm by score, ties to the
// first.
ValueSums net_value(const RewardUnits& units, const Scores& scores, std::span<const double> multipliers,
                    core::RunContext& context);

// D(a, b) of eq. 20: the net value of a minus that of b on the same units, prices and nuisance.
ValueSums net_value_difference(const RewardUnits& units, const Scores& a, const Scores& b,
                               std::span<const double> multipliers, core::RunContext& context);

}  // namespace dfcl::evaluate
