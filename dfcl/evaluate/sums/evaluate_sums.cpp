// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/sums/evaluate_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfcl/allocate/plan_path.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/evaluate/curves/plan_figures.h"
#include "dfcl/evaluate/describe.h"
#include "dfcl/evaluate/effects/baseline_figures.h"
#include "dfcl/evaluate/effects/differences.h"
#include "dfcl/evaluate/sums/judge_task.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {
namespace {

void require_summable(const EvaluationOptions& options) {
  const auto refuse = [](const char* field, const char* what, const char* expected) {
    throw core::field_error(field, "needs rows in one place", what, expected);
  };
  if (options.estimator == Estimator::stratified)
    refuse("estimator", "stratified", "doubly-robust, hajek or horvitz-thompson");
  if (options.analytic) refuse("intervals", "analytic", "bootstrap");
  if (options.weights != Weights::poisson) refuse("weights", "multinomial", "poisson");
}

void require_rows(const SummedInput& input) {
  const std::vector<std::size_t> units = input.facts.judged_per_arm();
  for (std::size_t arm = 0; arm < units.size(); ++arm) {
    if (units[arm] < 2)
      throw core::data_error("", fmt::format("arm '{}' has too few units to judge by", input.arms.labels[arm]),
                             fmt::format("{}", units[arm]), "two or more, to see a spread",
                             "another split, or fewer arms");
  }
  if (input.facts.largest().revenue == 0.0)
    throw core::data_error("", "nobody who is judged earned anything",
                           fmt::format("revenue 0 for all {} units", input.facts.num_judged()), "some revenue");
}

TrialRows summary_of(const SummedInput& input) {
  TrialRows rows;
  rows.arms = input.arms;
  rows.cost_facts = input.cost_facts;
  rows.arm_units = input.facts.judged_per_arm();
  rows.arm_weight.assign(rows.arm_units.begin(), rows.arm_units.end());
  rows.has_propensity = input.facts.has_propensity();
  return rows;
}

// The deployed plans of a prediction, as they are cut.
struct CutPlans {
  std::vector<PlanRun> plans;  // budgets rising
  SumTask::Cuts cuts;
};

CutPlans cut_plans_of(const Setting& setting, Planned planned, const TaskRunner& runner) {
  const std::size_t num_arms = setting.input.rows.num_arms();
  const auto run_pass = [&](const std::string& pass) {
    JudgeTask task;
    task.path = PathTask{planned, num_arms, pass};
    return runner(task.to_bytes());
  };
  allocate::PlanPath path(run_pass, num_arms, planned.rules);
  const allocate::Prices prices(planned.rules);
  const allocate::PathEnds& ends = path.ends(setting.context);
  const auto num_rows = static_cast<double>(setting.num_rows());
  const double control_cost = ends.control.spend(prices);
  const double least = ends.least.spend(prices);
  CutPlans made;
  for (const double budget : setting.budgets) {
    const double total = setting.total_budget(budget, control_cost / num_rows) * num_rows;
    const bool feasible = least <= total;
    const allocate::PathPlan plan = path.at_budget(feasible ? total : least, setting.context);
    PlanRun& run = made.plans.emplace_back();
    run.budget_per_unit = budget;
    run.cut.multiplier = plan.summary.multiplier;
    run.cut.revenue = plan.summary.revenue;
    run.cut.cost = plan.summary.spend;
    run.cut.feasible = feasible;
    run.cut.units.assign(plan.summary.units_per_arm.begin(), plan.summary.units_per_arm.end());
    for (const double units : run.cut.units) run.share_per_arm.push_back(units / num_rows);
    made.cuts.cuts.push_back(plan.cut.to_bytes());
  }
  made.cuts.planned = std::move(planned);
  return made;
}

// No contribution is larger (estimators.h).
SumShape shape_of(const Setting& setting, const LargestNumbers& largest, const std::vector<double>& weight_of_arm) {
  double weight = largest.weight;
  for (const double one : weight_of_arm) weight = std::max(weight, one);
  double rate = 0.0;
  for (const double one : setting.input.rows.rates()) rate = std::max(rate, std::abs(one));
  const double revenue = largest.nuisance_revenue + weight * (largest.revenue + largest.nuisance_revenue);
  const double cost = largest.nuisance_cost + weight * (largest.cost + largest.nuisance_cost);
  SumShape shape;
  shape.num_arms = setting.input.rows.num_arms();
  shape.num_resamples = setting.options.num_resamples;
  shape.seed = setting.context.seed;
  shape.has_weights = !setting.rewards.is_mean();
  shape.revenue_place = place_of(revenue);
  shape.cost_place = place_of(std::max(cost, rate * revenue));
  shape.weight_place = place_of(weight);
  return shape;
}

SumTask sum_task(const Setting& setting, const TrialFacts& facts, std::vector<SumTask::Cuts> cuts) {
  SumTask task;
  const TrialRows& rows = setting.input.rows;
  if (!rows.has_propensity) {
    for (const double units : rows.arm_weight)
      task.weight_of_arm.push_back(static_cast<double>(setting.num_rows()) / units);
  }
  task.shape = shape_of(setting, facts.largest(), task.weight_of_arm);
  task.shape.num_plans = rows.num_arms();
  for (const SumTask::Cuts& one : cuts) task.shape.num_plans += one.cuts.size();
  task.of_predictions = std::move(cuts);
  task.estimator = setting.options.estimator;
  task.control = rows.arms.control;
  task.free_control = setting.options.cost_limits.control_is_free;
  task.cost_facts = rows.cost_facts;
  return task;
}

// Estimates from sums: as path_values.h makes them of a walk.
class SumReader {
 public:
  SumReader(const Setting& setting, const JudgedSums& sums) : setting_(setting), sums_(sums) {
    const TrialRows& rows = setting.input.rows;
    for (std::size_t series = 0; series <= setting.num_resamples(); ++series) {
      double all = 0.0;
      std::vector<double>& scale = scale_.emplace_back();
      for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
        all += sums.units(arm, series);
        scale.push_back(rows.has_propensity ? 1.0 : rows.arm_weight[arm] / sums.units(arm, series));
      }
      total_.push_back(rows.has_propensity ? all : static_cast<double>(setting.num_rows()));
    }
  }

