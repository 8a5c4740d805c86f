// SPDX-License-Identifier: Apache-2.0
//
// What the plans of a model are worth on units that it has not seen, for allocate to put beside what a plan promises
// (docs/decisions/0074). Doubly robust, with the predictions themselves as nuisance, which did not see the units
// either; Hajek's estimator where they are an index. Over more than kMostValuedUnits units, that many of them, drawn by
// a hash of their cluster or id. Time: about forty passes over these units. Memory: about 100 bytes per such unit and
// arm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/data/evaluated_plans.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/model/model.h"

namespace dfcl::train {

inline constexpr std::size_t kMostValuedUnits = 400'000;
// Fewer units of an arm say nothing about plans.
inline constexpr std::size_t kLeastValuedPerArm = 20;

// rows: of the trial, rising. predicted: rows x arms, known costs included, each row by a fit without it. earlier: what
// a model that training started from had seen, or null. None where the units are too few or some are among these.
std::optional<data::EvaluatedPlans> evaluate_unseen(const data::Trial& trial, const data::Study& study,
                                                    const model::Model& model, std::span<const std::uint32_t> rows,
                                                    const learn::Predicted& predicted, data::UnseenUnits kind,
                                                    const model::TrainedUnits* earlier, core::RunContext& context);

// What plans cost by these units, as a multiple of what was predicted for them: choosing by predictions finds units
// whose cost is predicted too low. 1 where the difference is within its standard error.
double plan_cost_factor(const data::EvaluatedPlans& evaluated);

}  // namespace dfcl::train
