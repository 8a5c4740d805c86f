// SPDX-License-Identifier: Apache-2.0
//
// Uplift by decile of predicted uplift, and whether uplift can be taken at its word: the slope of estimated on
// predicted effects. For each treated arm, and for the ranking that a plan goes by. Formulas: section 6 of
// docs/method.md. A few passes over the rows for each ranking, by all threads; memory: some 60 bytes a row. Internal to
// the room.
#pragma once

#include <vector>

#include "dfcl/evaluate/areas/areas.h"
#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kDeciles = 10;

// The decile of each row: equal parts of falling scores, the first ones larger by one row where they cannot be equal;
// of equal scores the earlier row first. sample: sample weights, of which the parts are equal to within one row's; a
// row belongs where its middle lies. Empty: every row counts alike.
std::vector<std::uint32_t> deciles_of(std::span<const double> scores, std::span<const double> sample,
                                      core::RunContext& context);

// Per treated arm, then per budget as given. areas: of the arms, for their curves; may be empty.
std::vector<UpliftFigures> uplift_figures(const Setting& setting, const JudgedModel& model, const ModelRun& run,
                                          const std::vector<ArmAreas>& areas);

}  // namespace dfcl::evaluate
