// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/setting.h"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace dfcl::evaluate {

Setting::Setting(const EvaluationInput& evaluation_input, const EvaluationOptions& evaluation_options,
                 core::RunContext& run_context)
    : input(evaluation_input),
      options(evaluation_options),
      context(run_context),
      rewards(evaluation_input.rows, evaluation_options.estimator, evaluation_input.nuisance,
              evaluation_options.cost_limits.control_is_free),
      effects(rewards, evaluation_options.cost_limits.control_is_free),
      kind(evaluation_options.analytic ? SeriesKind::influence : SeriesKind::resamples),
      budget_order(evaluation_options.budgets_per_unit.size()),
      ones(ResampleBlock::ones()),
      totals(totals_of(ones, rewards)),
      num_rows_(evaluation_input.rows.size()) {
  order_budgets();
  const PlanValue value = control_value(totals, rewards);
  control = {value.revenue[0], value.cost[0]};
  if (knows_prices()) control.cost = input.rows.prices()[input.rows.arms.control];
  if (options.analytic) {
    const std::vector<std::uint8_t> all_control(num_rows(), static_cast<std::uint8_t>(input.rows.arms.control));
    control_series = influence_of(rewards, all_control, context);
  }
  draw_totals();
  set_known_cost(control.cost, control_series);
  if (!input.rows.guardrails.empty()) guardrails.emplace(input.rows, options.estimator, input.nuisance, context);
  if (options.estimator == Estimator::doubly_robust)
    hajek.emplace(input.rows, options.cost_limits.control_is_free, options.level, context);
}

Setting::Setting(const EvaluationInput& evaluation_input, const EvaluationOptions& evaluation_options,
                 std::size_t num_rows, core::RunContext& run_context)
    : input(evaluation_input),
      options(evaluation_options),
      context(run_context),
      rewards(evaluation_input.rows, evaluation_options.estimator, {}, evaluation_options.cost_limits.control_is_free),
      effects(rewards, evaluation_options.cost_limits.control_is_free),
      kind(SeriesKind::resamples),
      budget_order(evaluation_options.budgets_per_unit.size()),
      ones(ResampleBlock::ones()),
      num_rows_(num_rows),
      is_elsewhere_(true),
      resamples_(evaluation_options.num_resamples > 0) {
  order_budgets();
}

void Setting::order_budgets() {
  std::iota(budget_order.begin(), budget_order.end(), std::size_t{0});
  std::stable_sort(budget_order.begin(), budget_order.end(), [&](std::size_t a, std::size_t b) {
    return options.budgets_per_unit[a] < options.budgets_per_unit[b];
  });
  for (const std::size_t index : budget_order) budgets.push_back(options.budgets_per_unit[index]);
}

JudgedProblem Setting::problem_of(const Outcomes& prediction, const std::vector<double>& price,
                                  std::span<const std::uint64_t> keys) const {
  JudgedProblem judged;
  allocate::Problem& problem = judged.problem;
  problem.revenue = prediction.revenue;
  problem.cost = prediction.cost;
  problem.eligible = input.eligible;
  problem.keys = keys.empty() ? std::span<const std::uint64_t>(input.rows.key) : keys;
  problem.rules = input.rules;
  problem.rules.control = input.rows.arms.control;
  if (input.rows.sample.empty()) {
    problem.rules.price = price;
    return judged;
  }
  const std::size_t num_arms = prediction.revenue.cols;
  judged.revenue = core::Matrix<float>(num_rows(), num_arms);
  judged.cost = core::Matrix<float>(num_rows(), num_arms);
  for (std::size_t row = 0; row < num_rows(); ++row) {
    const double units = input.rows.sample[row];
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      const double cost = price.empty() ? static_cast<double>(prediction.cost(row, arm)) : price[arm];
      judged.revenue(row, arm) = static_cast<float>(units * static_cast<double>(prediction.revenue(row, arm)));
      judged.cost(row, arm) = static_cast<float>(units * cost);
    }
  }
  problem.revenue = judged.revenue.view();
  problem.cost = judged.cost.view();
  return judged;
}

void Setting::set_known_cost(std::span<const double> units, PlanEstimate& estimate) const {
  if (!knows_prices()) return;
  estimate.cost = 0.0;
  for (std::size_t arm = 0; arm < units.size(); ++arm) {
    estimate.cost += units[arm] * input.rows.prices()[arm];
  }
  estimate.cost /= static_cast<double>(num_rows());
}

void Setting::keep_to_facts(PlanEstimate& estimate) const {
  const CostLimits& limits = options.cost_limits;
  if (limits.non_negative) estimate.cost = std::max(estimate.cost, 0.0);
  if (limits.rises_with_arm || (limits.non_negative && limits.control_is_free))
    estimate.cost = std::max(estimate.cost, control.cost);
}

void Setting::set_known_cost(double cost, PlanSeries& series) const {
  // The same in every resample; no row moves it.
  if (knows_prices()) std::fill(series.cost.begin(), series.cost.end(), kind == SeriesKind::influence ? 0.0 : cost);
}

void Setting::draw_totals() {
  if (options.num_resamples == 0 || options.analytic) return;
  const std::size_t num_blocks = (options.num_resamples + kLanes - 1) / kLanes;
  block_totals.resize(num_blocks);
  resamples_ = num_blocks > 0;
  PlanSeries series{Series(num_blocks * kLanes), Series(num_blocks * kLanes)};
  context.pool.run(num_blocks, [&](std::size_t index) {
    context.check_cancelled();
    const ResampleBlock block(input.rows, options.weights, context.seed, index);
    block_totals[index] = totals_of(block, rewards);
    const PlanValue value = control_value(block_totals[index], rewards);
    std::copy(value.revenue.begin(), value.revenue.end(), series.revenue.begin() + static_cast<long>(index * kLanes));
    std::copy(value.cost.begin(), value.cost.end(), series.cost.begin() + static_cast<long>(index * kLanes));
  });
  series.revenue.resize(options.num_resamples);
  series.cost.resize(options.num_resamples);
  control_series = std::move(series);
}

void Setting::for_each_block(const BlockBody& body) const {
  std::mutex mutex;
  std::size_t done = 0;
  context.pool.run(block_totals.size(), [&](std::size_t index) {
    context.check_cancelled();
    const ResampleBlock block(input.rows, options.weights, context.seed, index);
    const std::size_t first = index * kLanes;
    const std::size_t count = std::min(kLanes, options.num_resamples - first);
    body(block, block_totals[index], first, count);
    const std::lock_guard lock(mutex);
    done += count;
    context.progress("resampling", done, options.num_resamples, "resamples");
  });
  context.finished("resampling");
}

}  // namespace dfcl::evaluate
