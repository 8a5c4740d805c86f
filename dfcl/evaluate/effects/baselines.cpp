// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::evaluate {
namespace {

constexpr std::uint64_t kRandomSalt = core::stream_purpose("random baseline");

ArmMeans observed_means(const TrialRows& rows) {
  ArmMeans means{std::vector<double>(rows.num_arms()), std::vector<double>(rows.num_arms()), false};
  std::vector<double> weights(rows.num_arms());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t arm = rows.arm[row];
    weights[arm] += rows.total_weight(row);
    means.revenue[arm] += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
    means.cost[arm] += rows.total_weight(row) * static_cast<double>(rows.cost[row]);
  }
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    means.revenue[arm] /= weights[arm];
    means.cost[arm] /= weights[arm];
  }
  return means;
}

// A known price is a fact, whatever was observed.
ArmMeans means_of(const Setting& setting) {
  const TrialRows& rows = setting.input.rows;
  ArmMeans means = setting.input.arm_means ? *setting.input.arm_means : observed_means(rows);
  if (setting.knows_prices()) means.cost.assign(rows.prices().begin(), rows.prices().end());
  return means;
}

core::Matrix<float> constant_rows(std::size_t num_rows, const std::vector<double>& means) {
  core::Matrix<float> matrix(num_rows, means.size());
  for (std::size_t row = 0; row < num_rows; ++row) {
    for (std::size_t arm = 0; arm < means.size(); ++arm) matrix(row, arm) = static_cast<float>(means[arm]);
  }
  return matrix;
}

// Two arms that random moves units between, in words: "40 % in arm '5', 60 % in arm '0'".
std::string mix_words(const Setting& setting, const PlanRun& plan) {
  std::string text;
  for (std::size_t arm = 0; arm < plan.share_per_arm.size(); ++arm) {
    if (plan.share_per_arm[arm] <= 0.0 || arm == setting.input.rows.arms.control) continue;
    const std::string whom = plan.share_per_arm[arm] > 0.9995
                                 ? "everyone"
                                 : fmt::format("a random {} % of the units",
                                               number_words(100.0 * plan.share_per_arm[arm], setting.options.words, 3));
    text += fmt::format("{}arm '{}' for {}", text.empty() ? "" : ", ", setting.input.rows.arms.labels[arm], whom);
  }
  return text.empty() ? "control for everyone" : text;
}

// What one more unit of cost would earn at each budget; where the path has ended, what the last one earned.
std::vector<double> marginal_returns(const ModelRun& run, const allocate::Rules& rules) {
  // A multiplier is value per cost: of profit m r - c, where it is what plans make large.
  const auto revenue_per_cost = [&](double multiplier) {
    return rules.objective == allocate::Objective::profit ? (multiplier + 1.0) / rules.margin : multiplier;
  };
  double last = 0.0;
  for (const PlanRun& plan : run.curve) last = plan.cut.multiplier > 0.0 ? revenue_per_cost(plan.cut.multiplier) : last;
  std::vector<double> returns;
  for (const PlanRun& plan : run.deployed)
    returns.push_back(plan.cut.multiplier > 0.0 ? revenue_per_cost(plan.cut.multiplier) : last);
  return returns;
}

struct RandomRun {
  BaselineRun baseline;
  std::vector<double> marginal_return;  // per budget
};

RandomRun run_random(const Setting& setting, const ArmMeans& means) {
  const TrialRows& rows = setting.input.rows;
  const core::Matrix<float> revenue = constant_rows(rows.size(), means.revenue);
  const core::Matrix<float> cost = constant_rows(rows.size(), means.cost);
  std::vector<std::uint64_t> keys;
  keys.reserve(rows.size());
  for (const std::uint64_t key : rows.key) keys.push_back(core::combine_hashes(key, kRandomSalt));
  JudgedModel model;
  model.name = "random";
  model.prediction = {revenue.view(), cost.view()};
  model.keys = keys;
  if (setting.knows_prices()) model.price.assign(rows.prices().begin(), rows.prices().end());
  ModelRun run = run_model(setting, model, nullptr);
  RandomRun random;
  random.marginal_return = marginal_returns(run, setting.input.rules);
  random.baseline = {"random", {}, std::move(run.deployed), std::move(run.curve), std::move(run.plans)};
  for (const PlanRun& plan : random.baseline.plans) random.baseline.names.push_back(mix_words(setting, plan));
  return random;
}

