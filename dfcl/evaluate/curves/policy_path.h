// SPDX-License-Identifier: Apache-2.0
//
// All plans of a prediction at once: the path of eq. 3, sorted, and what each step changes in the estimates. Everybody
// starts in control; the head of the path moves units whose cheapest arm is another; then come the increments in
// falling efficiency. A plan is a number of steps taken, so a budget, a point of the curve and a matched plan are all
// cuts of one path. Sees predictions only, except for the contributions. Memory: 40 bytes a step, 72 while it is built;
// there are at most (arms - 1) steps a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dfcl/allocate/hull.h"
#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/estimators.h"

namespace dfcl::evaluate {

// The path of predictions alone.
struct PredictedPath {
  std::vector<allocate::Increment> head;        // from control to the cheapest useful arm; efficiency has no meaning
  std::vector<allocate::Increment> increments;  // in path order
  double control_revenue = 0.0;                 // sums over all rows
  double control_cost = 0.0;

  std::size_t num_steps() const { return head.size() + increments.size(); }
  const allocate::Increment& step(std::size_t index) const {
    return index < head.size() ? head[index] : increments[index - head.size()];
  }
};
PredictedPath path_of(const Outcomes& prediction, std::size_t control, core::RunContext& context);

// A plan of the path: the steps before the cut are taken.
struct Cut {
  std::size_t num_steps = 0;
  double multiplier = 0.0;  // efficiency of the next increment; 0 at the end
  double revenue = 0.0;     // predicted, sum over rows
  double cost = 0.0;        // predicted, sum over rows
  bool feasible = true;     // false: even the cheapest plan spends more, and this is the cheapest
};

// The last plans that spend no more than each total, as predicted; totals must rise. One pass over the path.
std::vector<Cut> cuts_at(const PredictedPath& path, std::span<const double> totals);

// What the cheapest and the dearest useful plan spend.
struct SpendEnds {
  double least = 0.0;
  double most = 0.0;
};
SpendEnds spend_ends(const PredictedPath& path);

// Calls body(index, arm per row) for each cut, in the order of their steps; cuts must rise.
void for_each_plan(const PredictedPath& path, std::size_t num_rows, std::size_t control, std::span<const Cut> cuts,
                   const std::function<void(std::size_t, std::span<const std::uint8_t>)>& body);

// What a step changes in the sums of an estimator.
struct PathStep {
  Contribution change;  // of the row: the new arm's contribution less the old one's
  std::uint32_t row;
  std::uint8_t received;
  std::uint8_t from, to;
};
std::vector<PathStep> steps_of(const PredictedPath& path, const Rewards& rewards, core::RunContext& context);

}  // namespace dfcl::evaluate
