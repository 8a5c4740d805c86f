// SPDX-License-Identifier: Apache-2.0
//
// Two-stage learning and what follows it: a fit by the prediction loss, then, for a decision method, a second fit from
// there with both losses, at the multipliers of the budgets. Where the validation units say that the second lost value,
// the first is kept. Any learner that can start from its own predictor can do both. Memory: predictions for at most
// kPriceUnits units and for the validation units.
#pragma once

#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/learner.h"
#include "dfcl/train/cross_fit.h"
#include "dfcl/train/preparation.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

// Multipliers are found on this many training units at most.
inline constexpr std::size_t kPriceUnits = 100'000;

// At most so many of them, spread evenly.
std::vector<std::uint32_t> thinned(std::span<const std::uint32_t> rows, std::size_t most);

// The prediction loss; for a method of efficiencies, with its loss of scores.
// Known costs are left out, unless the method makes an index of them.
learn::Objective prediction_objective(const Preparation& prepared, const Method& method);

// What the decision loss works with, found once, from the warm start. Found anew in every epoch multipliers drift:
// scores of twice the size ask for twice the price and decide the same, so nothing holds the size of the scores any
// more, and the loss is trained for prices that no budget has (docs/decisions/0050).
struct DecisionPrices {
  std::vector<double> multipliers;  // scaled
  double temperature = 1.0;         // scaled, or the window
};
DecisionPrices decision_prices(const learn::Predictor& warm, const learn::TrainingSet& set, const Preparation& prepared,
                               const Settings& settings, core::RunContext& context);

learn::Objective decision_objective(const Preparation& prepared, const Settings& settings,
                                    const DecisionPrices& prices);

// The second fit. The stage brings member, checkpoint and log; the rest is set here.
struct FineTuned {
  learn::Fit fit;
  bool went_back = false;  // the validation units say that it lost value: use the warm start
};
FineTuned fine_tune(const learn::Learner& learner, const learn::TrainingSet& set, const Preparation& prepared,
                    const Settings& settings, const learn::Predictor& warm, learn::Stage stage,
                    core::RunContext& context);

// Both, as the method asks. start: null, or what the first fit starts from. name: of the checkpoints.
learn::Fit fit_stages(const learn::Learner& learner, const learn::TrainingSet& set, const Preparation& prepared,
                      const Settings& settings, std::size_t member, const learn::Predictor* start,
                      const std::string& name, const FillStage& fill, core::RunContext& context);

// Prediction only, by a learner that may need a base: the base, cross-fitted, then the learner on it. base: may be
// null. Out-of-sample predictions are as they were learned, without what is known about costs.
learn::Fit fit_on_base(const learn::Learner* base, const learn::Learner& learner, learn::TrainingSet set,
                       const Preparation& prepared, const Settings& settings, const FillStage& fill,
                       core::RunContext& context);

}  // namespace dfcl::train