// A plan that stays as it is, whatever the budget.
PlanRun run_plan(const Setting& setting, std::span<const std::uint8_t> arm_of_row) {
  const TrialRows& rows = setting.input.rows;
  const auto control = static_cast<std::uint8_t>(rows.arms.control);
  PlanRun plan;
  plan.cut.units.assign(rows.num_arms(), 0.0);
  std::vector<PathStep> steps;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    plan.cut.units[arm_of_row[row]] += rows.sample_weight(row);
    if (arm_of_row[row] == control) continue;
    steps.push_back(step_of(setting.rewards, static_cast<std::uint32_t>(row), control, arm_of_row[row]));
  }
  for (const double units : plan.cut.units) plan.share_per_arm.push_back(units / static_cast<double>(rows.size()));
  plan.cut.num_steps = steps.size();
  const PathPoint end{steps.size(), {}};
  const PathRequest request{{&end, 1}, {}, 0};
  const PathFigures own = path_values(setting.ones, setting.totals, setting.rewards, steps, request);
  plan.estimate = {own.at_cuts[0].revenue[0], own.at_cuts[0].cost[0]};
  setting.set_known_cost(plan.cut.units, plan.estimate);
  setting.keep_to_facts(plan.estimate);
  if (setting.options.analytic) {
    plan.series = influence_of(setting.rewards, arm_of_row, setting.context);
    setting.set_known_cost(0.0, plan.series);
    plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
    plan.series = {};
  } else if (steps.empty()) {  // everyone in control
    plan.series = setting.control_series;
    plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
  } else {
    plan.series = {Series(setting.num_resamples()), Series(setting.num_resamples())};
    setting.for_each_block(
        [&](const ResampleBlock& block, const BlockTotals& totals, std::size_t first, std::size_t count) {
          const PathFigures figures = path_values(block, totals, setting.rewards, steps, request);
          const auto begin = static_cast<long>(first);
          std::copy_n(figures.at_cuts[0].revenue.begin(), count, plan.series.revenue.begin() + begin);
          std::copy_n(figures.at_cuts[0].cost.begin(), count, plan.series.cost.begin() + begin);
        });
    setting.set_known_cost(plan.estimate.cost, plan.series);
    plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
  }
  if (setting.guardrails) plan.guardrails = setting.guardrails->estimates(arm_of_row, setting.context);
  if (setting.input.truth.revenue.rows > 0)
    plan.truth = mean_under(setting.input.truth, arm_of_row, rows, setting.context);
  return plan;
}

// By the means of other rows, at the price of each budget; of arms that are as good the cheaper.
std::size_t best_single_arm(const Setting& setting, const ArmMeans& means, double price) {
  const std::size_t control = setting.input.rows.arms.control;
  std::size_t best = control;
  for (std::size_t arm = 0; arm < means.revenue.size(); ++arm) {
    if (arm == control) continue;
    const auto net = [&](std::size_t which) { return means.revenue[which] - price * means.cost[which]; };
    const double lead = best == control ? 1.0 : net(arm) - net(best);
    const double rounding = 1e-9 * (std::abs(means.revenue[arm]) + std::abs(means.revenue[best]));
    if (lead > rounding || (lead > -rounding && means.cost[arm] < means.cost[best])) best = arm;
  }
  return best;
}

BaselineRun run_single_arms(const Setting& setting, const ArmMeans& means, const std::vector<double>& price) {
  const TrialRows& rows = setting.input.rows;
  BaselineRun run{"single_arm", {}, {}, {}, {}};
  std::vector<std::size_t> arms;
  for (std::size_t budget = 0; budget < price.size(); ++budget) {
    arms.push_back(best_single_arm(setting, means, price[budget]));
    run.names.push_back(fmt::format("arm '{}' for everyone", rows.arms.labels[arms.back()]));
    const std::vector<std::uint8_t> everyone(rows.size(), static_cast<std::uint8_t>(arms.back()));
    const bool as_before = budget > 0 && arms[budget] == arms[budget - 1];
    run.plans.push_back(as_before ? run.plans.back() : run_plan(setting, everyone));
    if (setting.options.analytic) run.plan_arms.push_back(everyone);
  }
  return run;
}

