// SPDX-License-Identifier: Apache-2.0
//
// What every method needs before its first step: which units train, their weights, scaled outcomes, the preprocessing
// and the shape of the network. Memory: about 17 bytes a unit beside the trial, in files where
// the context has a scratch folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/model/model.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/train/budget_prices.h"
#include "dfcl/train/methods.h"

namespace dfcl::train {

struct Preparation {
  core::Column<std::uint32_t> train_rows;
  core::Column<std::uint32_t> validation_rows;
  core::Column<std::uint8_t> is_training;  // one byte a unit
  core::Column<float> weight;              // per unit: 1 / probability of its arm
  loss::OutcomeKind revenue_kind = loss::OutcomeKind::real;
  loss::OutcomeKind cost_kind = loss::OutcomeKind::real;
  model::OutcomeScale revenue_scale;
  model::OutcomeScale cost_scale;
  core::Column<float> revenue;  // per unit, scaled
  core::Column<float> cost;     // per unit, scaled
  model::Preprocessing preprocessing;
  nn::OutcomeNetworkOptions network;
  double efficiency_cost_scale = 1.0;      // brings efficiencies into the range of eq. 13 and 14
  std::vector<data::Budget> budgets;         // in the study's currency
  std::vector<data::Budget> scaled_budgets;  // in scaled cost

  // A scaled multiplier is this times the unscaled one.
  double multiplier_factor() const { return cost_scale.scale / revenue_scale.scale; }
  nn::TrainingRows training_rows(const data::Trial& trial) const { return {trial.arm, revenue, cost, weight}; }
};

// What was seen of chosen units, side by side, in scaled units.
struct SeenUnits {
  core::Column<std::uint8_t> arm;
  core::Column<float> revenue;
  core::Column<float> cost;
  core::Column<float> weight;
  core::Column<std::uint32_t> cluster;  // empty where there are none
};
SeenUnits seen_units(const data::Trial& trial, const Preparation& prepared, std::span<const std::uint32_t> rows,
                     const core::RunContext& context);

// Throws Error of kind data or usage where the trial and the method do not fit: no training units, an arm without
// any, arms that are not ordered, a kind of outcome that the data contradict.
// start: the model that training starts from, whose preprocessing and scales are kept (start_model.h); may be null.
Preparation prepare(const data::Trial& trial, const data::Study& study, const Method& method, core::RunContext& context,
                    const model::Model* start = nullptr);

}  // namespace dfcl::train
