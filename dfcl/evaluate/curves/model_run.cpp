// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/model_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/effects/baselines.h"
#include "dfcl/evaluate/effects/segments.h"
#include "dfcl/evaluate/heterogeneity/policy_figures.h"

namespace dfcl::evaluate {
namespace {

// The plans of a model in the order of their steps.
class PlanList {
 public:
  void add(std::vector<PlanRun>& plans) {
    for (PlanRun& plan : plans) plans_.push_back(&plan);
  }
  void finish() {
    std::stable_sort(plans_.begin(), plans_.end(),
                     [](const PlanRun* a, const PlanRun* b) { return a->cut.num_steps < b->cut.num_steps; });
  }
  // With what filling changes in the sums of the estimator.
  std::vector<PathPoint> points(const Rewards& rewards) const {
    std::vector<PathPoint> points;
    for (const PlanRun* plan : plans_) {
      PathPoint& point = points.emplace_back(PathPoint{plan->cut.num_steps, {}});
      for (const FilledRow& row : plan->cut.filled) point.filled.push_back(step_of(rewards, row.row, row.from, row.to));
    }
    return points;
  }
  std::vector<Cut> cuts() const {
    std::vector<Cut> cuts;
    for (const PlanRun* plan : plans_) cuts.push_back(plan->cut);
    return cuts;
  }
  std::size_t size() const { return plans_.size(); }
  PlanRun& operator[](std::size_t index) const { return *plans_[index]; }

 private:
  std::vector<PlanRun*> plans_;
};

std::vector<PlanRun> plans_at(PredictedPath& path, const std::vector<double>& totals, std::size_t num_rows,
                              core::RunContext& context) {
  std::vector<Cut> cuts = cuts_at(path, totals, context);
  std::vector<PlanRun> plans(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    plans[i].budget_per_unit = totals[i] / static_cast<double>(num_rows);
    plans[i].cut = std::move(cuts[i]);
  }
  return plans;
}

std::vector<PlanRun> deployed_plans(const Setting& setting, PredictedPath& path) {
  const auto num_rows = static_cast<double>(setting.num_rows());
  std::vector<double> totals;
  for (const double budget : setting.budgets) {
    totals.push_back(setting.total_budget(budget, path.control_cost / num_rows) * num_rows);
  }
  std::vector<PlanRun> plans = plans_at(path, totals, setting.num_rows(), setting.context);
  for (std::size_t i = 0; i < plans.size(); ++i) plans[i].budget_per_unit = setting.budgets[i];
  return plans;
}

// Evenly spaced from what the cheapest plan spends to where money earns nothing more.
std::vector<double> curve_totals(const PredictedPath& path, std::size_t num_points) {
  if (!(path.most_spend > path.least_spend)) return {path.least_spend};
  std::vector<double> totals;
  for (std::size_t i = 0; i + 1 < num_points; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(num_points - 1);
    totals.push_back(path.least_spend + place * (path.most_spend - path.least_spend));
  }
  totals.push_back(path.most_spend);
  return totals;
}

// What evaluated costs are matched to; nothing where the cost of a plan is known.
std::vector<double> matched_budgets(const Setting& setting) {
  std::vector<double> budgets;
  for (const double budget : setting.budgets) {
    if (!setting.knows_prices()) budgets.push_back(setting.total_budget(budget, setting.control.cost));
  }
  return budgets;
}

void set_estimates(const Setting& setting, const PredictedPath& path, std::span<const PathStep> steps,
                   const PlanList& plans, const std::vector<double>& matched, ModelRun& run) {
  const std::vector<PathPoint> points = plans.points(setting.rewards);
  const PathRequest request{points, matched, path.head.size()};
  const PathFigures figures = path_values(setting.ones, setting.totals, setting.rewards, steps, request);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].estimate = {figures.at_cuts[i].revenue[0], figures.at_cuts[i].cost[0]};
    setting.set_known_cost(plans[i].cut.units, plans[i].estimate);
    setting.keep_to_facts(plans[i].estimate);
  }
  run.matched.resize(matched.size());
  for (std::size_t i = 0; i < run.matched.size(); ++i) {
    PlanRun& plan = run.matched[i];
    plan.budget_per_unit = setting.budgets[i];
    plan.estimate = {figures.matched[i].revenue[0], figures.matched[i].cost[0]};
    plan.cut.num_steps = figures.matched_steps[i];
    plan.cut.feasible = plan.estimate.cost <= matched[i];
    if (plan.cut.num_steps < path.num_steps()) plan.cut.multiplier = path.step(plan.cut.num_steps).efficiency;
  }
}

