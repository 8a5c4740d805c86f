// SPDX-License-Identifier: Apache-2.0
//
// How far predicted effects are to be believed, and whether they go with the unit's revenue in control in a way that
// the predictions miss (docs/method.md, eq. 23). What a unit shows less what was predicted for the arm it received is
// regressed on that arm's predicted effect, on its product with the standardised base, and on the arm's level; each
// less its mean over the arms of the trial, so that an error of the base has nothing to do with them, and weighted by
// the inverse of the variance that outcomes of this kind have. Four passes over the units.
#pragma once

#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/train/seen_outcome.h"

namespace dfcl::train {

// Sets center, size, slopes and their errors of an outcome whose shift is found. deviations: of each unit's revenue in
// control (learn::Calibration::deviations).
void find_slopes(const SeenOutcome& seen, std::span<const float> deviations, learn::Calibration::Outcome& outcome,
                 core::RunContext& context);

}  // namespace dfcl::train