// One plan at every budget.
BaselineRun constant_run(const Setting& setting, std::string kind, const std::string& name,
                         const std::vector<std::uint8_t>& arm_of_row) {
  const std::size_t num_budgets = setting.budgets.size();
  BaselineRun run{std::move(kind), std::vector<std::string>(num_budgets, name), {}, {}, {}};
  run.plans.assign(num_budgets, run_plan(setting, arm_of_row));
  if (setting.options.analytic) run.plan_arms.assign(num_budgets, arm_of_row);
  return run;
}

// Of fixed plans, what the means of other rows predict.
void set_predictions(const Setting& setting, const ArmMeans& means, BaselineRun& run) {
  for (std::size_t budget = 0; budget < run.plans.size(); ++budget) {
    PlanRun& plan = run.plans[budget];
    plan.budget_per_unit = setting.budgets[budget];
    plan.cut.revenue = plan.cut.cost = 0.0;
    for (std::size_t arm = 0; arm < plan.cut.units.size(); ++arm) {
      plan.cut.revenue += plan.cut.units[arm] * means.revenue[arm];
      plan.cut.cost += plan.cut.units[arm] * means.cost[arm];
    }
  }
}

// The same whatever the order of the terms, which are sorted.
double sum_in_any_order(std::vector<double>& terms) {
  std::sort(terms.begin(), terms.end());
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}

}  // namespace

ArmMeans arm_means(const data::Trial& trial, std::optional<data::Split> evaluated) {
  const std::size_t num_arms = trial.arms.size();
  const auto sum = [&](std::optional<data::Split> left_out) {
    ArmMeans means{{}, {}, left_out.has_value()};
    std::vector<std::vector<double>> weights(num_arms), revenue(num_arms), cost(num_arms);
    for (std::size_t unit = 0; unit < trial.num_units(); ++unit) {
      if (left_out && trial.split[unit] == *left_out) continue;
      const double weight = data::row_weight(trial, unit);
      weights[trial.arm[unit]].push_back(weight);
      revenue[trial.arm[unit]].push_back(weight * static_cast<double>(trial.revenue[unit]));
      cost[trial.arm[unit]].push_back(weight * static_cast<double>(trial.cost[unit]));
    }
    bool has_all = true;
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      const double weight = sum_in_any_order(weights[arm]);
      has_all = has_all && weight > 0.0;
      means.revenue.push_back(sum_in_any_order(revenue[arm]) / weight);
      means.cost.push_back(sum_in_any_order(cost[arm]) / weight);
    }
    return std::pair(means, has_all);
  };
  auto [means, has_all] = sum(evaluated);
  if (!has_all) means = sum(std::nullopt).first;
  if (trial.cost_facts.kind == data::CostKind::price) means.cost = trial.cost_facts.per_arm;
  return means;
}

Baselines run_baselines(const Setting& setting) {
  const TrialRows& rows = setting.input.rows;
  const ArmMeans means = means_of(setting);
  RandomRun random = run_random(setting, means);
  Baselines baselines;
  const double to_pay_back = setting.options.value_per_revenue ? 1.0 / *setting.options.value_per_revenue : 0.0;
  for (const double earned : random.marginal_return) baselines.price.push_back(std::max(earned, to_pay_back));
  baselines.runs.push_back(std::move(random.baseline));
  baselines.runs.push_back(run_single_arms(setting, means, baselines.price));
  const std::vector<std::uint8_t> in_control(rows.size(), static_cast<std::uint8_t>(rows.arms.control));
  baselines.runs.push_back(constant_run(setting, "control", "control for everyone", in_control));
  if (!setting.input.rule.empty()) {
    const std::vector<std::uint8_t> rule(setting.input.rule.begin(), setting.input.rule.end());
    baselines.runs.push_back(constant_run(setting, "rule", "today's rule", rule));
  }
  for (std::size_t i = 1; i < baselines.runs.size(); ++i) set_predictions(setting, means, baselines.runs[i]);
  return baselines;
}

}  // namespace dfcl::evaluate
