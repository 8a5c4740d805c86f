// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/effects/baseline_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/evaluate/curves/plan_figures.h"
#include "dfcl/evaluate/effects/differences.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {
namespace {

// A figure and how it spreads.
struct Spread {
  double value = 0.0;
  double deviation = 0.0;
  Series series;  // by resampling only
};

// Below the precision of the sums a figure and its spread are zero.
Spread rounded(double value, double deviation, Series series, double scale) {
  return {above_rounding(value, scale, 0.0), above_rounding(deviation, scale, 0.0), std::move(series)};
}

// a x revenue + b x cost of a plan less another, in the resamples.
Series weighted_difference(const PlanSeries& plan, const PlanSeries& other, double a, double b) {
  Series result(plan.revenue.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = a * (plan.revenue[i] - other.revenue[i]) + b * (plan.cost[i] - other.cost[i]);
  return result;
}

// a x incremental revenue + b x incremental cost.
Spread over_control(const Setting& setting, const PlanRun& plan, double a, double b) {
  const double value =
      a * (plan.estimate.revenue - setting.control.revenue) + b * (plan.estimate.cost - setting.control.cost);
  const double scale = std::abs(a * plan.estimate.revenue) + std::abs(b * plan.estimate.cost);
  return rounded(value, deviation_of(plan.spread, a, b), weighted_difference(plan.series, setting.control_series, a, b),
                 scale);
}

Spread over_baseline(const PlanRun& plan, const PlanRun& other, const ContrastSpread& spread, double a, double b) {
  const double value =
      a * (plan.estimate.revenue - other.estimate.revenue) + b * (plan.estimate.cost - other.estimate.cost);
  const double scale = std::abs(a * plan.estimate.revenue) + std::abs(b * plan.estimate.cost);
  return rounded(value, spread.deviation(a, b), weighted_difference(plan.series, other.series, a, b), scale);
}

// All that is said at once of some models.
class Said {
 public:
  explicit Said(const Setting& setting) : setting_(setting) {}

  void add(Spread spread) { spreads_.push_back(std::move(spread)); }
  void add_plan(const PlanRun& plan) {
    add(over_control(setting_, plan, 1.0, 0.0));
    if (setting_.options.value_per_revenue)
      add(over_control(setting_, plan, *setting_.options.value_per_revenue, -1.0));
  }
  double critical() const {
    std::vector<double> values;
    std::vector<double> deviations;
    std::vector<std::span<const double>> series;
    for (const Spread& spread : spreads_) {
      values.push_back(spread.value);
      deviations.push_back(spread.deviation);
      series.emplace_back(spread.series);
    }
    return critical_of(setting_, values, deviations, series);
  }

 private:
  const Setting& setting_;
  std::vector<Spread> spreads_;
};

double family_critical(const Setting& setting, const std::vector<ModelRun>& runs, const Baselines& baselines,
                       Family family) {
  Said said(setting);
  for (const BaselineRun& baseline : baselines.runs) {
    for (const PlanRun& plan : baseline.plans) said.add_plan(plan);
  }
  for (std::size_t model = 0; model < runs.size(); ++model) {
    if (!counts_in(setting, model, family)) continue;
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      const PlanRun& plan = runs[model].deployed[budget];
      said.add_plan(plan);
      for (std::size_t i = 0; i < baselines.runs.size(); ++i) {
        said.add(over_baseline(plan, baselines.runs[i].plans[budget], runs[model].contrasts[i][budget], 1.0,
                               -baselines.price[budget]));
      }
    }
  }
  return said.critical();
}

Interval at_once(const Spread& spread, double critical) {
  return {spread.value, spread.value - critical * spread.deviation, spread.value + critical * spread.deviation};
}

// Over everything that is said of guardrails at once: all plans of a family and all baselines.
double guardrail_critical(const Setting& setting, const std::vector<ModelRun>& runs, const Baselines& baselines,
                          Family family) {
  std::size_t count = 0;
  const auto add = [&](const PlanRun& plan) {
    for (const GuardrailEstimate& one : plan.guardrails) count += one.deviation > 0.0 ? 1 : 0;
  };
  for (const BaselineRun& baseline : baselines.runs) std::for_each(baseline.plans.begin(), baseline.plans.end(), add);
  for (std::size_t model = 0; model < runs.size(); ++model) {
    if (counts_in(setting, model, family)) std::for_each(runs[model].deployed.begin(), runs[model].deployed.end(), add);
  }
  return bonferroni_critical(count, setting.options.level);
}

// The ends that hold at once: of money, and of guardrails.
struct Criticals {
  double money = 0.0;
  double guardrails = 0.0;
};

Criticals criticals_of(const Setting& setting, const std::vector<ModelRun>& runs, const Baselines& baselines,
                       Family family) {
  return {family_critical(setting, runs, baselines, family), guardrail_critical(setting, runs, baselines, family)};
}

void answer_plan(const Setting& setting, const PlanRun& run, const Criticals& criticals, JudgedPlan& figures) {
  const double critical = criticals.money;
  if (setting.guardrails)
    figures.guardrails =
        setting.guardrails->figures(run.guardrails, criticals.guardrails, setting.options.level, setting.options.words);
  figures.simultaneous_increment = at_once(over_control(setting, run, 1.0, 0.0), critical);
  if (setting.options.value_per_revenue) {
    figures.simultaneous_profit =
        at_once(over_control(setting, run, *setting.options.value_per_revenue, -1.0), critical);
  }
  figures.pays_back = pays_back_of(figures);
}

BaselineDifferenceFigures difference_from(const Setting& setting, const PlanRun& plan, const BaselineRun& baseline,
                                          const ContrastSpread& spread, std::size_t budget, double price,
                                          double critical) {
  const double level = setting.options.level;
  const PlanRun& other = baseline.plans[budget];
  const auto interval = [&](double a, double b) {
    const Spread both = over_baseline(plan, other, spread, a, b);
    return core::normal_interval(both.value, both.deviation, level);
  };
  BaselineDifferenceFigures figures;
  figures.baseline = baseline.kind;
  figures.budget_per_unit = setting.budgets[budget];
  figures.price = price;
  figures.net = interval(1.0, -price);
  const Interval all = at_once(over_baseline(plan, other, spread, 1.0, -price), critical);
  figures.simultaneous_low = all.low;
  figures.simultaneous_high = all.high;
  figures.revenue = interval(1.0, 0.0);
  figures.cost = setting.knows_prices() ? Interval(interval(0.0, 1.0).value) : interval(0.0, 1.0);
  figures.plan_cost = plan.estimate.cost;
  figures.baseline_cost = other.estimate.cost;
  if (setting.options.value_per_revenue) figures.profit = interval(*setting.options.value_per_revenue, -1.0);
  figures.answer = answer_of(all.low, all.high);
  return figures;
}

void add_differences(const Setting& setting, const ModelRun& run, const Baselines& baselines, const std::string& name,
                     double critical, std::vector<BaselineDifferenceFigures>& all) {
  for (std::size_t i = 0; i < baselines.runs.size(); ++i) {
    const BaselineRun& baseline = baselines.runs[i];
    std::vector<BaselineDifferenceFigures> of_baseline(setting.budgets.size());
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      BaselineDifferenceFigures& figures = of_baseline[setting.budget_order[budget]];
      figures = difference_from(setting, run.deployed[budget], baseline, run.contrasts[i][budget], budget,
                                baselines.price[budget], critical);
      figures.model = name;
      figures.sentence = difference_sentence(figures, baseline.kind == "random" ? "random" : baseline.names[budget],
                                             setting.options.level, setting.options.words);
    }
    all.insert(all.end(), of_baseline.begin(), of_baseline.end());
  }
}

}  // namespace

