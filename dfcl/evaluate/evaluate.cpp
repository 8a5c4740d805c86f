// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/error_makers.h"
#include "dfcl/evaluate/areas/areas.h"
#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/curves/oracle.h"
#include "dfcl/evaluate/curves/plan_figures.h"
#include "dfcl/evaluate/curves/setting.h"
#include "dfcl/evaluate/describe.h"
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
