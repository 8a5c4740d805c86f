// SPDX-License-Identifier: Apache-2.0
//
// How much each row (or cluster) moves an estimate: the influence function of eq. 16's estimators, centred within the
// arms where shares stand for propensities. The sum of squares is the analytic variance: a cheap alternative to
// resampling, and a check of it. One pass over the rows; 16 bytes a row or cluster.
#pragma once

#include <cstdint>
#include <span>

#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/intervals.h"

namespace dfcl::evaluate {

struct PlanEstimate {  // per unit
  double revenue = 0.0;
  double cost = 0.0;
};

struct PlanSeries {
  Series revenue;
  Series cost;
};

// plan: the arm chosen for each row, here and below. NaN where the estimator knows nothing of it.
PlanEstimate estimate_of(const Rewards& rewards, std::span<const std::uint8_t> plan, core::RunContext& context);

PlanSeries influence_of(const Rewards& rewards, std::span<const std::uint8_t> plan, core::RunContext& context);

}  // namespace dfcl::evaluate
