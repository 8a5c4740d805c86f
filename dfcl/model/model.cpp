// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kMostArms = 255;
// What no training comes near, and what leaves predictions finite: effects and shifts, and shifts under a logarithm.
constexpr double kMostEffect = 1e30;
constexpr double kMostLogShift = 50.0;

// A list of numbers, one for each arm, or none.
bool is_per_arm(const std::vector<double>& numbers, std::size_t num_arms) {
  return (numbers.empty() || numbers.size() == num_arms) &&
         std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::abs(number) <= kMostEffect; });
}

bool is_share(double number) { return number >= 0.0 && number <= 1.0; }

bool is_good(const learn::Calibration::Outcome& outcome, const data::Arms& arms) {
  if (outcome.form.kind != loss::OutcomeKind::real) {
    for (const double shift : outcome.shift) {
      if (std::abs(shift) > kMostLogShift) return false;
    }
  }
  return is_per_arm(outcome.shift, arms.size()) && is_per_arm(outcome.center, arms.size()) &&
         outcome.shift.size() == outcome.center.size() && outcome.slope >= 0.0 && outcome.slope <= learn::kMostSlope &&
         is_per_arm(outcome.size, arms.size()) && std::abs(outcome.base_slope) <= learn::kMostSlope &&
         (outcome.base_slope == 0.0 || (outcome.size.size() == arms.size() && outcome.size[arms.control] == 0.0)) &&
         outcome.plan_factor >= 1.0 / learn::kMostPlanFactor && outcome.plan_factor <= learn::kMostPlanFactor &&
         std::isfinite(outcome.found_slope) && std::isfinite(outcome.slope_error) && outcome.slope_error >= 0.0;
}

bool is_good(const Stack& stack) {
  bool good =
      std::isfinite(stack.net_value) && std::isfinite(stack.standard_error) && stack.members.size() <= kMostArms;
  for (const StackMember& member : stack.members)
    good = good && is_share(member.weight) && std::isfinite(member.net_value) && std::isfinite(member.standard_error);
  return good;
}

bool is_good(const HeldOut::Outcome& outcome) {
  return std::isfinite(outcome.loss) && std::isfinite(outcome.loss_of_means);
}

}  // namespace

bool Model::is_index() const {
  return std::any_of(predictors.begin(), predictors.end(),
                     [](const learn::WeightedPredictor& part) { return part.predictor->is_index(); });
}

void require_consistent(const Model& model, const std::string& where) {
  const auto require = [&](bool good, const char* what) {
    if (!good)
      throw core::Error({.kind = core::ErrorKind::file,
                         .what = std::string("a model whose parts do not fit each other: ") + what,
                         .where = where});
  };
  const std::size_t num_arms = model.arms.size();
  require(num_arms >= 2 && num_arms <= kMostArms && model.arms.control < num_arms, "arms");
  require(!model.features.empty(), "features");
  require(!model.predictors.empty(), "no predictors");
  for (const learn::WeightedPredictor& part : model.predictors) {
    require(part.weight > 0.0 && std::isfinite(part.weight), "weights of predictors");
    require(part.predictor->is_index() == model.is_index(), "an index and outcomes in one model");
    part.predictor->require_fits(model.schema(), where);
  }
  if (model.mean_effect) {
    require(is_share(model.mean_effect->weight) && is_per_arm(model.mean_effect->revenue.effect, num_arms) &&
                is_per_arm(model.mean_effect->cost.effect, num_arms) && !model.is_index(),
            "mean effects");
  }
  if (model.calibration) {
    require(is_good(model.calibration->revenue, model.arms) && is_good(model.calibration->cost, model.arms) &&
                std::isfinite(model.calibration->base_mean) && std::isfinite(model.calibration->base_spread) &&
                model.calibration->base_spread >= 0.0 && !model.is_index() &&
                (model.calibration->base_spread > 0.0 ||
                 (model.calibration->revenue.base_slope == 0.0 && model.calibration->cost.base_slope == 0.0)),
            "calibration");
  }
  require(!model.stack || is_good(*model.stack), "stack");
  require(!model.held_out ||
              (is_good(model.held_out->revenue) && (!model.held_out->cost || is_good(*model.held_out->cost))),
          "held-out figures");
  require(model.summaries.empty() || model.summaries.size() == model.features.size(), "summaries of features");
  for (std::size_t feature = 0; feature < model.summaries.size(); ++feature)
    require(is_good(model.summaries[feature], model.features[feature]), "summaries of features");
  require(!model.evaluated || data::is_sound(*model.evaluated), "evaluated plans");
  const data::CostFacts& costs = model.cost_facts;
  require(costs.per_arm.size() == (costs.is_known() ? num_arms : 0), "known costs");
  for (const double amount : costs.per_arm) require(std::isfinite(amount), "known costs");
  require(!model.is_index() || costs.kind == data::CostKind::observed || costs.kind == data::CostKind::price,
          "known costs of an index");
  for (const BudgetMultiplier& price : model.multipliers) {
    require(std::isfinite(price.budget_per_unit) && std::isfinite(price.multiplier) &&
                std::isfinite(price.scaled_multiplier),
            "multipliers");
  }
  for (const double code : model.missing) require(std::isfinite(code), "missing codes");
  const auto& keys = model.trained.keys;
  require(keys.size() <= kMostKeys && std::is_sorted(keys.begin(), keys.end()), "keys of training units");
}

}  // namespace dfcl::model
