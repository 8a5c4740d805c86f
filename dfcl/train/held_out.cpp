// SPDX-License-Identifier: Apache-2.0
#include "dfcl/train/held_out.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfcl/loss/prediction_loss.h"

namespace dfcl::train {
namespace {

// In doubles: figures of two predictors are compared to their last digits.
double loss_of(loss::OutcomeKind kind, double observed, double predicted) {
  switch (kind) {
    case loss::OutcomeKind::real: return (predicted - observed) * (predicted - observed);
    case loss::OutcomeKind::non_negative: {
      const double safe = std::max(predicted, loss::kLeastPrediction);
      return observed == 0.0 ? safe : safe - observed * std::log(safe);
    }
    case loss::OutcomeKind::binary: {
      const double safe = std::clamp(predicted, loss::kLeastPrediction, 1.0 - loss::kLeastPrediction);
      return -observed * std::log(safe) - (1.0 - observed) * std::log(1.0 - safe);
    }
  }
  return 0.0;
}

// One outcome: its mean per group of units and arm, then both losses.
class Judged {
 public:
  Judged(loss::OutcomeKind kind, const learn::OutcomeScale& scale, std::size_t num_arms, std::size_t num_folds)
      : kind_(kind), scale_(scale), num_arms_(num_arms), sums_(num_folds * num_arms), counts_(num_folds * num_arms) {}

  void learn_mean(std::size_t fold, std::size_t arm, float observed, float weight) {
    sums_[fold * num_arms_ + arm] += static_cast<double>(weight) * static_cast<double>(observed);
    counts_[fold * num_arms_ + arm] += static_cast<double>(weight);
  }
  // Of all folds but this one.
  void judge(std::size_t fold, std::size_t arm, float observed, float weight, float predicted) {
    double sum = 0.0, count = 0.0;
    for (std::size_t other = 0; other * num_arms_ < sums_.size(); ++other) {
      if (other == fold) continue;
      sum += sums_[other * num_arms_ + arm];
      count += counts_[other * num_arms_ + arm];
    }
    if (!(count > 0.0)) return;
    const double seen = scaled(static_cast<double>(observed));
    const double share = static_cast<double>(weight) / static_cast<double>(num_arms_);
    loss_ += share * loss_of(kind_, seen, scaled(static_cast<double>(predicted)));
    of_means_ += share * loss_of(kind_, seen, scaled(sum / count));
    num_units_ += 1.0;
  }
  model::HeldOut::Outcome figures() const {
    const double count = std::max(1.0, num_units_);
    return {loss_ / count, of_means_ / count};
  }

 private:
  double scaled(double value) const { return (value - scale_.center) / scale_.scale; }

  loss::OutcomeKind kind_;
  learn::OutcomeScale scale_;
  std::size_t num_arms_;
  std::vector<double> sums_, counts_;
  double loss_ = 0.0, of_means_ = 0.0, num_units_ = 0.0;
};

}  // namespace

model::HeldOut out_of_fold_loss(const learn::TrainingSet& set, const HeldUnits& units, const HeldOutcomes& outcomes,
                                const learn::Predicted& predicted, core::RunContext& context) {
  Judged revenue(set.facts.revenue.kind, set.scales.revenue, set.num_arms(), kFolds);
  Judged cost(set.facts.cost.kind, set.scales.cost, set.num_arms(), kFolds);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const std::size_t arm = outcomes.arm[unit];
    revenue.learn_mean(units.fold[unit], arm, outcomes.revenue[unit], outcomes.weight[unit]);
    cost.learn_mean(units.fold[unit], arm, outcomes.learned_cost[unit], outcomes.weight[unit]);
  }
  context.check_cancelled();
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const std::size_t arm = outcomes.arm[unit];
    revenue.judge(units.fold[unit], arm, outcomes.revenue[unit], outcomes.weight[unit], predicted.revenue(unit, arm));
    cost.judge(units.fold[unit], arm, outcomes.learned_cost[unit], outcomes.weight[unit], predicted.cost(unit, arm));
  }
  model::HeldOut held;
  held.out_of_fold = true;
  held.num_units = units.size();
  held.revenue = revenue.figures();
  if (set.learns_cost) held.cost = cost.figures();
  return held;
}

model::HeldOut validation_loss(const learn::TrainingSet& set, const learn::Predicted& predicted,
                               core::RunContext& context) {
  constexpr std::size_t kTraining = 0, kValidation = 1;  // groups: the means are those of the first
  Judged revenue(set.facts.revenue.kind, set.scales.revenue, set.num_arms(), 2);
  Judged cost(set.facts.cost.kind, set.scales.cost, set.num_arms(), 2);
  for (const std::uint32_t row : set.rows) {
    revenue.learn_mean(kTraining, set.arm[row], set.revenue[row], set.weight[row]);
    cost.learn_mean(kTraining, set.arm[row], set.cost[row], set.weight[row]);
  }
  context.check_cancelled();
  for (std::size_t i = 0; i < set.validation_rows.size(); ++i) {
    const std::uint32_t row = set.validation_rows[i];
    const std::size_t arm = set.arm[row];
    revenue.judge(kValidation, arm, set.revenue[row], set.weight[row], predicted.revenue(i, arm));
    cost.judge(kValidation, arm, set.cost[row], set.weight[row], predicted.cost(i, arm));
  }
  model::HeldOut held;
  held.num_units = set.validation_rows.size();
  held.revenue = revenue.figures();
  if (set.learns_cost) held.cost = cost.figures();
  return held;
}

}  // namespace dfcl::train