  // Fills in what the plan earns and costs, and in the resamples.
  void judge(std::size_t plan, PlanRun& run) const {
    run.estimate = value(plan, 0);
    run.series = {Series(setting_.num_resamples()), Series(setting_.num_resamples())};
    for (std::size_t i = 0; i < setting_.num_resamples(); ++i) {
      const PlanEstimate one = value(plan, i + 1);
      run.series.revenue[i] = one.revenue;
      run.series.cost[i] = one.cost;
    }
    setting_.set_known_cost(run.cut.units, run.estimate);
    setting_.set_known_cost(run.estimate.cost, run.series);
  }

 private:
  PlanEstimate value(std::size_t plan, std::size_t series) const {
    double revenue = 0.0, cost = 0.0, weight = 0.0;
    for (std::size_t arm = 0; arm < scale_[series].size(); ++arm) {
      const double scale = scale_[series][arm];
      revenue += scale * sums_.revenue(plan, arm, series);
      cost += scale * sums_.cost(plan, arm, series);
      if (!setting_.rewards.is_mean()) weight += scale * sums_.weight(plan, arm, series);
    }
    if (setting_.rewards.is_mean()) weight = total_[series];
    return {revenue / weight, cost / weight};
  }

  const Setting& setting_;
  const JudgedSums& sums_;
  std::vector<std::vector<double>> scale_;  // per series and arm received
  std::vector<double> total_;               // per series
};

// What the last points of random's curve earn on one more unit of cost: the path of one unit is that of all.
double last_multiplier(const Planned& planned, std::size_t num_points, core::RunContext& context) {
  const std::size_t num_arms = planned.mean_revenue.size();
  allocate::Problem problem;
  problem.revenue = {planned.mean_revenue.data(), 1, num_arms};
  problem.cost = {planned.mean_cost.data(), 1, num_arms};
  problem.rules = planned.rules;
  allocate::PlanPath path(problem, allocate::PlanPath::Form::sorted);
  const allocate::Prices prices(planned.rules);
  const double least = path.ends(context).least.spend(prices);
  const double most = path.ends(context).most.spend(prices);
  const double place = static_cast<double>(num_points - 2) / static_cast<double>(num_points - 1);
  double spend = least;
  double multiplier = 0.0;
  for (const allocate::Increment& increment : path.increments(context)) {
    multiplier = increment.efficiency;
    spend += static_cast<double>(increment.cost_to) - static_cast<double>(increment.cost_from);
    if (spend > least + place * (most - least)) break;
  }
  return multiplier;
}

Planned random_plans(const SummedInput& input, const ArmMeans& means, allocate::Rules rules) {
  Planned random;
  for (const double mean : means.revenue) random.mean_revenue.push_back(static_cast<float>(mean));
  for (const double mean : means.cost) random.mean_cost.push_back(static_cast<float>(mean));
  if (input.cost_facts.kind == data::CostKind::price) rules.price = input.cost_facts.per_arm;
  random.rules = std::move(rules);
  return random;
}

