// SPDX-License-Identifier: Apache-2.0
//
// Estimated propensities: the probability of the arm a unit received, given its features, for a randomised trial whose
// arms turned out a little imbalanced. Multinomial logistic regression on the features as columns (expansion.h), fitted
// draw by draw, with a penalty of one draw's weight on each coefficient. Time: iterations (about five) x draws x
// columns x arms, and columns^3 / 3. Memory: columns^2, and a few arms x columns a chunk.
//
// Weights 1 / p of this estimate balance the columns of the regression. Intervals may take p as known: estimating it
// takes the part of the outcomes that the columns explain out of the weighted means, so that they vary less, not more,
// than with the true probabilities (Hirano, Imbens and Ridder 2003).
#pragma once

#include "dfcl/check/check.h"
#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

// Per unit, in (0, 1). The trial must have no propensities of its own.
core::Column<float> estimate_propensities(const data::Trial& trial, core::RunContext& context,
                                          const CheckOptions& options = {});

}  // namespace dfcl::check
