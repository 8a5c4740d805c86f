// SPDX-License-Identifier: Apache-2.0
//
// Fits a calibration (dfcl/learn/calibration.h) to units whose predictions come from fits without them. For each
// outcome: mean predictions go towards their doubly robust means, on the scale of the link by what all arms are off,
// d (1 - se^2 / d^2), nothing where d is within its standard error se, and by what an arm is off from that, likewise
// with twice its standard error and by the share of these units in all that are known; arms of fewer than five units or
// clusters move with the others; then slopes of the effects (effect_slopes.h). Where predictions keep a shape over the
// arms, one shift serves all arms. Standard errors are over clusters. Some ten passes over the units; memory: 4 bytes
// per unit, 48 per cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/calibration.h"
#include "dfcl/learn/training_set.h"

namespace dfcl::train {

// Units, with what they earned and cost in the study's currency; cost as it is learned.
struct CalibrationUnits {
  std::span<const std::uint8_t> arm;
  std::span<const float> revenue;
  std::span<const float> cost;
  std::span<const float> weight;                // 1 / probability of the arm received, times the sample weight
  std::span<const std::uint32_t> cluster = {};  // empty: each unit its own
  std::span<const float> sample = {};           // sample weights; empty: all alike
  std::size_t num_fitted = 0;  // others that the predictions were fitted on; 0: the units stand for them, out of fold
};

// predicted: units x arms, as learned. learns_cost: false leaves cost alone.
learn::Calibration fit_calibration(const CalibrationUnits& units, const learn::Predicted& predicted,
                                   const learn::Facts& facts, std::size_t control, bool learns_cost,
                                   core::RunContext& context);

}  // namespace dfcl::train
