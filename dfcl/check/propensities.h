// SPDX-License-Identifier: Apache-2.0
//
// Estimated propensities: the probability of the arm a unit received, given its features, for a randomised trial whose
// arms turned out a little imbalanced. Multinomial logistic regression on the features as columns (expansion.h), fitted
// draw by draw, with a penalty of one draw's weight on each coefficient. Time: iterations (about five) x draws x
// columns x arms, and columns^3 / 3. Memory: columns^2, and a few arms x columns a chunk.
//
// Features that make more than options.max_columns columns: those that differ most between the arms are taken, so that
// memory stays within max_columns^2. Sample weights count.
//
// Weights 1 / p of this estimate balance the columns of the regression. Estimating p takes the part of the outcomes
// that the columns explain out of the weighted means, so that they vary less than with the true probabilities (Hirano,
// Imbens and Ridder 2003): intervals project influences on the scores of this model (evaluate/estimators/projection.h).
#pragma once

#include <memory>

#include "dfcl/check/check.h"
#include "dfcl/core/column.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/propensity_scores.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

struct PropensityEstimate {
  core::Column<float> propensity;  // of the arm received, per unit, in (0, 1)
  std::shared_ptr<const data::PropensityScores> scores;
};

// The trial must have no propensities of its own.
PropensityEstimate estimate_propensities(const data::Trial& trial, core::RunContext& context,
                                         const CheckOptions& options = {});

}  // namespace dfcl::check
