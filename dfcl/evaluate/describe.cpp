// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/describe.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/evaluate/heterogeneity/segment_effects.h"

namespace dfcl::evaluate {
namespace {

std::vector<std::string> how_it_was_made(const Setting& setting) {
  const EvaluationOptions& options = setting.options;
  const TrialRows& rows = setting.input.rows;
  std::vector<std::string> how;
  how.push_back(fmt::format("Revenue and cost of a plan are estimated from {} units of a randomised trial ({}).",
                            setting.num_rows(), to_text(options.estimator)));
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
    if (!setting.is_elsewhere())
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
  if (!setting.is_elsewhere())
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
  if (setting.is_elsewhere()) {
    how.push_back(
        "The rows are on many machines: plans and baselines are judged on all of them, by sums that add up exactly, of "
        "numbers rounded to 41 binary digits of the largest there can be. What needs rows in one place is left out: "
        "matched plans, curves, areas, fit, effects by decile and segment, policy trees, Hajek's estimates beside.");
  }
  if (rows.size() > 0 && setting.input.truth.revenue.rows > 0) {
    how.push_back("The share of the oracle is at the plan's own true spend.");
  }
  return how;
}

}  // namespace

Evaluation describe(const Setting& setting) {
  Evaluation evaluation;
  const TrialRows& rows = setting.input.rows;
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    evaluation.arms.push_back({rows.arms.labels[arm], arm == rows.arms.control, rows.arm_units[arm]});
  }
  evaluation.num_units = setting.num_rows();
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

}  // namespace dfcl::evaluate
