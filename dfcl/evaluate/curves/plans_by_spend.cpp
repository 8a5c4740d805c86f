// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/plans_by_spend.h"

#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/curves/plan_figures.h"

namespace dfcl::evaluate {
namespace {

// Per unit above control; rising as the squares of whole numbers do.
std::vector<double> spends_of(const allocate::Problem& problem, double control_cost, std::size_t num_plans,
                              core::RunContext& context) {
  const allocate::SpendRange range = allocate::spend_range(problem, context);
  const auto num_rows = static_cast<double>(problem.num_units());
  const double least = range.least / num_rows - control_cost, most = range.most / num_rows - control_cost;
  std::vector<double> spends;
  for (std::size_t i = 0; i + 1 < num_plans; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(num_plans - 1);
    spends.push_back(least + place * place * (most - least));
  }
  spends.push_back(most);
  return spends;
}

}  // namespace

std::vector<data::EvaluatedPlan> plans_by_spend(const TrialRows& rows, const JudgedModel& model,
                                                const Outcomes& nuisance, const CostLimits& limits,
                                                std::size_t num_plans, core::RunContext& context) {
  const EvaluationInput input{.rows = rows, .models = {model}, .nuisance = nuisance};
  EvaluationOptions options;
  options.estimator = nuisance.revenue.rows > 0 ? Estimator::doubly_robust : Estimator::hajek;
  options.budget_basis = data::BudgetBasis::incremental;
  options.num_resamples = 0;
  options.analytic = true;
  options.num_curve_points = 1;
  options.cost_limits = limits;
  const std::vector<std::uint8_t> in_control(rows.size(), static_cast<std::uint8_t>(rows.arms.control));
  PlanEstimate control = mean_under(model.prediction, in_control, rows, context);
  if (!model.price.empty()) control.cost = model.price[rows.arms.control];
  const JudgedProblem judged = Setting(input, options, context).problem_of(model.prediction, model.price);
  options.budgets_per_unit = spends_of(judged.problem, control.cost, num_plans, context);
  const Setting setting(input, options, context);
  const ModelRun run = run_model(setting, input.models.front(), nullptr);
  std::vector<data::EvaluatedPlan> plans;
  for (const PlanRun& plan : run.deployed) {
    const JudgedPlan figures = plan_figures(setting, plan, nullptr);
    const data::EvaluatedPlan point{
        above_rounding(figures.predicted_cost - control.cost, figures.predicted_cost, control.cost),
        above_rounding(figures.predicted_revenue - control.revenue, figures.predicted_revenue, control.revenue),
        figures.incremental_revenue.value,
        plan.spread.increment,
        figures.incremental_cost.value,
        plan.spread.extra_cost,
        plan.spread.increment_extra_cost};
    if (plans.empty() || point.spend > plans.back().spend) plans.push_back(point);
  }
  return plans;
}

}  // namespace dfcl::evaluate
