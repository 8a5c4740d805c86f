// SPDX-License-Identifier: Apache-2.0
//
// What one row says of the effect of an arm over control: psi_ij = phi_ij - phi_ic with phi of eq. 5b, whose mean over
// any group of rows that was formed without their outcomes estimates the mean effect there. With the doubly robust
// estimator phi has its nuisance; with the others the means of the arms stand for it, which makes the mean over all
// rows Hajek's. And means of such numbers over labelled rows, with standard errors over units or clusters. Internal to
// the room. Time: a few nanoseconds a row and arm, by all threads; memory: a few numbers a label, 4 bytes a row with
// clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/estimators/estimators.h"

namespace dfcl::evaluate {

struct Effect {  // over control
  double revenue = 0.0;
  double cost = 0.0;
};

class EffectScores {
 public:
  // rewards must outlive this.
  EffectScores(const Rewards& rewards, bool free_control);

  Effect of(std::size_t row, std::size_t arm) const {
    const Contribution treated = contribution(row, arm);
    const Contribution control = contribution(row, rewards_.rows().arms.control);
    if (prices_.empty()) return {treated.revenue - control.revenue, treated.cost - control.cost};
    return {treated.revenue - control.revenue, prices_[arm] - prices_[rewards_.rows().arms.control]};
  }

 private:
  struct Means {
    double revenue = 0.0;
    double cost = 0.0;
  };
  Contribution contribution(std::size_t row, std::size_t arm) const;

  const Rewards& rewards_;
  std::span<const double> prices_;  // known; empty: none
  bool free_control_;
  std::vector<Means> means_;  // per arm; empty with the doubly robust estimator
};

inline Contribution EffectScores::contribution(std::size_t row, std::size_t arm) const {
  const TrialRows& rows = rewards_.rows();
  if (means_.empty()) {  // of one unit, not of all that the row stands for
    const Contribution all = rewards_.of(row, arm);
    const double units = rows.sample_weight(row);
    return {all.revenue / units, all.cost / units, all.weight / units};
  }
  Contribution own{means_[arm].revenue, means_[arm].cost, 0.0};
  if (rows.arm[row] == arm) {
    own.revenue += rows.weight[row] * (static_cast<double>(rows.revenue[row]) - means_[arm].revenue);
    own.cost += rows.weight[row] * (static_cast<double>(rows.cost[row]) - means_[arm].cost);
  }
  if (!rows.rates().empty()) own.cost = rows.rates()[arm] * own.revenue;
  if (free_control_ && arm == rows.arms.control) own.cost = 0.0;
  return own;
}

inline constexpr std::uint32_t kNoLabel = 0xffffffffu;
inline constexpr std::size_t kFigureRows = 16'384;  // of a chunk of rows whose sums are added up

struct LabelMean {
  std::size_t num_units = 0;
  double weight = 0.0;  // the sum of sample weights; the number of units where there are none
  double mean = 0.0;
  double error = 0.0;  // standard error; NaN for one group
};
// Means of a value per row over the rows of each label (kNoLabel: left out), by sample weight. Errors carry the
// estimation of propensities (figure_influences.h), here and below.
std::vector<LabelMean> label_means(const TrialRows& rows, std::span<const std::uint32_t> labels, std::size_t num_labels,
                                   std::span<const double> value, core::RunContext& context);

// Of the mean over all rows: arms keep their sizes where shares stand for propensities, so rows are centred by the arm
// that they received.
LabelMean mean_of_all(const TrialRows& rows, std::span<const double> value, core::RunContext& context);

// The standard error of a sum; influence: of each row on it. Rows are centred by arm, likewise.
double error_of_sums(const TrialRows& rows, std::span<const double> influence, core::RunContext& context);

// value(row) of all rows, by all threads.
template <class Value>
void fill_rows(std::vector<double>& values, core::RunContext& context, Value&& value) {
  core::for_each_chunk(context, values.size(), kFigureRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) values[row] = value(row);
  });
}
template <class Value>
std::vector<double> values_of_rows(const TrialRows& rows, core::RunContext& context, Value&& value) {
  std::vector<double> values(rows.size());
  fill_rows(values, context, value);
  return values;
}

// So many significant digits: a mean of prices of 0.15 is to be shown as 0.15. Predictions are float32; sums of known
// prices lose a digit or two of their sixteen.
double in_digits(double value, int digits);
inline double in_float_digits(double value) { return in_digits(value, 7); }
inline double in_price_digits(double value) { return in_digits(value, 12); }

}  // namespace dfcl::evaluate
