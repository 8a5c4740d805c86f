// SPDX-License-Identifier: Apache-2.0
//
// From the run of a plan to its figures: intervals, profit where it is known what revenue is worth, a return only where
// it means something, and nothing that contradicts the facts of the study. Internal to the room.
#pragma once

#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/curves/oracle.h"

namespace dfcl::evaluate {

// 0 where a difference of two sums is below their precision, else the difference itself.
double above_rounding(double difference, double first, double second);

// Deviation of a x incremental revenue + b x incremental cost.
double deviation_of(const PlanSpread& spread, double a, double b);

// oracle: with a truth only.
JudgedPlan plan_figures(const Setting& setting, const PlanRun& run, const Oracle* oracle);

// Matched plans move with the resamples: their range is shown, no coverage is claimed.
JudgedPlan matched_figures(const Setting& setting, const PlanRun& run, const Oracle* oracle);

CurvePointFigures curve_figures(const Setting& setting, const PlanRun& run);

}  // namespace dfcl::evaluate