std::vector<BaselineFigures> baseline_figures(const Setting& setting, const Baselines& baselines,
                                              const Oracle* oracle) {
  std::vector<BaselineFigures> all;
  for (const BaselineRun& run : baselines.runs) {
    BaselineFigures figures{
        run.kind, std::vector<std::string>(run.plans.size()), std::vector<JudgedPlan>(run.plans.size()), {}};
    for (std::size_t budget = 0; budget < run.plans.size(); ++budget) {
      figures.names[setting.budget_order[budget]] = run.names[budget];
      figures.plans[setting.budget_order[budget]] = plan_figures(setting, run.plans[budget], oracle);
    }
    for (const PlanRun& plan : run.curve) figures.curve.push_back(curve_figures(setting, plan));
    all.push_back(std::move(figures));
  }
  return all;
}

void judge_plans(const Setting& setting, const std::vector<ModelRun>& runs, const Baselines& baselines,
                 Evaluation& evaluation) {
  const Criticals of_launchable = criticals_of(setting, runs, baselines, Family::launchable);
  const Criticals of_all = criticals_of(setting, runs, baselines, Family::all);
  for (BaselineFigures& baseline : evaluation.baselines) {
    const std::size_t index = static_cast<std::size_t>(&baseline - evaluation.baselines.data());
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      answer_plan(setting, baselines.runs[index].plans[budget], of_launchable,
                  baseline.plans[setting.budget_order[budget]]);
    }
  }
  for (std::size_t model = 0; model < runs.size(); ++model) {
    const Criticals& critical = counts_in(setting, model, Family::launchable) ? of_launchable : of_all;
    for (std::size_t budget = 0; budget < setting.budgets.size(); ++budget) {
      answer_plan(setting, runs[model].deployed[budget], critical,
                  evaluation.models[model].deployed[setting.budget_order[budget]]);
    }
    add_differences(setting, runs[model], baselines, evaluation.models[model].name, critical.money,
                    evaluation.baseline_differences);
  }
}

}  // namespace dfcl::evaluate
