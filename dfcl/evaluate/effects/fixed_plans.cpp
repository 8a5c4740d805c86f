// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/fixed_plans.h"

#include <algorithm>

#include "dfcl/core/parallel.h"

namespace dfcl::evaluate {
namespace {

constexpr std::size_t kChunkRows = 16'384;

std::vector<std::uint8_t> everyone(const Setting& setting, std::size_t arm) {
  return std::vector<std::uint8_t>(setting.num_rows(), static_cast<std::uint8_t>(arm));
}

// An arm that nobody gets may have no estimate: it does not enter the sum.
void add_share(double share, const PlanSeries& of_arm, PlanSeries& sum) {
  const auto add = [share](const Series& terms, Series& series) {
    series.resize(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) series[i] += share * terms[i];
  };
  add(of_arm.revenue, sum.revenue);
  add(of_arm.cost, sum.cost);
}

void set_resamples(const Setting& setting, std::span<const PathStep> steps, const PathRequest& request, PlanRun& plan) {
  plan.series = {Series(setting.num_resamples()), Series(setting.num_resamples())};
  setting.for_each_block(
      [&](const ResampleBlock& block, const BlockTotals& totals, std::size_t first, std::size_t count) {
        const PathFigures figures = path_values(block, totals, setting.rewards, steps, request);
        const auto begin = static_cast<long>(first);
        std::copy_n(figures.at_cuts[0].revenue.begin(), count, plan.series.revenue.begin() + begin);
        std::copy_n(figures.at_cuts[0].cost.begin(), count, plan.series.cost.begin() + begin);
      });
  setting.set_known_cost(plan.estimate.cost, plan.series);
}

}  // namespace

PlanRun run_fixed_plan(const Setting& setting, std::span<const std::uint8_t> arm_of_row) {
  const TrialRows& rows = setting.input.rows;
  const auto control = static_cast<std::uint8_t>(rows.arms.control);
  PlanRun plan;
  plan.cut.units.assign(rows.num_arms(), 0.0);
  std::vector<std::size_t> first_step((rows.size() + kChunkRows - 1) / kChunkRows);  // of each chunk of rows
  std::size_t num_steps = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row % kChunkRows == 0) first_step[row / kChunkRows] = num_steps;
    plan.cut.units[arm_of_row[row]] += rows.sample_weight(row);
    num_steps += arm_of_row[row] == control ? 0 : 1;
  }
  PathSteps made(num_steps);
  core::for_each_chunk(
      setting.context, rows.size(), kChunkRows, [&](std::size_t begin, std::size_t end, std::size_t chunk) {
        std::size_t next = first_step[chunk];
        for (std::size_t row = begin; row < end; ++row) {
          if (arm_of_row[row] == control) continue;
          made[next++] = step_of(setting.rewards, static_cast<std::uint32_t>(row), control, arm_of_row[row]);
        }
      });
  const std::span<const PathStep> steps = made;
  for (const double units : plan.cut.units) plan.share_per_arm.push_back(units / static_cast<double>(rows.size()));
  plan.cut.num_steps = num_steps;
  const PathPoint end{num_steps, {}};
  const PathRequest request{{&end, 1}, {}, 0};
  const PathFigures own = path_values(setting.ones, setting.totals, setting.rewards, steps, request);
  plan.estimate = {own.at_cuts[0].revenue[0], own.at_cuts[0].cost[0]};
  setting.set_known_cost(plan.cut.units, plan.estimate);
  setting.keep_to_facts(plan.estimate);
  if (setting.options.analytic) {
    plan.series = influence_for(setting, arm_of_row);
  } else if (steps.empty()) {  // everyone in control
    plan.series = setting.control_series;
  } else {
    set_resamples(setting, steps, request, plan);
  }
  plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
  if (setting.guardrails) plan.guardrails = setting.guardrails->estimates(arm_of_row, setting.context);
  if (setting.input.truth.revenue.rows > 0)
    plan.truth = mean_under(setting.input.truth, arm_of_row, rows, setting.context);
  return plan;
}

const PlanRun& ArmsForEveryone::run(std::size_t arm) {
  if (!runs_[arm]) runs_[arm] = run_fixed_plan(setting_, everyone(setting_, arm));
  return *runs_[arm];
}

void ArmsForEveryone::judge_mix(PlanRun& plan) {
  plan.estimate = {};
  plan.series = {};
  if (setting_.input.truth.revenue.rows > 0) plan.truth = PlanEstimate{};
  const auto add = [](double share, const PlanEstimate& of_arm, PlanEstimate& sum) {
    sum.revenue += share * of_arm.revenue;
    sum.cost += share * of_arm.cost;
  };
  for (std::size_t arm = 0; arm < plan.share_per_arm.size(); ++arm) {
    const double share = plan.share_per_arm[arm];
    if (share <= 0.0) continue;
    const PlanRun& of_arm = run(arm);
    add(share, of_arm.estimate, plan.estimate);
    add_share(share, of_arm.series, plan.series);
    if (plan.truth) add(share, *of_arm.truth, *plan.truth);
  }
  setting_.set_known_cost(plan.cut.units, plan.estimate);
  setting_.set_known_cost(plan.estimate.cost, plan.series);
  plan.spread = spread_of(plan.series, setting_.control_series, setting_.kind);
  if (setting_.options.analytic) plan.series = {};
}

PlanSeries influence_of_mix(const Setting& setting, std::span<const double> share_per_arm) {
  PlanSeries sum;
  for (std::size_t arm = 0; arm < share_per_arm.size(); ++arm) {
    if (share_per_arm[arm] > 0.0) add_share(share_per_arm[arm], influence_for(setting, everyone(setting, arm)), sum);
  }
  return sum;
}

}  // namespace dfcl::evaluate
