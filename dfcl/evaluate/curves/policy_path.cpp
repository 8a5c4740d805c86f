// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/policy_path.h"

#include <algorithm>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

// The place of a cut among the steps.
std::size_t steps_before(const PredictedPath& path, allocate::PathPosition position) {
  const auto cut = std::partition_point(
      path.increments.begin(), path.increments.end(),
      [&](const allocate::Increment& increment) { return allocate::position_of(increment) < position; });
  return path.head.size() + static_cast<std::size_t>(cut - path.increments.begin());
}

}  // namespace

PredictedPath path_of(const allocate::Problem& problem, core::RunContext& context) {
  PredictedPath path{allocate::PlanPath(problem, allocate::PlanPath::Form::sorted), {}, {}, 0.0, 0.0, 0.0};
  const allocate::Prices prices(problem.rules);
  const allocate::PathEnds& ends = path.path.ends(context);
  path.control_cost = ends.control.spend(prices);
  path.least_spend = ends.least.spend(prices);
  path.most_spend = ends.most.spend(prices);
  path.increments = path.path.increments(context);
  std::vector<std::uint8_t> start(problem.num_units());
  const allocate::Units units{problem.revenue, problem.cost, problem.eligible, 0, problem.keys};
  allocate::assign(units, problem.rules, {0, {}}, start.data(), context);
  const std::size_t control = problem.rules.control;
  for (std::size_t row = 0; row < start.size(); ++row) {
    if (start[row] == control) continue;
    path.head.push_back({0.0, 0, 0.0, problem.cost(row, control), problem.cost(row, start[row]),
                         problem.revenue(row, control), problem.revenue(row, start[row]),
                         static_cast<std::uint32_t>(row), static_cast<std::uint8_t>(control), start[row]});
  }
  return path;
}

std::vector<Cut> cuts_at(PredictedPath& path, std::span<const double> totals, core::RunContext& context) {
  std::vector<Cut> cuts;
  for (const double total : totals) {
    const bool feasible = path.least_spend <= total;
    const allocate::PathPlan plan = path.path.at_budget(feasible ? total : path.least_spend, context);
    Cut cut;
    cut.num_steps = steps_before(path, plan.cut.position);
    cut.multiplier = plan.summary.multiplier;
    cut.revenue = plan.summary.revenue;
    cut.cost = plan.summary.spend;
    cut.feasible = feasible;
    cut.units.assign(plan.summary.units_per_arm.begin(), plan.summary.units_per_arm.end());
    for (const auto& [unit, arm] : plan.cut.filled) cut.filled.push_back({unit, arm.from, arm.to});
    std::sort(cut.filled.begin(), cut.filled.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

void for_each_plan(const PredictedPath& path, std::size_t num_rows, std::size_t control, std::span<const Cut> cuts,
                   const std::function<void(std::size_t, std::span<const std::uint8_t>)>& body) {
  std::vector<std::uint8_t> arm(num_rows, static_cast<std::uint8_t>(control));
  std::size_t taken = 0;
  for (std::size_t index = 0; index < cuts.size(); ++index) {
    for (; taken < cuts[index].num_steps; ++taken) arm[path.step(taken).unit] = path.step(taken).arm_to;
    for (const FilledRow& filled : cuts[index].filled) arm[filled.row] = filled.to;
    body(index, arm);
    for (const FilledRow& filled : cuts[index].filled) arm[filled.row] = filled.from;
  }
}

PathStep step_of(const Rewards& rewards, std::uint32_t row, std::uint8_t from, std::uint8_t to) {
  const Contribution old = rewards.of(row, from);
  const Contribution now = rewards.of(row, to);
  return {{now.revenue - old.revenue, now.cost - old.cost, now.weight - old.weight},
          rewards.rows().group_key(row),
          row,
          rewards.rows().arm[row],
          from,
          to};
}

PathSteps steps_of(const PredictedPath& path, const Rewards& rewards, core::RunContext& context) {
  PathSteps steps(path.num_steps());
  core::for_each_chunk(context, path.num_steps(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const allocate::Increment& step = path.step(i);
      steps[i] = step_of(rewards, step.unit, step.arm_from, step.arm_to);
    }
  });
  return steps;
}

}  // namespace dfcl::evaluate
