// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/verdict.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

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
double shown_gain(const ModelFigures& model, const JudgedPlan& plan, const Evaluation& evaluation) {
  const double deviation = (plan.incremental_revenue.high - plan.incremental_revenue.low) /
                           (2.0 * core::normal_quantile(0.5 + evaluation.level / 2.0));
  const double critical = model.is_alternative ? evaluation.increment_critical_of_all : evaluation.increment_critical;
  return plan.incremental_revenue.value - critical * deviation;
}

std::string plan_words(const ModelFigures& model, const JudgedPlan& plan, const Evaluation& evaluation,
                       const EvaluationOptions& options) {
  const auto units = static_cast<double>(evaluation.num_units);
  const std::string& currency = options.words.currency;
  const double gain = units * plan.incremental_revenue.value;
  return fmt::format(
      "at a budget of {} per unit, {} earns {} {} {} than control over these {} units {}, at a {} of {}{}",
      amount(plan.budget_per_unit, currency), model.name, amount(std::abs(gain), currency),
      gain < 0.0 ? "less" : "more", options.words.revenue, amount(units, ""),
      range_words(plan.incremental_revenue, units, options), options.words.cost,
      amount(units * plan.cost.value, currency),
      evaluation.cost_is_known ? "" : " " + range_words(plan.cost, units, options));
}

struct Choice {
  std::size_t model = 0;
  std::size_t budget = 0;
};

const DifferenceFigures& difference_of(const Evaluation& evaluation, const Choice& choice) {
  return evaluation.differences[(choice.model - 1) * evaluation.budgets_per_unit.size() + choice.budget];
}

// The plan that `worth` finds best among the models from `first` to before `last` that may be launched; none where
// nothing is above zero.
template <class Worth>
std::optional<Choice> best_of(const Evaluation& evaluation, std::size_t first, std::size_t last, Worth&& worth) {
  std::optional<Choice> best;
  double most = 0.0;
  for (std::size_t model = first; model < last; ++model) {
    if (evaluation.models[model].is_alternative) continue;
    for (std::size_t budget = 0; budget < evaluation.budgets_per_unit.size(); ++budget) {
      const Choice choice{model, budget};
      const double value = worth(choice);
      if (!(value > most)) continue;
      most = value;
      best = choice;
    }
  }
  return best;
}

// A model that is shown to gain and to be better than the reference; else the reference, where it is shown to gain;
// else another model that is. Each at the budget where most is shown.
std::optional<Choice> best_plan(const Evaluation& evaluation) {
  const std::size_t num_models = evaluation.models.size();
  const auto gain = [&](const Choice& choice) {
    const ModelFigures& model = evaluation.models[choice.model];
    const JudgedPlan& plan = model.deployed[choice.budget];
    return plan.feasible ? shown_gain(model, plan, evaluation) : 0.0;  // a plan over the budget is not launched
  };
  const auto lead = [&](const Choice& choice) {
    return gain(choice) > 0.0 ? difference_of(evaluation, choice).simultaneous_low : 0.0;
  };
  std::optional<Choice> best = best_of(evaluation, 1, num_models, lead);
  if (!best) best = best_of(evaluation, 0, 1, gain);
  if (!best) best = best_of(evaluation, 1, num_models, gain);
  return best;
}