// Plans are judged: each arm for everyone first, for all else is over control.
std::vector<PlanRun> judge_arms(Setting& setting, const SumReader& reader, std::size_t first_plan) {
  const std::size_t num_arms = setting.input.rows.num_arms();
  std::vector<PlanRun> arms(num_arms);
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    PlanRun& run = arms[arm];
    run.cut.units.assign(num_arms, 0.0);
    run.cut.units[arm] = static_cast<double>(setting.num_rows());
    run.share_per_arm.assign(num_arms, 0.0);
    run.share_per_arm[arm] = 1.0;
    reader.judge(first_plan + arm, run);
  }
  const PlanRun& control = arms[setting.input.rows.arms.control];
  setting.control = control.estimate;
  if (setting.knows_prices()) setting.control.cost = setting.input.rows.prices()[setting.input.rows.arms.control];
  setting.control_series = control.series;
  for (PlanRun& run : arms) {
    setting.keep_to_facts(run.estimate);
    run.spread = spread_of(run.series, setting.control_series, setting.kind);
  }
  return arms;
}

ModelFigures figures_of(const Setting& setting, const JudgedModel& model, const ModelRun& run) {
  ModelFigures figures;
  figures.name = model.name;
  figures.method = model.method;
  figures.is_index = model.is_index;
  figures.is_alternative = model.is_alternative;
  figures.deployed.resize(run.deployed.size());
  for (std::size_t i = 0; i < run.deployed.size(); ++i)
    figures.deployed[setting.budget_order[i]] = plan_figures(setting, run.deployed[i], nullptr);
  return figures;
}

}  // namespace

Evaluation evaluate_sums(const SummedInput& input, const EvaluationOptions& options, const TaskRunner& runner,
                         core::RunContext& context) {
  require_summable(options);
  require_rows(input);
  const TrialRows rows = summary_of(input);
  EvaluationInput summed{rows, input.models, {}, input.nuisance_name, {}, {}};
  summed.rules = input.rules;
  summed.rules.control = rows.arms.control;
  summed.reference = input.reference;
  summed.arm_means = input.facts.means(input.cost_facts);
  Setting setting(summed, options, input.facts.num_judged(), context);

  std::vector<ModelRun> runs;
  std::vector<SumTask::Cuts> cuts;
  for (std::size_t model = 0; model < input.models.size(); ++model) {
    Planned planned{model, {}, {}, summed.rules};
    planned.rules.price = input.models[model].price;
    CutPlans made = cut_plans_of(setting, std::move(planned), runner);
    runs.emplace_back().deployed = std::move(made.plans);
    cuts.push_back(std::move(made.cuts));
  }
  const Planned random = random_plans(input, *summed.arm_means, summed.rules);
  ModelRun random_run;
  random_run.deployed = cut_plans_of(setting, random, runner).plans;
  random_run.curve.emplace_back().cut.multiplier = last_multiplier(random, options.num_curve_points, context);

  JudgeTask task;
  task.sums = sum_task(setting, input.facts, std::move(cuts));
  const JudgedSums sums = JudgedSums::from_bytes(runner(task.to_bytes()), task.sums->shape);
  const SumReader reader(setting, sums);
  ArmsForEveryone arms(setting, judge_arms(setting, reader, task.sums->shape.num_plans - rows.num_arms()));
  for (PlanRun& plan : random_run.deployed) arms.judge_mix(plan);
  Baselines baselines = baselines_of(setting, *summed.arm_means, std::move(random_run), arms);
  for (BaselineRun& run : baselines.runs) run.curve.clear();

  Evaluation evaluation = describe(setting);
  evaluation.baselines = baseline_figures(setting, baselines, nullptr);
  std::size_t plan = 0;
  for (std::size_t model = 0; model < runs.size(); ++model) {
    ModelRun& run = runs[model];
    run.contrasts.assign(baselines.runs.size(), {});
    for (PlanRun& deployed : run.deployed) {
      reader.judge(plan++, deployed);
      setting.keep_to_facts(deployed.estimate);
      deployed.spread = spread_of(deployed.series, setting.control_series, setting.kind);
      const auto budget = static_cast<std::size_t>(&deployed - run.deployed.data());
      for (std::size_t i = 0; i < baselines.runs.size(); ++i)
        run.contrasts[i].push_back(
            contrast_spread(deployed.series, baselines.runs[i].plans[budget].series, setting.kind));
    }
    evaluation.models.push_back(figures_of(setting, input.models[model], run));
  }
  evaluation.reference = choose_reference(setting, runs, baselines.price);
  evaluation.differences = difference_figures(setting, runs, evaluation.reference);
  judge_plans(setting, runs, baselines, evaluation);
  evaluation.verdict =
      verdict_of(evaluation, {options.words, options.unfit_because, 1, options.is_adjusted, options.not_pre_declared});
  return evaluation;
}

}  // namespace dfcl::evaluate
