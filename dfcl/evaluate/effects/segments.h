// SPDX-License-Identifier: Apache-2.0
//
// Who gets what, by segment: the shares of the arms, and revenue and cost per unit, for each value of a column. One
// pass over the rows a plan and column. Internal to the room.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/evaluate/curves/model_run.h"

namespace dfcl::evaluate {

// Fills the segments of a plan. Inside a segment, Hajek stands for stratified and Horvitz-Thompson.
void add_segments(const Setting& setting, std::span<const std::uint8_t> plan, PlanRun& run);

// From the plans of a model at all budgets (rising) to figures in the order of the budgets as given.
std::vector<SegmentFigures> segment_figures(const Setting& setting, const std::vector<PlanRun>& deployed);

}  // namespace dfcl::evaluate
