// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/error_makers.h"
#include "dfcl/evaluate/areas/areas.h"
#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/curves/oracle.h"
#include "dfcl/evaluate/curves/plan_figures.h"
#include "dfcl/evaluate/curves/setting.h"
#include "dfcl/evaluate/effects/baseline_figures.h"
#include "dfcl/evaluate/effects/differences.h"
#include "dfcl/evaluate/effects/segments.h"
#include "dfcl/evaluate/heterogeneity/deciles.h"
#include "dfcl/evaluate/heterogeneity/segment_effects.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {
namespace {

void check_options(const EvaluationInput& input, const EvaluationOptions& options) {
  if (input.models.empty()) throw core::usage_error("", "nothing to evaluate", "no model", "one or more");
  if (options.budgets_per_unit.empty()) throw core::usage_error("", "no budget", "", "one or more");
  for (const double budget : options.budgets_per_unit) {
    if (!std::isfinite(budget))
      throw core::usage_error("", "a budget that is no number", fmt::format("{}", budget), "");
  }
  if (options.num_levels < 2) {
    throw core::usage_error("levels", "too few levels", fmt::format("{}", options.num_levels), "2 or more");
  }
  if (options.estimator == Estimator::doubly_robust && input.nuisance.revenue.rows != input.rows.size()) {
    throw core::usage_error("", "the doubly robust estimator needs a prediction of outcomes for every row", "",
                            "a nuisance");
  }
}

FitFigures fit_figures(const Setting& setting, const JudgedModel& model) {
  const TrialRows& rows = setting.input.rows;
  const double level = setting.options.level;
  const std::vector<double> revenue = factual(model.prediction.revenue, rows);
  const std::vector<double> cost = factual(model.prediction.cost, rows);
  return {outcome_fit(revenue, rows.revenue, setting.context, rows.sample),
          outcome_fit(cost, rows.cost, setting.context, rows.sample),
          calibration(revenue, rows.revenue, rows, level, setting.context),
          // A known price is a fact: there is nothing to calibrate.
          setting.knows_prices() ? std::vector<CalibrationGroup>{}
                                 : calibration(cost, rows.cost, rows, level, setting.context)};
}

ModelFigures model_figures(const Setting& setting, const JudgedModel& model, const ModelRun& run,
                           const std::vector<ArmAreas>& areas, const Oracle* oracle) {
  ModelFigures figures;
  figures.name = model.name;
  figures.method = model.method;
  figures.is_index = model.is_index;
  figures.importance = model.importance;
  figures.is_alternative = model.is_alternative;
  figures.deployed.resize(run.deployed.size());
  figures.matched.resize(run.matched.size());
  for (std::size_t i = 0; i < run.deployed.size(); ++i) {
    figures.deployed[setting.budget_order[i]] = plan_figures(setting, run.deployed[i], oracle);
    figures.matched[setting.budget_order[i]] = matched_figures(setting, run.matched[i], oracle);
  }
  for (const PlanRun& plan : run.curve) figures.curve.push_back(curve_figures(setting, plan));
  for (const ArmAreas& arm : areas) {
    figures.aucc.push_back(aucc_figures(setting, arm));
    figures.qini.push_back(qini_figures(setting, arm));
  }
  if (!model.is_index) figures.fit = fit_figures(setting, model);
  figures.segments = segment_figures(setting, run.deployed);
  if (setting.options.heterogeneity) figures.uplift = uplift_figures(setting, model, run, areas);
  if (!model.trees.empty()) figures.policy_trees.resize(run.deployed.size());
  for (std::size_t i = 0; i < figures.policy_trees.size(); ++i)
    figures.policy_trees[setting.budget_order[i]] = *run.deployed[i].tree;
  return figures;
}

std::vector<std::string> how_it_was_made(const Setting& setting) {
  const EvaluationOptions& options = setting.options;
  const TrialRows& rows = setting.input.rows;
  std::vector<std::string> how;
  how.push_back(fmt::format("Revenue and cost of a plan are estimated from {} units of a randomised trial ({}).",
                            rows.size(), to_text(options.estimator)));
  how.push_back(options.is_adjusted
                    ? "The features are a little imbalanced between the arms: each unit is weighted by the inverse of "
                      "its estimated propensity. Intervals carry that it is estimated: they come from what the "
                      "scores of the propensity model leave of influence functions."
                : rows.has_propensity ? "Each unit is weighted by the inverse of its propensity."
                                      : "Each unit is weighted by the inverse of its arm's share.");
  if (!rows.sample.empty()) {
    double squares = 0.0;
    for (const double weight : rows.sample) squares += weight * weight;
    how.push_back(
        fmt::format("Every figure counts rows by their sample weights; these {} rows carry as much as {:.0f} rows of "
                    "equal weight.",
                    rows.size(), static_cast<double>(rows.size() * rows.size()) / squares));
  }
  if (options.estimator == Estimator::doubly_robust) {
    how.push_back(fmt::format("The same prediction of outcomes serves the estimates of all models (the nuisance): {}.",
                              setting.input.nuisance_name));
    how.push_back(
        "Hajek's estimates stand beside: they use no such prediction. Their intervals come from influence "
        "functions.");
  }
  if (options.analytic) {
    how.push_back("Intervals of plans come from influence functions; areas have none.");
  } else if (setting.resamples()) {
    how.push_back(fmt::format("Intervals come from {} resamples ({} weights) by {}{}, the same for all models.",
                              options.num_resamples, options.weights == Weights::poisson ? "Poisson" : "multinomial",
                              rows.cluster.empty() ? "unit" : "cluster",
                              rows.has_propensity ? "" : ", within each arm"));
  }
  if (setting.guardrails)
    how.push_back(
        "Guardrails are further outcomes of which more is worse: estimated like revenue, over control, with intervals "
        "from influence functions that hold for all guardrails, plans and baselines at once.");
  const CostLimits& limits = options.cost_limits;
  if (limits.control_is_free || limits.non_negative || limits.rises_with_arm)
    how.push_back("Intervals of cost keep to what [cost] states.");
  if (setting.knows_prices()) {
    how.push_back("Each arm has a known price, so the cost of a plan is a fact: it has no interval.");
  } else if (!rows.rates().empty()) {
    how.push_back("Each arm costs a known share of its revenue, so cost is that share of the estimated revenue.");
  }
  how.push_back("Deployed plans are made from predictions alone and held fixed; over- and underspending are shown.");
  const allocate::Rules& rules = setting.input.rules;
  if (rules.objective == allocate::Objective::profit)
    how.push_back(fmt::format("Plans make profit large, {} x revenue - cost.", rules.margin));
  if (rules.min_roi > 0.0)
    how.push_back(
        fmt::format("Plans take no step that is predicted to earn less than {} revenue per cost.", rules.min_roi));
  if (setting.input.eligible.rows > 0)
    how.push_back(
        "Plans give units only arms that they may get, at random too; one arm for everyone looks at no limit.");
  how.push_back(
      "Matched plans are cut where the evaluated cost first crosses the budget. They look at the outcomes they "
      "are judged by: their ranges over resamples claim no coverage.");
  how.push_back(fmt::format(
      "Random spends the same budget on units drawn at random, {}, on the arms whose mean effects, {}, return most. "
      "Differences from it and other baselines charge the difference in spend at what one more unit of cost "
      "would earn at random{}.",
      setting.input.eligible.rows > 0 ? "once, by a hash of their id" : "on average over all draws",
      !setting.input.arm_means || !setting.input.arm_means->from_other_rows ? "on these same rows, which flatters it"
                                                                            : "on the rows that are not evaluated",
      options.value_per_revenue ? ", at least at what it must earn to pay back" : ""));
  how.push_back(
      "What the verdict says holds at once over all models that may be launched, all budgets and all baselines.");
  how.push_back("Intervals are for these models on new units; variation between training runs is another thing.");
  if (options.heterogeneity) {
    how.push_back(fmt::format(
        "Effects by decile and segment are means of {} scores of the rows; their intervals, and those of policy trees, "
        "come from influence functions. Effects by segment hold at once over all segments and arms; segments with "
        "fewer "
        "than {} units of an arm or of control say nothing of it.",
        options.estimator == Estimator::doubly_robust ? "doubly robust" : "inverse-propensity", kLeastSegmentUnits));
  }
  if (!setting.input.no_trees_because.empty())
    how.push_back(fmt::format("No policy trees and no segments found by a tree: {}.", setting.input.no_trees_because));
  if (rows.size() > 0 && setting.input.truth.revenue.rows > 0) {
    how.push_back("The share of the oracle is at the plan's own true spend.");
  }
  return how;
}

Evaluation describe(const Setting& setting) {
  Evaluation evaluation;
  const TrialRows& rows = setting.input.rows;
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    evaluation.arms.push_back({rows.arms.labels[arm], arm == rows.arms.control, rows.arm_units[arm]});
  }
  evaluation.num_units = rows.size();
  evaluation.num_clusters = rows.num_clusters;
  evaluation.estimator = to_text(setting.options.estimator);
  evaluation.nuisance = setting.options.estimator == Estimator::doubly_robust ? setting.input.nuisance_name : "none";
  evaluation.intervals = setting.options.analytic ? "analytic" : "bootstrap";
  evaluation.num_resamples = setting.num_resamples();
  evaluation.level = setting.options.level;
  evaluation.budgets_per_unit = setting.options.budgets_per_unit;
  evaluation.budget_basis = data::to_text(setting.options.budget_basis);
  evaluation.cost_is_known = setting.knows_prices();
  evaluation.value_per_revenue = setting.options.value_per_revenue;
  const double level = setting.options.level;
  const auto interval = [&](double value, const Series& series) {
    return core::normal_interval(value, series.empty() ? std::nan("") : standard_deviation(series, setting.kind),
                                 level);
  };
  evaluation.control_revenue = interval(setting.control.revenue, setting.control_series.revenue);
  evaluation.control_cost = setting.knows_prices() ? Interval(setting.control.cost)
                                                   : interval(setting.control.cost, setting.control_series.cost);
  evaluation.how = how_it_was_made(setting);
  return evaluation;
}

}  // namespace

