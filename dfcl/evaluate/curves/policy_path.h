// SPDX-License-Identifier: Apache-2.0
//
// All plans of a prediction at once: the path of allocate::PlanPath, and what each of its steps changes in the
// estimates. Everybody starts in control; the head of the path moves units whose cheapest arm is another; then come the
// increments in falling efficiency. A plan is a number of steps taken and, at a budget, the units that were filled
// beyond them: the same plan that allocate ships, limits included. Sees predictions only, except for the contributions.
// Memory: 88 bytes a step, 136 while it is built; there are at most (arms - 1) steps a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/run_context.h"
#include "dfcl/evaluate/estimators/estimators.h"

namespace dfcl::evaluate {

// The path of predictions alone.
struct PredictedPath {
  allocate::PlanPath path;                // sorted
  std::vector<allocate::Increment> head;  // from control to the cheapest useful arm; efficiency has no meaning
  std::span<const allocate::Increment> increments;  // in path order
  double control_cost = 0.0;                        // sums over all rows, as the next two
  double least_spend = 0.0;                         // sums over all rows
  double most_spend = 0.0;

  std::size_t num_steps() const { return head.size() + increments.size(); }
  const allocate::Increment& step(std::size_t index) const {
    return index < head.size() ? head[index] : increments[index - head.size()];
  }
};
// Only rules, eligibility and keys of the problem are looked at, beside its matrices, which must outlive the path.
PredictedPath path_of(const allocate::Problem& problem, core::RunContext& context);

// A row that a plan moves beyond its cut.
struct FilledRow {
  std::uint32_t row;
  std::uint8_t from, to;
};

// A plan of the path: the steps before the cut are taken, and the filled rows moved.
struct Cut {
  std::size_t num_steps = 0;
  std::vector<FilledRow> filled = {};  // by rising row
  double multiplier = 0.0;             // of the next increment; 0 at the end
  double revenue = 0.0;                // predicted, sum over rows
  double cost = 0.0;                   // predicted, sum over rows
  std::vector<double> units = {};      // per arm, by sample weight; empty for matched plans
  bool feasible = true;                // false: even the cheapest plan spends more, and this is the cheapest
};

// The plans of allocate at each total.
std::vector<Cut> cuts_at(PredictedPath& path, std::span<const double> totals, core::RunContext& context);

// Calls body(index, arm per row) for each cut, in the order of their steps; cuts must rise.
void for_each_plan(const PredictedPath& path, std::size_t num_rows, std::size_t control, std::span<const Cut> cuts,
                   const std::function<void(std::size_t, std::span<const std::uint8_t>)>& body);

// What a step changes in the sums of an estimator.
struct PathStep {
  Contribution change;  // of the row: the new arm's contribution less the old one's
  std::uint64_t key;    // of the row's group, which draws its weights
  std::uint32_t row;
  std::uint8_t received;
  std::uint8_t from, to;
};
PathStep step_of(const Rewards& rewards, std::uint32_t row, std::uint8_t from, std::uint8_t to);

// Steps that are written by all threads, so that none of them writes zeros before.
class PathSteps {
 public:
  explicit PathSteps(std::size_t size) : steps_(size, 1) {}
  PathStep& operator[](std::size_t index) { return steps_.data()[index]; }
  operator std::span<const PathStep>() const { return {steps_.data(), steps_.rows()}; }

 private:
  core::Matrix<PathStep> steps_;
};
PathSteps steps_of(const PredictedPath& path, const Rewards& rewards, core::RunContext& context);

}  // namespace dfcl::evaluate
