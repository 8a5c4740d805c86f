// SPDX-License-Identifier: Apache-2.0
//
// What a row tells about a policy (eq. 16): its contribution to the sums of which every estimator of revenue and cost
// is made. Horvitz-Thompson and doubly robust are means of contributions; Hajek divides by the sum of the weights;
// stratified is Hajek inside each chosen arm, weighted by the arm's share. Where an arm costs a known share of its
// revenue, its cost is that share of the revenue's contribution; where it costs a known price, costs are not estimated
// at all (curves/setting.h). A row counts by its sample weight, in sums as in the number of units. Nothing is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dfcl/core/matrix.h"
#include "dfcl/evaluate/estimators/trial_rows.h"

namespace dfcl::evaluate {

enum class Estimator : std::uint8_t { horvitz_thompson, hajek, stratified, doubly_robust };
std::string_view to_text(Estimator estimator);  // as users type it: horvitz-thompson, ...

// Outcomes for every row and arm, from a prediction or a truth.
struct Outcomes {
  core::MatrixView<const float> revenue = {};  // rows x arms
  core::MatrixView<const float> cost = {};     // rows x arms
};

struct Contribution {
  double revenue = 0.0;
  double cost = 0.0;
  double weight = 0.0;  // Hajek and stratified only
};

class Rewards {
 public:
  // nuisance: m of eq. 16, for doubly robust only; never fitted on these rows. Rows and nuisance must outlive this.
  // free_control: it is a fact that control costs nothing, whatever the nuisance predicts.
  Rewards(const TrialRows& rows, Estimator estimator, Outcomes nuisance = {}, bool free_control = false)
      : rows_(rows), estimator_(estimator), nuisance_(nuisance), free_control_(free_control) {}

  const TrialRows& rows() const { return rows_; }
  Estimator estimator() const { return estimator_; }
  bool is_mean() const { return estimator_ == Estimator::horvitz_thompson || estimator_ == Estimator::doubly_robust; }

  // What a row cost, control's being a fact where it is free.
  double observed_cost(std::size_t row) const {
    return free_control_ && rows_.arm[row] == rows_.arms.control ? 0.0 : static_cast<double>(rows_.cost[row]);
  }
  // Of a row, were it given the arm.
  Contribution of(std::size_t row, std::size_t arm) const {
    Contribution contribution = observed(row, arm);
    if (!rows_.rates().empty()) contribution.cost = rows_.rates()[arm] * contribution.revenue;
    if (free_control_ && arm == rows_.arms.control) contribution.cost = 0.0;
    if (!rows_.sample.empty()) {
      const double times = rows_.sample[row];
      contribution = {times * contribution.revenue, times * contribution.cost, times * contribution.weight};
    }
    return contribution;
  }

 private:
  Contribution observed(std::size_t row, std::size_t arm) const {
    const bool seen = rows_.arm[row] == arm;
    if (estimator_ == Estimator::doubly_robust) {
      const double revenue = static_cast<double>(nuisance_.revenue(row, arm));
      const double cost = static_cast<double>(nuisance_.cost(row, arm));
      if (!seen) return {revenue, cost, 0.0};
      const double weight = rows_.weight[row];
      return {revenue + weight * (static_cast<double>(rows_.revenue[row]) - revenue),
              cost + weight * (static_cast<double>(rows_.cost[row]) - cost), 0.0};
    }
    if (!seen) return {};
    const double weight = rows_.weight[row];
    return {weight * static_cast<double>(rows_.revenue[row]), weight * static_cast<double>(rows_.cost[row]),
            is_mean() ? 0.0 : weight};
  }

  const TrialRows& rows_;
  Estimator estimator_;
  Outcomes nuisance_;
  bool free_control_;
};

}  // namespace dfcl::evaluate