Evaluation evaluate(const EvaluationInput& input, const EvaluationOptions& options, core::RunContext& context) {
  check_options(input, options);
  const Setting setting(input, options, context);
  Evaluation evaluation = describe(setting);
  std::optional<Oracle> oracle;
  if (input.truth.revenue.rows > 0) {
    const JudgedProblem truth = setting.problem_of(input.truth);
    oracle.emplace(truth.problem, context);
    evaluation.oracle = oracle->figures(options.num_curve_points, options.budgets_per_unit, options.budget_basis);
  }
  Baselines baselines = run_baselines(setting);
  evaluation.baselines = baseline_figures(setting, baselines, oracle ? &*oracle : nullptr);
  for (BaselineRun& run : baselines.runs) run.curve.clear();
  std::vector<ModelRun> runs;
  std::vector<std::vector<ArmAreas>> areas;
  runs.reserve(input.models.size());
  for (const JudgedModel& model : input.models) {
    runs.push_back(run_model(setting, model, &baselines));
    areas.push_back(areas_of(setting, model));
    evaluation.models.push_back(model_figures(setting, model, runs.back(), areas.back(), oracle ? &*oracle : nullptr));
    runs.back().curve.clear();
  }
  evaluation.reference = choose_reference(setting, runs, baselines.price);
  evaluation.differences = difference_figures(setting, runs, evaluation.reference);
  evaluation.aucc_differences = aucc_differences(setting, areas, evaluation.reference);
  if (options.heterogeneity) evaluation.effects = segment_effects(setting);
  judge_plans(setting, runs, baselines, evaluation);
  evaluation.verdict =
      verdict_of(evaluation, {options.words, options.unfit_because, 1, options.is_adjusted, options.not_pre_declared});
  return evaluation;
}

}  // namespace dfcl::evaluate
