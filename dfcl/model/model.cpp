// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/model.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"

namespace dfcl::model {
namespace {

constexpr std::size_t kMostArms = 255;
bool is_share(double number) { return number >= 0.0 && number <= 1.0; }

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
  require(!model.mean_effect || (learn::is_sound(*model.mean_effect, num_arms) && !model.is_index()), "mean effects");
  require(
      !model.calibration || (learn::is_sound(*model.calibration, num_arms, model.arms.control) && !model.is_index()),
      "calibration");
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