// "a", "a and b", "a, b and c".
std::string list_words(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

// What is shown of the other models against the reference, at one budget or, where none is given, at any.
std::string against_reference(const Evaluation& evaluation, std::optional<std::size_t> budget) {
  std::vector<std::string> more;
  std::vector<std::string> less;
  std::size_t num_others = 0;
  for (std::size_t model = 1; model < evaluation.models.size(); ++model) {
    if (evaluation.models[model].is_alternative) continue;
    ++num_others;
    bool is_more = false;
    bool is_less = false;
    for (std::size_t b = 0; b < evaluation.budgets_per_unit.size(); ++b) {
      if (budget && b != *budget) continue;
      const DifferenceFigures& difference = difference_of(evaluation, {model, b});
      is_more = is_more || difference.simultaneous_low > 0.0;
      is_less = is_less || difference.simultaneous_high < 0.0;
    }
    if (is_more) more.push_back(evaluation.models[model].name);
    if (is_less) less.push_back(evaluation.models[model].name);
  }
  if (num_others == 0) return "";
  const std::string& reference = evaluation.models.front().name;
  const char* const where = budget ? "at this budget" : "at some budget";
  std::string text;
  if (!more.empty()) text += fmt::format(" Shown to earn more than {} {}: {}.", reference, where, list_words(more));
  if (!less.empty()) text += fmt::format(" Shown to earn less than {} {}: {}.", reference, where, list_words(less));
  if (!text.empty()) return text;
  return fmt::format(" No other model is shown to differ from {}{}.", reference, budget ? " at this budget" : "");
}

// Whether the model that is launched is shown to differ from the reference, or the reference from the others.
std::string choice_words(const Evaluation& evaluation, const Choice& choice) {
  if (choice.model == 0) return against_reference(evaluation, choice.budget);
  const DifferenceFigures& difference = difference_of(evaluation, choice);
  if (difference.simultaneous_low > 0.0) return " " + difference.sentence;
  const std::string& name = evaluation.models[choice.model].name;
  const std::string& reference = evaluation.models.front().name;
  if (difference.simultaneous_high < 0.0)
    return fmt::format(" {} is shown to gain; {} is not; yet {}", name, reference, difference.sentence);
  return fmt::format(" {} is shown to gain; {} is not; no difference between them is shown.", name, reference);
}

bool is_below_control(double budget_per_unit, const Evaluation& evaluation) {
  return budget_per_unit < (evaluation.budget_basis == "total" ? evaluation.control_cost.value : 0.0);
}

// A budget that nothing given would overspend already.
std::string below_control_words(const Evaluation& evaluation, const EvaluationOptions& options) {
  std::vector<std::string> budgets;
  for (const double budget : evaluation.budgets_per_unit) {
    if (is_below_control(budget, evaluation)) budgets.push_back(amount(budget, ""));
  }
  if (budgets.empty()) return "";
  return fmt::format(" Everyone in control costs {} per unit: that is more than {} of {} per unit.",
                     amount(evaluation.control_cost.value, options.words.currency),
                     budgets.size() == 1 ? "the budget" : "the budgets", list_words(budgets));
}

std::string plan_detail(const ModelFigures& model, const JudgedPlan& plan, const Evaluation& evaluation,
                        const EvaluationOptions& options) {
  std::string line = plan_words(model, plan, evaluation, options);
  line[0] = 'A';
  if (!(shown_gain(model, plan, evaluation) > 0.0)) {
    line += "; a gain is not shown";
    if (plan.incremental_revenue.low > 0.0) line += " once all comparisons are counted";
  }
  line += ".";
  const double least_over = evaluation.cost_is_known ? plan.spend_over_budget.value : plan.spend_over_budget.low;
  if (least_over > 1e-9 * std::abs(plan.cost.value)) line += " It spends over the budget.";
  if (!plan.feasible) line += " The predictions cannot meet this budget: this is their cheapest plan.";
  if (is_below_control(plan.budget_per_unit, evaluation)) line += " Control alone costs more than this budget.";
  return line;
}

std::vector<std::string> details_of(const Evaluation& evaluation, const EvaluationOptions& options) {
  std::vector<std::string> details;
  for (const ModelFigures& model : evaluation.models) {
    for (const JudgedPlan& plan : model.deployed) details.push_back(plan_detail(model, plan, evaluation, options));
  }
  for (const DifferenceFigures& difference : evaluation.differences) {
    details.push_back(fmt::format("At a budget of {} per unit: {}",
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
  if (const std::optional<Choice> best = best_plan(evaluation)) {
    const ModelFigures& model = evaluation.models[best->model];
    verdict.status = "launch";
    verdict.sentence = fmt::format("Launch {}: {}.{}", model.name,
                                   plan_words(model, model.deployed[best->budget], evaluation, options),
                                   choice_words(evaluation, *best));
  } else {
    verdict.status = "not_shown";
    verdict.sentence = "No plan is shown to earn more than control at any of these budgets." +
                       against_reference(evaluation, std::nullopt);
  }
  verdict.sentence += below_control_words(evaluation, options);
  if (options.is_adjusted)
    verdict.sentence += " Read with care: the arms are imbalanced, which estimated propensities adjust for.";
  return verdict;
}

}  // namespace dfcl::evaluate
