// SPDX-License-Identifier: Apache-2.0
//
// The effects of every arm over control by segment: of all units, by the columns of the evaluation, and in the leaves
// of a tree that was found on other rows. Intervals alone and simultaneous over all segments and arms (simultaneous.h).
// A segment with fewer than kLeastSegmentUnits units of an arm or of control says nothing of that arm. Two passes over
// the rows for each column. Internal to the room.
#pragma once

#include <vector>

#include "dfcl/evaluate/curves/setting.h"

namespace dfcl::evaluate {

inline constexpr std::size_t kLeastSegmentUnits = 50;  // of the arm, and of control

// All units first.
std::vector<SegmentEffects> segment_effects(const Setting& setting);

}  // namespace dfcl::evaluate
