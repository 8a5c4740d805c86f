// SPDX-License-Identifier: Apache-2.0
//
// What a model's plans add over plans that need no model, and whether they pay back. Differences are at a common price
// (eq. 20): a plan that spends more must earn what the money would have earned elsewhere. All that the verdict says
// holds at once over models, budgets and baselines (largest |t|, eq. 18). Internal to the room.
#pragma once

#include <vector>

#include "dfcl/evaluate/curves/oracle.h"
#include "dfcl/evaluate/effects/baselines.h"

namespace dfcl::evaluate {

std::vector<BaselineFigures> baseline_figures(const Setting& setting, const Baselines& baselines, const Oracle* oracle);

// Fills the simultaneous intervals and answers of the deployed plans and of random's, and the differences from
// baselines. runs: as evaluation.models.
void judge_plans(const Setting& setting, const std::vector<ModelRun>& runs, const Baselines& baselines,
                 Evaluation& evaluation);

}  // namespace dfcl::evaluate
