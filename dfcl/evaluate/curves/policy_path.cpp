// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/policy_path.h"

#include "dfcl/allocate/passes.h"
#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 16'384;

struct PathPart {
  std::vector<allocate::Increment> head;
  std::vector<allocate::Increment> increments;
  double control_revenue = 0.0;
  double control_cost = 0.0;
};

PathPart part_of(const allocate::Units& units, std::size_t control, std::size_t begin, std::size_t end) {
  const double least_efficiency = allocate::Prices(allocate::Rules{}).least_efficiency;
  PathPart part;
  allocate::Hull hull;
  for (std::size_t row = begin; row < end; ++row) {
    allocate::build_hull(units, row, least_efficiency, hull);
    const allocate::HullPoint& start = hull.points[0];
    const float control_revenue = units.revenue(row, control);
    const float control_cost = units.cost(row, control);
    part.control_revenue += static_cast<double>(control_revenue);
    part.control_cost += static_cast<double>(control_cost);
    if (start.arm != control) {
      part.head.push_back({0.0, static_cast<std::uint32_t>(row), control_cost, start.cost, control_revenue,
                           start.revenue, static_cast<std::uint8_t>(control), start.arm});
    }
    for (std::size_t point = 1; point < hull.size; ++point) {
      part.increments.push_back(allocate::increment_of(hull, point, row));
    }
  }
  return part;
}

void append(std::vector<allocate::Increment>& all, std::vector<allocate::Increment>& part) {
  all.insert(all.end(), part.begin(), part.end());
  part = {};
}

// Predicted sums along the path.
struct Walk {
  double revenue;
  double cost;

  void take(const allocate::Increment& step) {
    revenue += static_cast<double>(step.revenue_to) - static_cast<double>(step.revenue_from);
    cost += step.extra_cost();
  }
};

}  // namespace

PredictedPath path_of(const Outcomes& prediction, std::size_t control, core::RunContext& context) {
  const allocate::Units units{prediction.revenue, prediction.cost, {}, 0};
  std::vector<PathPart> parts((units.size() + kChunkRows - 1) / kChunkRows);
  core::for_each_chunk(context, units.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
    parts[chunk] = part_of(units, control, begin, end);
  });
  PredictedPath path;
  std::size_t num_increments = 0;
  for (const PathPart& part : parts) num_increments += part.increments.size();
  path.increments.reserve(num_increments);
  for (PathPart& part : parts) {
    append(path.head, part.head);
    append(path.increments, part.increments);
    path.control_revenue += part.control_revenue;
    path.control_cost += part.control_cost;
  }
  allocate::sort_path(path.increments, context);
  return path;
}

std::vector<Cut> cuts_at(const PredictedPath& path, std::span<const double> totals) {
  Walk walk{path.control_revenue, path.control_cost};
  for (const allocate::Increment& step : path.head) walk.take(step);
  std::vector<Cut> cuts;
  std::size_t taken = 0;
  for (const double total : totals) {
    while (taken < path.increments.size() && walk.cost + path.increments[taken].extra_cost() <= total) {
      walk.take(path.increments[taken++]);
    }
    const double multiplier = taken < path.increments.size() ? path.increments[taken].efficiency : 0.0;
    cuts.push_back({path.head.size() + taken, multiplier, walk.revenue, walk.cost, walk.cost <= total});
  }
  return cuts;
}

SpendEnds spend_ends(const PredictedPath& path) {
  Walk walk{path.control_revenue, path.control_cost};
  for (const allocate::Increment& step : path.head) walk.take(step);
  SpendEnds ends;
  ends.least = walk.cost;
  for (const allocate::Increment& step : path.increments) walk.take(step);
  ends.most = walk.cost;
  return ends;
}

void for_each_plan(const PredictedPath& path, std::size_t num_rows, std::size_t control, std::span<const Cut> cuts,
                   const std::function<void(std::size_t, std::span<const std::uint8_t>)>& body) {
  std::vector<std::uint8_t> arm(num_rows, static_cast<std::uint8_t>(control));
  std::size_t taken = 0;
  for (std::size_t index = 0; index < cuts.size(); ++index) {
    for (; taken < cuts[index].num_steps; ++taken) arm[path.step(taken).unit] = path.step(taken).arm_to;
    body(index, arm);
  }
}

std::vector<PathStep> steps_of(const PredictedPath& path, const Rewards& rewards, core::RunContext& context) {
  std::vector<PathStep> steps(path.num_steps());
  core::for_each_chunk(context, steps.size(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const allocate::Increment& step = path.step(i);
      const Contribution from = rewards.of(step.unit, step.arm_from);
      const Contribution to = rewards.of(step.unit, step.arm_to);
      steps[i] = {{to.revenue - from.revenue, to.cost - from.cost, to.weight - from.weight},
                  step.unit,
                  rewards.rows().arm[step.unit],
                  step.arm_from,
                  step.arm_to};
    }
  });
  return steps;
}

}  // namespace dfcl::evaluate
