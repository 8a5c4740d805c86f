// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/plan_figures.h"

#include <algorithm>
#include <cmath>

namespace dfcl::evaluate {
namespace {

// Sums of some millions of rows in float64 are exact to about this share of them.
constexpr double kPrecision = 1e-12;

bool is_incremental(const Setting& setting) { return setting.options.budget_basis == data::BudgetBasis::incremental; }

// A known cost has no interval.
Interval cost_interval(const Setting& setting, double cost, double deviation) {
  return setting.knows_prices() ? Interval(cost) : core::normal_interval(cost, deviation, setting.options.level);
}

// Cuts an interval at what is possible; whether that changed it.
bool cut_below(double least, Interval& interval) {
  const Interval before = interval;
  interval.value = std::max(interval.value, least);
  if (interval.has_ends()) interval = {interval.value, std::max(interval.low, least), std::max(interval.high, least)};
  return interval.value != before.value || (before.has_ends() && interval.low != before.low);
}

void add_note(const char* text, JudgedPlan& figures) {
  figures.note += (figures.note.empty() ? "" : " ") + std::string(text);
}

// What the study states of costs: no unit costs less than nothing; no arm costs less than control.
void keep_to_facts(const Setting& setting, JudgedPlan& figures) {
  const CostLimits& limits = setting.options.cost_limits;
  bool cut = limits.non_negative && cut_below(0.0, figures.cost);
  const bool not_below_control = limits.rises_with_arm || (limits.non_negative && limits.control_is_free);
  cut = (not_below_control && cut_below(0.0, figures.incremental_cost)) || cut;
  if (cut) add_note("The interval of cost ends where [cost] says that costs must.", figures);
}

void set_spend(const Setting& setting, double budget, JudgedPlan& figures) {
  figures.spend_over_budget = (is_incremental(setting) ? figures.incremental_cost : figures.cost).plus(-budget);
  double& over = figures.spend_over_budget.value;
  over = above_rounding(over, figures.cost.value, budget);
}

// A quotient of incremental revenue and cost says how well money was spent only where more was spent.
bool has_return(JudgedPlan& figures) {
  const double cost = figures.incremental_cost.value;
  if (cost > 0.0) return true;
  figures.return_per_cost = Interval();
  if (cost == 0.0) {
    add_note("A return is not defined: the plan costs no more than control.", figures);
  } else if (figures.incremental_revenue.value < 0.0) {
    add_note("A return is not defined: the plan both earns and costs less than control.", figures);
  } else {
    add_note("A return is not defined: the plan costs less than control and earns no less.", figures);
  }
  return false;
}

void set_profit(const Setting& setting, const Interval& profit, JudgedPlan& figures) {
  if (!setting.options.value_per_revenue) return;
  figures.incremental_profit = profit;
  figures.roi = figures.return_per_cost.scaled(*setting.options.value_per_revenue).plus(-1.0);
}

}  // namespace

double above_rounding(double difference, double first, double second) {
  return std::abs(difference) <= kPrecision * (std::abs(first) + std::abs(second)) ? 0.0 : difference;
}

double deviation_of(const PlanSpread& spread, double a, double b) {
  const double variance = a * a * spread.increment * spread.increment + b * b * spread.extra_cost * spread.extra_cost +
                          2.0 * a * b * spread.increment_extra_cost;
  return variance < 0.0 ? 0.0 : std::sqrt(variance);  // NaN stays
}

JudgedPlan plan_figures(const Setting& setting, const PlanRun& run, const Oracle* oracle) {
  const double level = setting.options.level;
  const auto num_rows = static_cast<double>(setting.num_rows());
  const PlanSpread& spread = run.spread;
  JudgedPlan figures;
  figures.budget_per_unit = run.budget_per_unit;
  figures.multiplier = run.cut.multiplier;
  figures.feasible = run.cut.feasible;
  const double increment =
      above_rounding(run.estimate.revenue - setting.control.revenue, run.estimate.revenue, setting.control.revenue);
  const double extra_cost =
      above_rounding(run.estimate.cost - setting.control.cost, run.estimate.cost, setting.control.cost);
  figures.revenue = core::normal_interval(run.estimate.revenue, spread.revenue, level);
  figures.incremental_revenue = core::normal_interval(increment, spread.increment, level);
  figures.cost = cost_interval(setting, run.estimate.cost, spread.cost);
  figures.incremental_cost = cost_interval(setting, extra_cost, spread.extra_cost);
  keep_to_facts(setting, figures);
  set_spend(setting, run.budget_per_unit, figures);
  if (has_return(figures)) {
    figures.return_per_cost =
        core::fieller_interval({increment, extra_cost, spread.increment * spread.increment,
                                spread.extra_cost * spread.extra_cost, spread.increment_extra_cost},
                               core::normal_critical(level));
  }
  const double worth = setting.options.value_per_revenue.value_or(0.0);
  set_profit(setting, core::normal_interval(worth * increment - extra_cost, deviation_of(spread, worth, -1.0), level),
             figures);
  figures.predicted_revenue = run.cut.revenue / num_rows;
  figures.predicted_cost = run.cut.cost / num_rows;
  figures.share_per_arm = run.share_per_arm;
  if (run.hajek) {
    const bool has_ends = setting.options.analytic || setting.resamples();
    const auto shown = [&](const Interval& interval) { return has_ends ? interval : Interval(interval.value); };
    figures.hajek_incremental_revenue = shown(run.hajek->incremental_revenue);
    figures.hajek_incremental_cost = shown(run.hajek->incremental_cost);
  }
  if (run.truth) {
    figures.true_revenue = run.truth->revenue;
    figures.true_cost = run.truth->cost;
    figures.share_of_oracle = oracle->share(run.truth->revenue, run.truth->cost);
  }
  return figures;
}

JudgedPlan matched_figures(const Setting& setting, const PlanRun& run, const Oracle* oracle) {
  JudgedPlan figures = plan_figures(setting, run, oracle);
  figures.hajek_incremental_revenue.reset();
  figures.hajek_incremental_cost.reset();
  const double level = setting.options.level;
  const PlanSeries& series = run.series;
  if (series.revenue.empty()) return figures;
  const Series increment = combine(1.0, series.revenue, -1.0, setting.control_series.revenue);
  const Series extra_cost = combine(1.0, series.cost, -1.0, setting.control_series.cost);
  figures.note.clear();
  figures.revenue = percentile_interval(figures.revenue.value, series.revenue, level);
  figures.incremental_revenue = percentile_interval(figures.incremental_revenue.value, increment, level);
  if (!setting.knows_prices()) {
    figures.cost = percentile_interval(figures.cost.value, series.cost, level);
    figures.incremental_cost = percentile_interval(figures.incremental_cost.value, extra_cost, level);
    keep_to_facts(setting, figures);
    set_spend(setting, run.budget_per_unit, figures);
  }
  if (has_return(figures)) {
    Series returned(increment.size());
    for (std::size_t i = 0; i < returned.size(); ++i) returned[i] = increment[i] / extra_cost[i];
    figures.return_per_cost = percentile_interval(figures.return_per_cost.value, returned, level);
  }
  const double worth = setting.options.value_per_revenue.value_or(0.0);
  set_profit(setting,
             percentile_interval(worth * figures.incremental_revenue.value - figures.incremental_cost.value,
                                 combine(worth, increment, -1.0, extra_cost), level),
             figures);
  return figures;
}

CurvePointFigures curve_figures(const Setting& setting, const PlanRun& run) {
  PlanRun without_truth = {run.budget_per_unit, run.cut,      run.estimate, {}, run.spread,
                           run.share_per_arm,   std::nullopt, {},           {}};
  const JudgedPlan plan = plan_figures(setting, without_truth, nullptr);
  return {plan.budget_per_unit, plan.multiplier,        plan.cost, plan.revenue, plan.incremental_revenue,
          plan.share_per_arm,   plan.incremental_profit};
}

}  // namespace dfcl::evaluate
