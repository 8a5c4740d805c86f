// SPDX-License-Identifier: Apache-2.0
//
// What every method needs before its first step: which units train, their weights, scaled outcomes, what is known about
// them, and the budgets. Memory: about 17 bytes a unit beside the trial, in files where the context has a scratch
// folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/learner.h"
#include "dfcl/model/model.h"
#include "dfcl/train/budget_prices.h"
#include "dfcl/train/methods.h"
#include "dfcl/train/settings.h"

namespace dfcl::train {

struct Preparation {
  core::Column<std::uint32_t> train_rows;
  core::Column<std::uint32_t> validation_rows;
  core::Column<std::uint8_t> is_training;  // one byte a unit
  core::Column<float> weight;              // per unit: 1 / probability of its arm, times its sample weight
  core::Column<float> sample;              // per unit, of mean 1 over the training units; empty: all alike
  core::Column<float> revenue;             // per unit, scaled
  core::Column<float> cost;                // per unit, scaled; or 0 and 1: whether the price was paid
  learn::Facts facts;
  learn::Scales scales;
  data::CostFacts cost_facts;                // what the model will know about costs
  double efficiency_cost_scale = 1.0;        // brings efficiencies into the range of eq. 13 and 14
  std::vector<data::Budget> budgets;         // in the study's currency
  std::vector<data::Budget> scaled_budgets;  // in scaled cost

  // As learners see it, all training units; the trial and this must outlive it.
  learn::TrainingSet training_set(const data::Trial& trial) const;
};

// Throws Error of kind data or usage where the trial and the method do not fit: no training units, an arm without
// any, arms that are not ordered, a kind of outcome that the data contradict.
// start: the model that training starts from, whose scales and kinds of outcomes are kept (start_model.h); may be null.
Preparation prepare(const data::Trial& trial, const data::Study& study, const Method& method, core::RunContext& context,
                    const model::Model* start = nullptr);

// The method's learner, or that of its base, for this trial. Throws Error of kind usage that names the key.
std::unique_ptr<learn::Learner> make_learner(learn::MakeLearner make, const Preparation& prepared,
                                             const data::Trial& trial, const data::Study& study,
                                             const Settings& settings, core::RunContext& context,
                                             const model::Model* start = nullptr);

// The same with one bag of trees, for nuisance: what more bags would add is averaged out over the units.
std::unique_ptr<learn::Learner> make_one_bag_learner(learn::MakeLearner make, const Preparation& prepared,
                                                     const data::Trial& trial, const data::Study& study,
                                                     const Settings& settings, core::RunContext& context);

// All that can be known to be wrong before training: of the settings and, with_trial, of the trial with them. Throws
// Error.
void require_trainable(const data::Trial& trial, const data::Study& study, const Method& method, bool with_trial,
                       core::RunContext& context);

}  // namespace dfcl::train
