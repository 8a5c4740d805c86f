// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/exact_total.h"
#include "dfcl/core/parallel.h"
#include "dfcl/data/row_weight.h"

namespace dfcl::evaluate {
namespace {

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

ModelRun draw_random(const Setting& setting, const JudgedModel& model, ArmsForEveryone& arms) {
  // Which arms a unit may get says how likely it is to be drawn: one draw then stands for all.
  if (setting.input.eligible.rows > 0) return run_model(setting, model, nullptr);
  ModelRun run;
  {
    const JudgedProblem judged = setting.problem_of(model.prediction, model.price, model.keys);
    PredictedPath path = path_of(judged.problem, setting.context);
    cut_plans(setting, path, run);
  }
  for (PlanRun& plan : run.curve) arms.judge_mix(plan);
  for (PlanRun& plan : run.deployed) {
    arms.judge_mix(plan);
    if (setting.guardrails) plan.guardrails = setting.guardrails->estimates_of_mix(plan.share_per_arm, setting.context);
  }
  return run;
}

ModelRun run_random(const Setting& setting, const ArmMeans& means, ArmsForEveryone& arms) {
  const TrialRows& rows = setting.input.rows;
  const core::Matrix<float> revenue = constant_rows(rows.size(), means.revenue);
  const core::Matrix<float> cost = constant_rows(rows.size(), means.cost);
  std::vector<std::uint64_t> keys(rows.size());
  core::for_each_chunk(setting.context, rows.size(), 65'536, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) keys[row] = random_key(rows.key[row]);
  });
  JudgedModel model;
  model.name = "random";
  model.prediction = {revenue.view(), cost.view()};
  model.keys = keys;
  if (setting.knows_prices()) model.price.assign(rows.prices().begin(), rows.prices().end());
  return draw_random(setting, model, arms);
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

BaselineRun run_single_arms(const Setting& setting, const ArmMeans& means, const std::vector<double>& price,
                            ArmsForEveryone& arms) {
  BaselineRun run{"single_arm", {}, {}, {}, {}};
  for (std::size_t budget = 0; budget < price.size(); ++budget) {
    const std::size_t arm = best_single_arm(setting, means, price[budget]);
    run.names.push_back(fmt::format("arm '{}' for everyone", setting.input.rows.arms.labels[arm]));
    run.plans.push_back(arms.run(arm));
    if (setting.options.analytic) run.plans.back().series = {};
  }
  return run;
}

// One plan at every budget. arm_of_row: kept where intervals are analytic.
BaselineRun constant_run(const Setting& setting, std::string kind, const std::string& name, PlanRun plan,
                         const std::vector<std::uint8_t>& arm_of_row) {
  const std::size_t num_budgets = setting.budgets.size();
  BaselineRun run{std::move(kind), std::vector<std::string>(num_budgets, name), {}, {}, {}};
  if (setting.options.analytic) plan.series = {};
  run.plans.assign(num_budgets, plan);
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

// Sums over the units of an arm, the same whatever the order of the units.
struct ArmSums {
  core::ExactTotal weight, revenue, cost;
};

}  // namespace

PlanSeries baseline_influence(const Setting& setting, const BaselineRun& run, std::size_t budget) {
  if (run.plan_arms.empty()) return influence_of_mix(setting, run.plans[budget].share_per_arm);
  return influence_for(setting, run.plan_arms[budget]);
}

ArmMeans arm_means(const data::Trial& trial, std::optional<data::Split> evaluated, core::RunContext& context) {
  const std::size_t num_arms = trial.arms.size();
  const auto sum = [&](std::optional<data::Split> left_out) {
    const std::vector<ArmSums> sums = core::sum_chunks(
        context, trial.num_units(), std::max<std::size_t>(16'384, trial.num_units() / 64 + 1),
        std::vector<ArmSums>(num_arms),
        [&](std::size_t begin, std::size_t end) {
          std::vector<ArmSums> part(num_arms);
          for (std::size_t unit = begin; unit < end; ++unit) {
            if (left_out && trial.split[unit] == *left_out) continue;
            const double weight = data::row_weight(trial, unit);
            ArmSums& own = part[trial.arm[unit]];
            own.weight.add(weight);
            own.revenue.add(weight * static_cast<double>(trial.revenue[unit]));
            own.cost.add(weight * static_cast<double>(trial.cost[unit]));
          }
          return part;
        },
        [](std::vector<ArmSums>& total, const std::vector<ArmSums>& part) {
          for (std::size_t arm = 0; arm < total.size(); ++arm) {
            total[arm].weight.add(part[arm].weight);
            total[arm].revenue.add(part[arm].revenue);
            total[arm].cost.add(part[arm].cost);
          }
        });
    ArmMeans means{{}, {}, left_out.has_value()};
    bool has_all = true;
    for (const ArmSums& own : sums) {
      const double weight = own.weight.value();
      has_all = has_all && weight > 0.0;
      means.revenue.push_back(own.revenue.value() / weight);
      means.cost.push_back(own.cost.value() / weight);
    }
    return std::pair(means, has_all);
  };
  auto [means, has_all] = sum(evaluated);
  if (!has_all) means = sum(std::nullopt).first;
  if (trial.cost_facts.kind == data::CostKind::price) means.cost = trial.cost_facts.per_arm;
  return means;
}

Baselines baselines_of(const Setting& setting, const ArmMeans& means, ModelRun random, ArmsForEveryone& arms) {
  const TrialRows& rows = setting.input.rows;
  Baselines baselines;
  const double to_pay_back = setting.options.value_per_revenue ? 1.0 / *setting.options.value_per_revenue : 0.0;
  for (const double earned : marginal_returns(random, setting.input.rules))
    baselines.price.push_back(std::max(earned, to_pay_back));
  BaselineRun drawn{"random", {}, std::move(random.deployed), std::move(random.curve), std::move(random.plans)};
  for (const PlanRun& plan : drawn.plans) drawn.names.push_back(mix_words(setting, plan));
  baselines.runs.push_back(std::move(drawn));
  baselines.runs.push_back(run_single_arms(setting, means, baselines.price, arms));
  const std::vector<std::uint8_t> in_control(rows.size(), static_cast<std::uint8_t>(rows.arms.control));
  baselines.runs.push_back(
      constant_run(setting, "control", "control for everyone", arms.run(rows.arms.control), in_control));
  for (std::size_t i = 1; i < baselines.runs.size(); ++i) set_predictions(setting, means, baselines.runs[i]);
  return baselines;
}

Baselines run_baselines(const Setting& setting) {
  const ArmMeans means = means_of(setting);
  ArmsForEveryone arms(setting);
  Baselines baselines = baselines_of(setting, means, run_random(setting, means, arms), arms);
  if (!setting.input.rule.empty()) {
    const std::vector<std::uint8_t> rule(setting.input.rule.begin(), setting.input.rule.end());
    baselines.runs.push_back(constant_run(setting, "rule", "today's rule", run_fixed_plan(setting, rule), rule));
    set_predictions(setting, means, baselines.runs.back());
  }
  return baselines;
}

}  // namespace dfcl::evaluate
