// SPDX-License-Identifier: Apache-2.0
//
// What the plans of one prediction are worth along its path, from the cheapest to where money earns nothing more: the
// figures of an evaluation's deployed plans (evaluate.h) with analytic standard errors, and nothing else. Time and
// memory: those of one model of an evaluation without resamples.
#pragma once

#include <cstddef>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/evaluated_plans.h"
#include "dfcl/evaluate/evaluate.h"

namespace dfcl::evaluate {

// Plans at num_plans spends or fewer, denser where they are small, for that is where the value bends most; those that
// spend no more than the one before are left out. The rows must not have been seen by the prediction or the nuisance.
// nuisance: for the doubly robust estimator; without it Hajek's.
std::vector<data::EvaluatedPlan> plans_by_spend(const TrialRows& rows, const JudgedModel& model,
                                                const Outcomes& nuisance, const CostLimits& limits,
                                                std::size_t num_plans, core::RunContext& context);

}  // namespace dfcl::evaluate
