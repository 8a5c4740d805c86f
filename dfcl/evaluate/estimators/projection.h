// SPDX-License-Identifier: Apache-2.0
//
// Influences where propensities are estimated. To first order an estimate then moves with a unit by what the unit's
// score (data/propensity_scores.h) leaves of its influence: the residual of a projection. Where the propensities were
// fitted on more draws than are evaluated, a share r of them, only the share r of what the projection explains is gone,
// which is the residual with the factor 1 - sqrt(1 - r). The scores' information is (diag(p) - p p') x the covariance
// of the columns, as it is where arms hardly differ; the degrees of freedom that the projection takes are given back.
// Time: two passes over the rows, columns x arms each. Memory: arms x columns a thread.
#pragma once

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/influence.h"

namespace dfcl::evaluate {

// Does nothing where the rows' propensities are known.
void project_on_scores(const TrialRows& rows, PlanSeries& series, core::RunContext& context);

}  // namespace dfcl::evaluate
