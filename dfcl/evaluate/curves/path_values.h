// SPDX-License-Identifier: Apache-2.0
//
// Revenue and cost of the plans of a path in a block of resamples: one walk along the path for kLanes resamples at
// once, with the sums noted at fixed cuts (deployed plans, the curve) and where the evaluated cost first crosses a
// budget (matched plans, eq. 16). The same weights by row whatever the order, so all models share their resamples.
// Time: about 10 ns a step for 16 resamples (stratified: about ten times that). Memory: a few kilobytes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfcl/evaluate/curves/policy_path.h"
#include "dfcl/evaluate/estimators/resample.h"

namespace dfcl::evaluate {

// What all plans share in a block of resamples. Where shares stand for propensities, every arm is scaled back to its
// size, so the resample is stratified by arm; with propensities only the whole is.
struct BlockTotals {
  struct ArmSums {
    Lanes units{};   // sum of resample weights, times sample weights
    Lanes weight{};  // times 1 / propensity, here and below
    Lanes revenue{};
    Lanes cost{};
    Lanes control_revenue{};  // of the contributions under control; means only
    Lanes control_cost{};
  };
  std::vector<ArmSums> arms;
  std::vector<Lanes> scale;  // per arm received
  Lanes total{};             // what means divide by
};
BlockTotals totals_of(const ResampleBlock& block, const Rewards& rewards);

struct PlanValue {  // per unit, in each resample
  Lanes revenue{};
  Lanes cost{};
};
PlanValue control_value(const BlockTotals& totals, const Rewards& rewards);

// A plan of the path: so many steps taken, then the rows that were filled beyond them.
struct PathPoint {
  std::size_t num_steps = 0;
  std::vector<PathStep> filled = {};
};
struct PathRequest {
  std::span<const PathPoint> cuts = {};          // by rising number of steps
  std::span<const double> matched_budgets = {};  // per unit, rising
  std::size_t num_head = 0;                      // steps before plans are matched
};
struct PathFigures {
  std::vector<PlanValue> at_cuts;
  std::vector<PlanValue> matched;
  std::vector<std::size_t> matched_steps;  // of the first resample
};
PathFigures path_values(const ResampleBlock& block, const BlockTotals& totals, const Rewards& rewards,
                        std::span<const PathStep> steps, const PathRequest& request);

}  // namespace dfcl::evaluate
