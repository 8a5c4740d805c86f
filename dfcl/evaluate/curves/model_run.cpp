// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/curves/model_run.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/effects/segments.h"

namespace dfcl::evaluate {
namespace {

// All cuts of a model, rising and without repetition, and the plans at each.
class CutList {
 public:
  void add(std::vector<PlanRun>& plans) {
    for (PlanRun& plan : plans) plans_.push_back(&plan);
  }
  void finish() {
    std::stable_sort(plans_.begin(), plans_.end(),
                     [](const PlanRun* a, const PlanRun* b) { return a->cut.num_steps < b->cut.num_steps; });
    for (const PlanRun* plan : plans_) {
      if (steps_.empty() || steps_.back() != plan->cut.num_steps) steps_.push_back(plan->cut.num_steps);
    }
  }
  std::span<const std::size_t> steps() const { return steps_; }
  // Calls body(index of the cut, plan).
  template <class Body>
  void for_each(Body&& body) const {
    std::size_t index = 0;
    for (PlanRun* plan : plans_) {
      while (steps_[index] != plan->cut.num_steps) ++index;
      body(index, *plan);
    }
  }

 private:
  std::vector<PlanRun*> plans_;
  std::vector<std::size_t> steps_;
};

std::vector<PlanRun> plans_at(const PredictedPath& path, const std::vector<double>& budgets, std::size_t num_rows) {
  std::vector<double> totals;
  for (const double budget : budgets) totals.push_back(budget * static_cast<double>(num_rows));
  const std::vector<Cut> cuts = cuts_at(path, totals);
  std::vector<PlanRun> plans(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    plans[i].budget_per_unit = budgets[i];
    plans[i].cut = cuts[i];
  }
  return plans;
}

// Evenly spaced from what the cheapest plan spends to where money earns nothing more.
std::vector<double> curve_budgets(const PredictedPath& path, std::size_t num_points, std::size_t num_rows) {
  const SpendEnds ends = spend_ends(path);
  const auto rows = static_cast<double>(num_rows);
  if (!(ends.most > ends.least)) return {ends.least / rows};
  std::vector<double> budgets;
  for (std::size_t i = 0; i + 1 < num_points; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(num_points - 1);
    budgets.push_back((ends.least + place * (ends.most - ends.least)) / rows);
  }
  budgets.push_back(ends.most / rows * (1.0 + 1e-12));  // the end itself, whatever rounding does
  return budgets;
}

void set_estimates(const Setting& setting, const PredictedPath& path, std::span<const PathStep> steps,
                   const CutList& cuts, ModelRun& run) {
  const PathRequest request{cuts.steps(), setting.budgets, path.head.size()};
  const PathFigures figures = path_values(setting.ones, setting.totals, setting.rewards, steps, request);
  cuts.for_each([&](std::size_t index, PlanRun& plan) {
    plan.estimate = {figures.at_cuts[index].revenue[0], figures.at_cuts[index].cost[0]};
  });
  run.matched.resize(setting.budgets.size());
  for (std::size_t i = 0; i < run.matched.size(); ++i) {
    PlanRun& plan = run.matched[i];
    plan.budget_per_unit = setting.budgets[i];
    plan.estimate = {figures.matched[i].revenue[0], figures.matched[i].cost[0]};
    plan.cut.num_steps = figures.matched_steps[i];
    plan.cut.feasible = plan.estimate.cost <= setting.budgets[i];
    if (plan.cut.num_steps < path.num_steps()) plan.cut.multiplier = path.step(plan.cut.num_steps).efficiency;
  }
}

void set_resamples(const Setting& setting, const PredictedPath& path, std::span<const PathStep> steps,
                   const CutList& cuts, ModelRun& run) {
  const std::size_t num_resamples = setting.num_resamples();
  const auto reserve = [&](std::vector<PlanRun>& plans) {
    for (PlanRun& plan : plans) plan.series = {Series(num_resamples), Series(num_resamples)};
  };
  reserve(run.deployed);
  reserve(run.curve);
  reserve(run.matched);
  const PathRequest request{cuts.steps(), setting.budgets, path.head.size()};
  setting.for_each_block(
      [&](const ResampleBlock& block, const BlockTotals& totals, std::size_t first, std::size_t count) {
        const PathFigures figures = path_values(block, totals, setting.rewards, steps, request);
        const auto note = [&](PlanRun& plan, const PlanValue& value) {
          std::copy_n(value.revenue.begin(), count, plan.series.revenue.begin() + static_cast<long>(first));
          std::copy_n(value.cost.begin(), count, plan.series.cost.begin() + static_cast<long>(first));
        };
        cuts.for_each([&](std::size_t index, PlanRun& plan) { note(plan, figures.at_cuts[index]); });
        for (std::size_t i = 0; i < run.matched.size(); ++i) note(run.matched[i], figures.matched[i]);
      });
  const auto spread = [&](std::vector<PlanRun>& plans) {
    for (PlanRun& plan : plans) plan.spread = spread_of(plan.series, setting.control_series, setting.kind);
  };
  spread(run.deployed);
  spread(run.curve);
}

PlanEstimate mean_under(const Outcomes& outcomes, std::span<const std::uint8_t> plan, core::RunContext& context) {
  const PlanEstimate sums = core::sum_chunks(
      context, plan.size(), 16'384, PlanEstimate{},
      [&](std::size_t begin, std::size_t end) {
        PlanEstimate part;
        for (std::size_t row = begin; row < end; ++row) {
          part.revenue += static_cast<double>(outcomes.revenue(row, plan[row]));
          part.cost += static_cast<double>(outcomes.cost(row, plan[row]));
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

std::vector<double> shares_of(std::span<const std::uint8_t> plan, std::size_t num_arms) {
  std::vector<std::size_t> counts(256);
  for (const std::uint8_t arm : plan) ++counts[arm];
  std::vector<double> shares;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    shares.push_back(static_cast<double>(counts[arm]) / static_cast<double>(plan.size()));
  }
  return shares;
}

DifferenceSpread difference_spread(const PlanSeries& model, const PlanSeries& reference, const PlanEstimate& value,
                                   const PlanEstimate& reference_value, SeriesKind kind) {
  DifferenceSpread spread;
  spread.revenue_series = combine(1.0, model.revenue, -1.0, reference.revenue);
  spread.revenue = standard_deviation(spread.revenue_series, kind);
  spread.cost = standard_deviation(combine(1.0, model.cost, -1.0, reference.cost), kind);
  // Delta method: d (m / r) = (dm - (m / r) dr) / r.
  const double quotient = value.revenue / reference_value.revenue;
  spread.relative = standard_deviation(combine(1.0, model.revenue, -quotient, reference.revenue), kind) /
                    std::abs(reference_value.revenue);
  if (kind == SeriesKind::influence) spread.revenue_series = {};
  return spread;
}

// Who gets what under every plan, and what needs to know it.
void evaluate_plans(const Setting& setting, const PredictedPath& path, const Candidate& model, const ModelRun* reference,
                   ModelRun& run) {
  const std::size_t num_arms = setting.input.rows.num_arms();
  CutList plans;
  plans.add(run.deployed);
  plans.add(run.curve);
  plans.add(run.matched);
  plans.finish();
  std::vector<Cut> cuts;
  for (const std::size_t steps : plans.steps()) cuts.push_back({steps, 0.0, 0.0, 0.0, true});
  std::vector<std::vector<PlanRun*>> of_cut(cuts.size());
  plans.for_each([&](std::size_t index, PlanRun& plan) { of_cut[index].push_back(&plan); });
  const auto is_in = [](const std::vector<PlanRun>& list, const PlanRun* plan) {
    return !list.empty() && plan >= list.data() && plan < list.data() + list.size();
  };
  if (setting.options.analytic) {
    run.plans.resize(run.deployed.size());
    if (reference != nullptr) run.differences.resize(run.deployed.size());
  }
  for_each_plan(path, setting.num_rows(), setting.input.rows.arms.control, cuts,
                [&](std::size_t index, std::span<const std::uint8_t> arm) {
                  PlanSeries series;
                  if (setting.options.analytic) series = influence_of(setting.rewards, arm, setting.context);
                  for (PlanRun* plan : of_cut[index]) {
                    plan->share_per_arm = shares_of(arm, num_arms);
                    if (setting.options.analytic)
                      plan->spread = spread_of(series, setting.control_series, setting.kind);
                    if (setting.input.truth.revenue.rows > 0)
                      plan->truth = mean_under(setting.input.truth, arm, setting.context);
                    if (is_in(run.matched, plan)) {
                      const PlanEstimate predicted = mean_under(model.prediction, arm, setting.context);
                      plan->cut.revenue = predicted.revenue * static_cast<double>(arm.size());
                      plan->cut.cost = predicted.cost * static_cast<double>(arm.size());
                    }
                    if (!is_in(run.deployed, plan)) continue;
                    look_at_segments(setting, arm, *plan);
                    if (!setting.options.analytic) continue;
                    const auto budget = static_cast<std::size_t>(plan - run.deployed.data());
                    if (reference == nullptr) {
                      run.plans[budget].assign(arm.begin(), arm.end());
                      continue;
                    }
                    const PlanSeries other = influence_of(setting.rewards, reference->plans[budget], setting.context);
                    run.differences[budget] = difference_spread(series, other, plan->estimate,
                                                                reference->deployed[budget].estimate, setting.kind);
                  }
                });
}

}  // namespace

PlanSpread spread_of(const PlanSeries& plan, const PlanSeries& control, SeriesKind kind) {
  const Series increment = combine(1.0, plan.revenue, -1.0, control.revenue);
  const Series extra_cost = combine(1.0, plan.cost, -1.0, control.cost);
  return {standard_deviation(plan.revenue, kind), standard_deviation(plan.cost, kind),
          standard_deviation(increment, kind), standard_deviation(extra_cost, kind),
          covariance(increment, extra_cost, kind)};
}

ModelRun run_model(const Setting& setting, const Candidate& model, const ModelRun* reference) {
  ModelRun run;
  const PredictedPath path = path_of(model.prediction, setting.input.rows.arms.control, setting.context);
  run.deployed = plans_at(path, setting.budgets, setting.num_rows());
  run.curve =
      plans_at(path, curve_budgets(path, setting.options.num_curve_points, setting.num_rows()), setting.num_rows());
  CutList cuts;
  cuts.add(run.deployed);
  cuts.add(run.curve);
  cuts.finish();
  {
    const std::vector<PathStep> steps = steps_of(path, setting.rewards, setting.context);
    set_estimates(setting, path, steps, cuts, run);
    if (setting.kind == SeriesKind::resamples) set_resamples(setting, path, steps, cuts, run);
  }
  evaluate_plans(setting, path, model, reference, run);
  if (reference != nullptr && setting.kind == SeriesKind::resamples) {
    for (std::size_t i = 0; i < run.deployed.size(); ++i) {
      run.differences.push_back(difference_spread(run.deployed[i].series, reference->deployed[i].series,
                                                  run.deployed[i].estimate, reference->deployed[i].estimate,
                                                  setting.kind));
    }
  }
  return run;
}

}  // namespace dfcl::evaluate
