// SPDX-License-Identifier: Apache-2.0
//
// Standard errors and covariances of many figures at once, each moved by some of the rows: deciles, segments, leaves,
// slopes. Influences add up over units or clusters; where propensities are estimated, what the scores explain of them
// is taken off (estimators/projection.h). Of figures a and b with slopes s on the scores, products P with the scores by
// sample weight and the factor f, that is f (s_a P_b + s_b P_a) - f^2 sum (s_a score)(s_b score), the last sum over all
// draws or, beyond kMostWork, over a spread sample of them: no series of a figure is ever made. Time: one pass over the
// rows, by all threads, with estimated propensities one more over the draws. Memory: figures^2 numbers for at most
// kMostFigures, and with estimated propensities figures x arms x columns, at most kMostProducts; beyond, nothing is
// taken off, which leaves the wider interval. Internal to the room.
#pragma once

#include <cstddef>
#include <functional>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/trial_rows.h"
#include "dfcl/evaluate/heterogeneity/simultaneous.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kMostProducts = 8'000'000;

// Adds to a figure how much the row at hand moves it.
using AddInfluence = std::function<void(std::size_t figure, double influence)>;
using RowInfluences = std::function<void(std::size_t row, const AddInfluence& add)>;

// influences is called by several threads. The influences of a figure must sum to 0 over the rows, or within each arm
// where shares stand for propensities.
FigureCovariance covariance_of(const TrialRows& rows, std::size_t num_figures, const RowInfluences& influences,
                               core::RunContext& context);

}  // namespace dfcl::evaluate