void set_resamples(const Setting& setting, const PredictedPath& path, std::span<const PathStep> steps,
                   const PlanList& plans, const std::vector<double>& matched, ModelRun& run) {
  const std::size_t num_resamples = setting.num_resamples();
  const auto reserve = [&](std::vector<PlanRun>& some) {
    for (PlanRun& plan : some) plan.series = {Series(num_resamples), Series(num_resamples)};
  };
  reserve(run.deployed);
  reserve(run.curve);
  reserve(run.matched);
  const std::vector<PathPoint> points = plans.points(setting.rewards);
  const PathRequest request{points, matched, path.head.size()};
  setting.for_each_block(
      [&](const ResampleBlock& block, const BlockTotals& totals, std::size_t first, std::size_t count) {
        const PathFigures figures = path_values(block, totals, setting.rewards, steps, request);
        const auto note = [&](PlanRun& plan, const PlanValue& value) {
          std::copy_n(value.revenue.begin(), count, plan.series.revenue.begin() + static_cast<long>(first));
          std::copy_n(value.cost.begin(), count, plan.series.cost.begin() + static_cast<long>(first));
        };
        for (std::size_t i = 0; i < plans.size(); ++i) note(plans[i], figures.at_cuts[i]);
        for (std::size_t i = 0; i < figures.matched.size(); ++i) note(run.matched[i], figures.matched[i]);
      });
  for (std::size_t i = 0; i < plans.size(); ++i) setting.set_known_cost(plans[i].estimate.cost, plans[i].series);
  const auto spread = [&](std::vector<PlanRun>& some) {
    for (PlanRun& plan : some) plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
  };
  spread(run.deployed);
  spread(run.curve);
}

std::vector<double> units_per_arm(std::span<const std::uint8_t> plan, const TrialRows& rows) {
  std::vector<double> units(rows.num_arms());
  for (std::size_t row = 0; row < plan.size(); ++row) units[plan[row]] += rows.sample_weight(row);
  return units;
}

std::vector<double> shares_of(std::span<const double> units, std::size_t num_rows) {
  std::vector<double> shares;
  for (const double count : units) shares.push_back(count / static_cast<double>(num_rows));
  return shares;
}

// The path counts rows; with sample weights they are weighed anew, plan by plan along it.
void weigh_units(const TrialRows& rows, const PredictedPath& path, const PlanList& plans) {
  if (rows.sample.empty()) return;
  std::vector<double> units(rows.num_arms());
  for (const double weight : rows.arm_weight) units[rows.arms.control] += weight;
  const auto move = [&](std::size_t row, std::size_t from, std::size_t to) {
    units[from] -= rows.sample[row];
    units[to] += rows.sample[row];
  };
  std::size_t taken = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Cut& cut = plans[i].cut;
    for (; taken < cut.num_steps; ++taken)
      move(path.step(taken).unit, path.step(taken).arm_from, path.step(taken).arm_to);
    const std::vector<double> before = units;
    for (const FilledRow& row : cut.filled) move(row.row, row.from, row.to);
    cut.units = std::exchange(units, before);
    for (double& count : cut.units) count = std::max(0.0, count);  // sums that come back to zero may miss it
  }
}

