// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/core/distributions.h"

namespace dfcl::evaluate {
namespace {

// 1,234 or 0.1234, with the currency where there is one.
std::string amount(double value, const std::string& currency) {
  std::string text = std::abs(value) >= 1000.0 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  if (std::abs(value) >= 1000.0) {
    const std::size_t sign = value < 0.0 ? 1 : 0;
    for (std::size_t place = text.size(); place > sign + 3;) text.insert(place -= 3, ",");
  }
  return currency.empty() ? text : text + " " + currency;
}

// "(95 % interval 1,200 to 3,400 EUR)".
std::string range_words(const Interval& interval, double times, const EvaluationOptions& options) {
  if (!interval.has_ends()) return "(no interval)";
  return fmt::format("({:.3g} % interval {} to {})", 100.0 * options.level, amount(times * interval.low, ""),
                     amount(times * interval.high, options.words.currency));
}

// The lower end of the simultaneous interval of a plan's gain.
double shown_gain(const PlanFigures& plan, const Evaluation& evaluation) {
  const double deviation = (plan.incremental_revenue.high - plan.incremental_revenue.low) /
                           (2.0 * core::normal_quantile(0.5 + evaluation.level / 2.0));
  return plan.incremental_revenue.value - evaluation.increment_critical * deviation;
}

std::string plan_words(const ModelFigures& model, const PlanFigures& plan, const Evaluation& evaluation,
                       const EvaluationOptions& options) {
  const auto units = static_cast<double>(evaluation.num_units);
  const std::string& currency = options.words.currency;
  const double gain = units * plan.incremental_revenue.value;
  return fmt::format(
      "at a budget of {} a unit, {} earns {} {} {} than control over these {} units {}, at a {} of {} {}",
      amount(plan.budget_per_unit, currency), model.name, amount(std::abs(gain), currency),
      gain < 0.0 ? "less" : "more", options.words.revenue, amount(units, ""),
      range_words(plan.incremental_revenue, units, options), options.words.cost,
      amount(units * plan.cost.value, currency), range_words(plan.cost, units, options));
}

struct Choice {
  std::size_t model = 0;
  std::size_t budget = 0;
};

// A model that is shown to be better than the reference, else the reference; at the budget with the largest gain shown.
std::optional<Choice> best_plan(const Evaluation& evaluation) {
  const std::size_t num_budgets = evaluation.budgets_per_unit.size();
  std::optional<Choice> best;
  double most = 0.0;
  for (std::size_t i = 0; i < evaluation.differences.size(); ++i) {
    const DifferenceFigures& difference = evaluation.differences[i];
    const Choice choice{1 + i / num_budgets, i % num_budgets};
    const PlanFigures& plan = evaluation.models[choice.model].deployed[choice.budget];
    if (!(difference.simultaneous_low > most) || !(shown_gain(plan, evaluation) > 0.0)) continue;
    most = difference.simultaneous_low;
    best = choice;
  }
  if (best) return best;
  for (std::size_t model = 0; model < evaluation.models.size() && !best; ++model) {
    most = 0.0;
    for (std::size_t budget = 0; budget < num_budgets; ++budget) {
      const double gain = shown_gain(evaluation.models[model].deployed[budget], evaluation);
      if (!(gain > most)) continue;
      most = gain;
      best = Choice{model, budget};
    }
  }
  return best;
}

std::vector<std::string> details_of(const Evaluation& evaluation, const EvaluationOptions& options) {
  std::vector<std::string> details;
  for (const ModelFigures& model : evaluation.models) {
    for (const PlanFigures& plan : model.deployed) {
      std::string line = plan_words(model, plan, evaluation, options);
      line[0] = 'A';
      line += !(shown_gain(plan, evaluation) > 0.0) ? "; a gain is not shown." : ".";
      if (plan.spend_over_budget.has_ends() && plan.spend_over_budget.low > 0.0) line += " It spends over the budget.";
      if (!plan.feasible) line += " The predictions cannot meet this budget: this is their cheapest plan.";
      details.push_back(std::move(line));
    }
  }
  for (const DifferenceFigures& difference : evaluation.differences) {
    details.push_back(fmt::format("At a budget of {} a unit: {}",
                                  amount(difference.budget_per_unit, options.words.currency), difference.sentence));
  }
  return details;
}

}  // namespace

Verdict verdict_of(const Evaluation& evaluation, const EvaluationOptions& options) {
  Verdict verdict;
  verdict.details = details_of(evaluation, options);
  if (!options.unfit_because.empty()) {
    verdict.status = "unfit";
    verdict.sentence =
        fmt::format("The trial is unfit to learn from, so these figures prove nothing: {}", options.unfit_because);
    return verdict;
  }
  const std::optional<Choice> best = best_plan(evaluation);
  if (!best) {
    verdict.status = "not_shown";
    verdict.sentence = "No plan is shown to earn more than control at any of these budgets.";
    return verdict;
  }
  const ModelFigures& model = evaluation.models[best->model];
  verdict.status = "launch";
  verdict.sentence =
      fmt::format("Launch {}: {}.", model.name, plan_words(model, model.deployed[best->budget], evaluation, options));
  if (evaluation.models.size() > 1 && best->model == 0) {
    verdict.sentence += " No other model is shown to earn more.";
  } else if (best->model > 0 && !evaluation.differences.empty()) {
    const std::size_t index = (best->model - 1) * evaluation.budgets_per_unit.size() + best->budget;
    if (evaluation.differences[index].simultaneous_low > 0.0) {
      verdict.sentence += " " + evaluation.differences[index].sentence;
    }
  }
  return verdict;
}

}  // namespace dfcl::evaluate
