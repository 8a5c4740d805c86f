// SPDX-License-Identifier: Apache-2.0
//
// What one row says of the effect of an arm over control: psi_ij = phi_ij - phi_ic with phi of eq. 5b, whose mean over
// any group of rows that was formed without their outcomes estimates the mean effect there. With the doubly robust
// estimator phi has its nuisance; with the others the means of the arms stand for it, which makes the mean over all
// rows Hajek's. And means of such numbers over labelled rows, with standard errors over units or clusters. Internal to
// the room. Time: a few nanoseconds a row and arm; memory: a few numbers a label, 4 bytes a row with clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
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

inline constexpr std::uint32_t kNoLabel = 0xffffffffu;

struct LabelMean {
  std::size_t num_units = 0;
  double weight = 0.0;  // the sum of sample weights; the number of units where there are none
  double mean = 0.0;
  double error = 0.0;  // standard error; NaN for one group
};
// Means of value(row) over the rows of each label (kNoLabel: left out), by sample weight. Errors carry the estimation
// of propensities (figure_influences.h), here and below.
std::vector<LabelMean> label_means(const TrialRows& rows, std::span<const std::uint32_t> labels, std::size_t num_labels,
                                   const std::function<double(std::size_t)>& value, core::RunContext& context);

// Of the mean over all rows: arms keep their sizes where shares stand for propensities, so rows are centred by the arm
// that they received.
LabelMean mean_of_all(const TrialRows& rows, const std::function<double(std::size_t)>& value,
                      core::RunContext& context);

// The standard error of a sum; influence: of each row on it. Rows are centred by arm, likewise.
double error_of_sums(const TrialRows& rows, std::vector<double> influence, core::RunContext& context);
// So many significant digits: a mean of prices of 0.15 is to be shown as 0.15. Predictions are float32; sums of known
// prices lose a digit or two of their sixteen.
double in_digits(double value, int digits);
inline double in_float_digits(double value) { return in_digits(value, 7); }
inline double in_price_digits(double value) { return in_digits(value, 12); }

}  // namespace dfcl::evaluate