PlanList cut_plans_of(const Setting& setting, PredictedPath& path, ModelRun& run) {
  run.deployed = deployed_plans(setting, path);
  run.curve = plans_at(path, curve_totals(path, setting.options.num_curve_points), setting.num_rows(), setting.context);
  if (setting.options.budget_basis == data::BudgetBasis::incremental) {
    const double control = path.control_cost / static_cast<double>(setting.num_rows());
    for (PlanRun& plan : run.curve) plan.budget_per_unit -= control;
  }
  PlanList plans;
  plans.add(run.deployed);
  plans.add(run.curve);
  plans.finish();
  weigh_units(setting.input.rows, path, plans);
  for (std::size_t i = 0; i < plans.size(); ++i)
    plans[i].share_per_arm = shares_of(plans[i].cut.units, setting.num_rows());
  return plans;
}

// Who gets what under one plan, and what needs to know it. series: the plan's, where intervals are analytic.
void describe_plan(const Setting& setting, std::span<const std::uint8_t> arm, const PlanSeries& series, PlanRun& plan) {
  if (setting.options.analytic) {
    PlanSeries own = series;
    setting.set_known_cost(0.0, own);
    plan.spread = spread_of(own, setting.control_series, setting.kind);
  }
  if (setting.input.truth.revenue.rows > 0)
    plan.truth = mean_under(setting.input.truth, arm, setting.input.rows, setting.context);
}

void describe_plans(const Setting& setting, const PredictedPath& path, const JudgedModel& model,
                    const Baselines* baselines, ModelRun& run) {
  const bool analytic = setting.options.analytic;
  const bool looks_at_all = analytic || setting.input.truth.revenue.rows > 0;
  const bool is_model = baselines != nullptr;
  const bool has_trees = is_model && !model.trees.empty();
  PlanList plans;  // whose arms must be known
  if (looks_at_all || !setting.input.segments.empty() || setting.guardrails || (setting.hajek && is_model) || has_trees)
    plans.add(run.deployed);
  if (looks_at_all) plans.add(run.curve);
  plans.add(run.matched);
  plans.finish();
  if (analytic) run.plans.resize(run.deployed.size());
  const auto note_deployed = [&](std::size_t budget, std::span<const std::uint8_t> arm, const PlanSeries& series) {
    add_segments(setting, arm, run.deployed[budget]);
    if (setting.guardrails) run.deployed[budget].guardrails = setting.guardrails->estimates(arm, setting.context);
    if (setting.hajek && is_model) run.deployed[budget].hajek = setting.hajek->figures(arm, setting.context);
    if (has_trees) {
      run.deployed[budget].tree = policy_figures(setting, model, model.trees[setting.budget_order[budget]], arm,
                                                 setting.budgets[budget], baselines->price[budget]);
    }
    if (!analytic) return;
    PlanSeries own = series;
    setting.set_known_cost(0.0, own);
    for (std::size_t i = 0; baselines != nullptr && i < baselines->runs.size(); ++i) {
      run.contrasts[i][budget] =
          contrast_spread(own, baseline_influence(setting, baselines->runs[i], budget), setting.kind);
    }
    run.plans[budget].assign(arm.begin(), arm.end());
  };
  const std::vector<Cut> cuts = plans.cuts();
  for_each_plan(path, setting.num_rows(), setting.input.rows.arms.control, cuts,
                [&](std::size_t index, std::span<const std::uint8_t> arm) {
                  PlanSeries series;
                  if (analytic) series = influence_of(setting.rewards, arm, setting.context);
                  describe_plan(setting, arm, series, plans[index]);
                  for (PlanRun& plan : run.matched) {
                    if (&plan != &plans[index]) continue;
                    plan.share_per_arm = shares_of(units_per_arm(arm, setting.input.rows), setting.num_rows());
                    const PlanEstimate predicted =
                        mean_under(model.prediction, arm, setting.input.rows, setting.context);
                    plan.cut.revenue = predicted.revenue * static_cast<double>(arm.size());
                    plan.cut.cost = predicted.cost * static_cast<double>(arm.size());
                  }
                  for (std::size_t budget = 0; budget < run.deployed.size(); ++budget) {
                    if (&run.deployed[budget] == &plans[index]) note_deployed(budget, arm, series);
                  }
                });
}

}  // namespace

PlanEstimate mean_under(const Outcomes& outcomes, std::span<const std::uint8_t> plan, const TrialRows& rows,
                        core::RunContext& context) {
  const PlanEstimate sums = core::sum_chunks(
      context, plan.size(), 16'384, PlanEstimate{},
      [&](std::size_t begin, std::size_t end) {
        PlanEstimate part;
        for (std::size_t row = begin; row < end; ++row) {
          const double units = rows.sample_weight(row);
          part.revenue += units * static_cast<double>(outcomes.revenue(row, plan[row]));
          part.cost += units * static_cast<double>(outcomes.cost(row, plan[row]));
        }
        return part;
      },
      [](PlanEstimate& total, const PlanEstimate& part) {
        total.revenue += part.revenue;
        total.cost += part.cost;
      });
  const auto count = static_cast<double>(plan.size());
  return {sums.revenue / count, sums.cost / count};
}

PlanSeries influence_for(const Setting& setting, std::span<const std::uint8_t> arm) {
  PlanSeries series = influence_of(setting.rewards, arm, setting.context);
  setting.set_known_cost(0.0, series);
  return series;
}

double ContrastSpread::deviation(double a, double b) const {
  const double variance = a * a * revenue + b * b * cost + 2.0 * a * b * covariance;
  return variance < 0.0 ? 0.0 : std::sqrt(variance);  // NaN stays
}

ContrastSpread contrast_spread(const PlanSeries& plan, const PlanSeries& other, SeriesKind kind) {
  const Series revenue = combine(1.0, plan.revenue, -1.0, other.revenue);
  const Series cost = combine(1.0, plan.cost, -1.0, other.cost);
  return {covariance(revenue, revenue, kind), covariance(cost, cost, kind), covariance(revenue, cost, kind)};
}

PlanSpread spread_of(const PlanSeries& plan, const PlanSeries& control, SeriesKind kind) {
  const Series increment = combine(1.0, plan.revenue, -1.0, control.revenue);
  const Series extra_cost = combine(1.0, plan.cost, -1.0, control.cost);
  return {standard_deviation(plan.revenue, kind), standard_deviation(plan.cost, kind),
          standard_deviation(increment, kind), standard_deviation(extra_cost, kind),
          covariance(increment, extra_cost, kind)};
}

void cut_plans(const Setting& setting, PredictedPath& path, ModelRun& run) { cut_plans_of(setting, path, run); }

ModelRun run_model(const Setting& setting, const JudgedModel& model, const Baselines* baselines) {
  ModelRun run;
  const bool is_baseline = baselines == nullptr;
  const JudgedProblem judged = setting.problem_of(model.prediction, model.price, model.keys);
  PredictedPath path = path_of(judged.problem, setting.context);
  PlanList plans = cut_plans_of(setting, path, run);
  {
    const std::vector<double> matched = is_baseline ? std::vector<double>() : matched_budgets(setting);
    const PathSteps steps = steps_of(path, setting.rewards, setting.context);
    set_estimates(setting, path, steps, plans, matched, run);
    if (setting.kind == SeriesKind::resamples) set_resamples(setting, path, steps, plans, matched, run);
  }
  if (baselines != nullptr)
    run.contrasts.assign(baselines->runs.size(), std::vector<ContrastSpread>(setting.budgets.size()));
  describe_plans(setting, path, model, baselines, run);
  if (!is_baseline && setting.knows_prices()) run.matched = run.deployed;  // no outcome can tell more about the spend
  for (std::size_t i = 0; setting.kind == SeriesKind::resamples && i < run.contrasts.size(); ++i) {
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      run.contrasts[i][budget] =
          contrast_spread(run.deployed[budget].series, baselines->runs[i].plans[budget].series, setting.kind);
    }
  }
  return run;
}

}  // namespace dfcl::evaluate
