// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/verdict.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "dfcl/evaluate/effects/guardrails.h"

namespace dfcl::evaluate {
namespace {

// A plan of a model at a budget, with what the answers rest on.
struct Candidate {
  const ModelFigures* model = nullptr;
  std::size_t budget = 0;
  const JudgedPlan* plan = nullptr;
  const BaselineDifferenceFigures* over_random = nullptr;  // null where no baselines were made
  const BaselineDifferenceFigures* over_rule = nullptr;    // null without a rule
};

class Writer {
 public:
  Writer(const Evaluation& evaluation, const VerdictOptions& options)
      : evaluation_(evaluation), options_(options), units_(static_cast<double>(evaluation.num_units)) {}

  std::string number(double value) const { return number_words(value, options_.words); }
  std::string money(double value) const { return money_words(value, options_.words); }
  std::string level() const { return number(100.0 * evaluation_.level) + " %"; }

  // "(95 % interval 1,200 to 3,400)", of an amount over all units.
  std::string range(double low, double high) const {
    if (!std::isfinite(low) || !std::isfinite(high)) return "(no interval)";
    return fmt::format("({} interval {} to {})", level(), number(units_ * low), number(units_ * high));
  }

  std::string budget_words(const JudgedPlan& plan) const {
    return fmt::format("at a budget of {} per {}", money(plan.budget_per_unit), options_.words.unit);
  }

  std::string profit_words(const JudgedPlan& plan) const {
    if (!plan.incremental_profit) return "";
    const Interval& profit = plan.simultaneous_profit ? *plan.simultaneous_profit : *plan.incremental_profit;
    return fmt::format("{} profit {}", money(units_ * profit.value), range(profit.low, profit.high));
  }

  // "targeting adds X (interval) over random at equal spend": the difference in spend is charged (eq. 20).
  std::string targeting_words(const BaselineDifferenceFigures& over) const {
    if (over.net.value == 0.0 && over.simultaneous_low == over.simultaneous_high)
      return "targeting gives everyone what random does";
    const std::string interval = range(over.simultaneous_low, over.simultaneous_high);
    const double added = units_ * over.net.value;
    return added < 0.0 ? fmt::format("targeting changes {} by {} {} against random at equal spend",
                                     options_.words.revenue, number(added), interval)
                       : fmt::format("targeting adds {} {} {} over random at equal spend", number(added),
                                     options_.words.revenue, interval);
  }

  // "targeting adds X (interval) over random, Y (interval) over control, Z profit (interval)".
  std::string headline(const Candidate& candidate) const {
    const JudgedPlan& plan = *candidate.plan;
    const Interval& gain = plan.simultaneous_increment;
    std::string text = candidate.over_random == nullptr ? "" : targeting_words(*candidate.over_random) + ", ";
    text += fmt::format("{} {} over control", number(units_ * gain.value), range(gain.low, gain.high));
    if (plan.incremental_profit) text += ", " + profit_words(plan);
    return text + fmt::format(", on these {} {}", number(units_), options_.words.units);
  }

  // What revenue must be worth for the plan to pay back.
  std::string break_even(const JudgedPlan& plan) const {
    const Interval& earned = plan.return_per_cost;
    if (!(earned.value > 0.0)) return "";
    std::string text =
        fmt::format(" It returns {} {} per {}", number(earned.value), options_.words.revenue, options_.words.cost);
    if (earned.has_ends())
      text +=
          fmt::format(" ({} interval of this figure alone {} to {})", level(), number(earned.low), number(earned.high));
    text += fmt::format(": it breaks even where one unit of {} is worth {}", options_.words.revenue,
                        money(1.0 / earned.value));
    if (earned.has_ends() && earned.low > 0.0)
      text += fmt::format(" ({} to {})", number(1.0 / earned.high), number(1.0 / earned.low));
    return text + "; [value] says what it is worth.";
  }

  std::string rule_words(const Candidate& candidate) const {
    if (candidate.over_rule == nullptr) return "";
    return " " + candidate.over_rule->sentence;
  }

  const Evaluation& evaluation() const { return evaluation_; }
  const VerdictOptions& options() const { return options_; }
  double units() const { return units_; }

 private:
  const Evaluation& evaluation_;
  const VerdictOptions& options_;
  double units_;
};

const BaselineDifferenceFigures* difference_from(const Evaluation& evaluation, const std::string& model,
                                                 const char* baseline, std::size_t budget) {
  std::size_t place = 0;
  for (const BaselineDifferenceFigures& difference : evaluation.baseline_differences) {
    if (difference.model != model || difference.baseline != baseline) continue;
    if (place++ == budget) return &difference;
  }
  return nullptr;
}

std::vector<Candidate> candidates_of(const Evaluation& evaluation) {
  std::vector<Candidate> all;
  for (const ModelFigures& model : evaluation.models) {
    if (model.is_alternative) continue;
    for (std::size_t budget = 0; budget < model.deployed.size(); ++budget) {
      all.push_back({&model, budget, &model.deployed[budget], difference_from(evaluation, model.name, "random", budget),
                     difference_from(evaluation, model.name, "rule", budget)});
    }
  }
  return all;
}

bool beats_random(const Candidate& candidate) {
  return candidate.over_random != nullptr && candidate.over_random->answer == "yes";
}

// What is shown to be gained at least: profit, or revenue where profit is not known.
double least_gain(const Candidate& candidate) {
  const JudgedPlan& plan = *candidate.plan;
  const double least = plan.simultaneous_profit ? plan.simultaneous_profit->low : plan.simultaneous_increment.low;
  return std::isnan(least) ? -HUGE_VAL : least;
}

bool is_beaten_by_rule(const Candidate& candidate) {
  return candidate.over_rule != nullptr && candidate.over_rule->answer == "no";
}

// A plan that can keep to its budget before one that cannot, one that may pay back before one that does not; then those
// that pay back, those that harm no guardrail, those that today's rule does not beat, those that beat random; among
// them by what is shown to be gained at least. Ties go to the smaller budget and the first name.
const Candidate* best_of(const std::vector<Candidate>& candidates) {
  const auto rank = [](const Candidate& candidate) {
    const std::string& pays = candidate.plan->pays_back;
    const bool good = candidate.plan->feasible && (pays == "yes" || pays == "depends");
    return std::tuple(candidate.plan->feasible, pays != "no", good, good && !harms(candidate.plan->guardrails),
                      good && !is_beaten_by_rule(candidate), good && beats_random(candidate), least_gain(candidate),
                      -candidate.plan->budget_per_unit);
  };
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    const bool is_better = best == nullptr || rank(candidate) > rank(*best) ||
                           (rank(candidate) == rank(*best) && candidate.model->name < best->model->name);
    if (is_better) best = &candidate;
  }
  return best;
}

// The same money without a model: what it gives to whom, and what it brings.
std::string roll_out_words(const Writer& writer, const Candidate& candidate) {
  const BaselineFigures& random = writer.evaluation().baselines.front();
  const JudgedPlan& plan = random.plans[candidate.budget];
  std::string text = fmt::format("{}, {}", random.names[candidate.budget], writer.budget_words(*candidate.plan));
  if (plan.incremental_profit) text += ": " + writer.profit_words(plan);
  return text;
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

bool is_below_control(double budget_per_unit, const Evaluation& evaluation) {
  return budget_per_unit < (evaluation.budget_basis == "total" ? evaluation.control_cost.value : 0.0);
}

// A budget that nothing given would overspend already.
std::string below_control_words(const Evaluation& evaluation, const Writer& writer) {
  std::vector<std::string> budgets;
  for (const double budget : evaluation.budgets_per_unit) {
    if (is_below_control(budget, evaluation)) budgets.push_back(writer.number(budget));
  }
  if (budgets.empty()) return "";
  return fmt::format(" Everyone in control costs {0} per {3}: that is more than {1} of {2} per {3}.",
                     writer.money(evaluation.control_cost.value), budgets.size() == 1 ? "the budget" : "the budgets",
                     list_words(budgets), writer.options().words.unit);
}

std::string payback_words(const JudgedPlan& plan) {
  if (plan.pays_back == "yes") return "; it pays back";
  if (plan.pays_back == "no") return "; it does not pay back";
  if (plan.pays_back == "depends")
    return "; a gain is shown, and whether it pays back depends on what revenue is worth";
  const bool alone = plan.incremental_profit ? plan.incremental_profit->low > 0.0 : plan.incremental_revenue.low > 0.0;
  return fmt::format("; {} is not shown{}", plan.incremental_profit ? "a profit" : "a gain",
                     alone ? " once all comparisons are counted" : "");
}

std::string plan_detail(const ModelFigures& model, const JudgedPlan& plan, const Writer& writer) {
  const double units = writer.units();
  const auto more = [](double amount) { return amount < 0.0 ? "less" : "more"; };
  const double gain = units * plan.incremental_revenue.value;
  const double cost = units * plan.incremental_cost.value;
  std::string line = fmt::format(
      "A{}, {} earns {} {} {} than control over these {} {} {}, for {} {} {}", writer.budget_words(plan).substr(1),
      model.name, writer.number(std::abs(gain)), more(gain), writer.options().words.revenue, writer.number(units),
      writer.options().words.units, writer.range(plan.incremental_revenue.low, plan.incremental_revenue.high),
      writer.money(std::abs(cost)), more(cost), writer.options().words.cost);
  if (plan.incremental_cost.has_ends() && plan.incremental_cost.low < plan.incremental_cost.high)
    line += " " + writer.range(plan.incremental_cost.low, plan.incremental_cost.high);
  if (plan.incremental_profit) {
    const Interval& profit = *plan.incremental_profit;
    line += fmt::format(", {} profit {}", writer.money(units * profit.value), writer.range(profit.low, profit.high));
  }
  line += payback_words(plan) + ".";
  if (!plan.guardrails.empty()) line += fmt::format(" Guardrails: {}.", guardrail_words(plan.guardrails));
  const double least_over =
      writer.evaluation().cost_is_known ? plan.spend_over_budget.value : plan.spend_over_budget.low;
  if (least_over > 1e-9 * std::abs(plan.cost.value)) line += " It spends over the budget.";
  if (!plan.feasible) line += " The predictions cannot meet this budget: this is their cheapest plan.";
  if (is_below_control(plan.budget_per_unit, writer.evaluation()))
    line += " Control alone costs more than this budget.";
  return plan.note.empty() ? line : line + " " + plan.note;
}

std::vector<std::string> details_of(const Evaluation& evaluation, const Writer& writer) {
  std::vector<std::string> details;
  for (const ModelFigures& model : evaluation.models) {
    for (const JudgedPlan& plan : model.deployed) details.push_back(plan_detail(model, plan, writer));
  }
  const auto at_budget = [&](double budget, const std::string& sentence) {
    details.push_back(
        fmt::format("At a budget of {} per {}: {}", writer.money(budget), writer.options().words.unit, sentence));
  };
  for (const BaselineDifferenceFigures& difference : evaluation.baseline_differences) {
    if (difference.baseline != "control") at_budget(difference.budget_per_unit, difference.sentence);
  }
  for (const DifferenceFigures& difference : evaluation.differences)
    at_budget(difference.budget_per_unit, difference.sentence);
  return details;
}

// It pays back, but its targeting is not shown to beat random: the simple roll-out, where that pays back itself.
void answer_untargeted(const Candidate& best, const std::string& where, const Writer& writer, Verdict& verdict) {
  const std::string text =
      fmt::format("Pays back, targeting {}: {}, {}.",
                  verdict.beats_random == "no" ? "does worse than random" : "not shown", where, writer.headline(best));
  const BaselineFigures& random = writer.evaluation().baselines.front();
  const std::string& random_pays = random.plans[best.budget].pays_back;
  if (random_pays == "yes" && !harms(random.plans[best.budget].guardrails)) {
    verdict.status = "roll_out";
    verdict.sentence = fmt::format("{} The simple roll-out will do: {}.", text, roll_out_words(writer, best));
  } else {
    verdict.status = "pays_back";
    verdict.sentence =
        fmt::format("{} The same money without a model {} to pay back: {}. Launch with a hold-out to learn more.", text,
                    random_pays == "yes"  ? "harms a guardrail, though it is shown"
                    : random_pays == "no" ? "is shown not"
                                          : "is not shown",
                    roll_out_words(writer, best));
  }
}

void answer(const Candidate& best, const Writer& writer, Verdict& verdict) {
  const JudgedPlan& plan = *best.plan;
  const std::string where = fmt::format("{} {}", best.model->name, writer.budget_words(plan));
  verdict.model = best.model->name;
  verdict.budget_per_unit = plan.budget_per_unit;
  verdict.pays_back = plan.feasible ? plan.pays_back : "not_shown";
  verdict.beats_random = best.over_random == nullptr || !plan.feasible ? "not_shown" : best.over_random->answer;
  const bool gains = verdict.pays_back == "yes" || verdict.pays_back == "depends";
  const bool targets = verdict.beats_random == "yes";
  const std::string the_best = fmt::format("The best is {}: {}.", where, writer.headline(best));
  if (!plan.feasible) {
    verdict.status = "not_shown";
    verdict.sentence = fmt::format("No plan can keep to any of these budgets. {}", the_best);
  } else if (gains && harms(plan.guardrails)) {
    verdict.status = "harms";
    verdict.sentence = fmt::format("Do not launch: every plan that gains harms a guardrail. {}", the_best);
  } else if (gains && is_beaten_by_rule(best)) {
    verdict.status = "keep_rule";
    verdict.sentence =
        fmt::format("Keep today's rule: it beats every plan that gains. {} {}", the_best, best.over_rule->sentence);
  } else if (verdict.pays_back == "yes" && targets) {
    verdict.status = "launch";
    verdict.sentence = fmt::format("Launch {}: {}.{}", where, writer.headline(best), writer.rule_words(best));
  } else if (verdict.pays_back == "yes") {
    answer_untargeted(best, where, writer, verdict);
    verdict.sentence += writer.rule_words(best);
  } else if (verdict.pays_back == "depends") {
    verdict.status = "gain_shown";
    const char* const targeting = targets                        ? ""
                                  : verdict.beats_random == "no" ? " Targeting does worse than random."
                                                                 : " Targeting is not shown to beat random.";
    verdict.sentence = fmt::format("Earns more than control: {}, {}.{}{}{}", where, writer.headline(best), targeting,
                                   writer.break_even(plan), writer.rule_words(best));
  } else if (verdict.pays_back == "no") {
    verdict.status = "loses";
    verdict.sentence = fmt::format("Do not launch: no plan pays back at any of these budgets. {}{}", the_best,
                                   writer.break_even(plan));
  } else {
    verdict.status = "not_shown";
    verdict.sentence = fmt::format(
        "{} at any of these budgets. Closest to it is {}: {}.{}",
        plan.incremental_profit ? "No plan is shown to pay back" : "No plan is shown to earn more than control", where,
        writer.headline(best), plan.incremental_profit ? "" : writer.break_even(plan));
  }
}

// Normal intervals need more than a handful of units of every arm.
std::string too_few_words(const Evaluation& evaluation) {
  constexpr std::size_t kFewest = 30;
  std::vector<std::string> arms;
  for (const TrialArm& arm : evaluation.arms) {
    if (arm.num_units < kFewest) arms.push_back(fmt::format("arm '{}' has {} units here", arm.label, arm.num_units));
  }
  if (arms.empty()) return "";
  return fmt::format(" Too few: {}, and intervals of plans that use it hold less often than they say below {} units.",
                     list_words(arms), kFewest);
}

// Of the plan that is recommended; a roll-out gives other units the arms.
std::string guardrails_of(const Candidate& best, const Evaluation& evaluation, const std::string& status) {
  const JudgedPlan& plan = status == "roll_out" ? evaluation.baselines.front().plans[best.budget] : *best.plan;
  const std::string words = guardrail_words(plan.guardrails);
  return words.empty() ? "" : fmt::format(" Guardrails, against control: {}.", words);
}

}  // namespace

Verdict verdict_of(const Evaluation& evaluation, const VerdictOptions& options) {
  const Writer writer(evaluation, options);
  Verdict verdict;
  verdict.details = details_of(evaluation, writer);
  const std::vector<Candidate> candidates = candidates_of(evaluation);
  const Candidate* best = best_of(candidates);
  if (best == nullptr) {
    verdict.status = "not_shown";
    verdict.sentence = "No plan may be launched.";
  } else {
    answer(*best, writer, verdict);
    verdict.sentence += guardrails_of(*best, evaluation, verdict.status);
    verdict.sentence += below_control_words(evaluation, writer) + too_few_words(evaluation);
    if (options.is_adjusted)
      verdict.sentence += " Read with care: the arms are imbalanced, which estimated propensities adjust for.";
    if (options.num_seeds > 1)
      verdict.sentence += fmt::format(" Means over {} training seeds; intervals hold their spread.", options.num_seeds);
  }
  if (!options.not_pre_declared.empty()) {
    verdict.not_pre_declared = options.not_pre_declared;
    verdict.sentence += fmt::format(" Not pre-declared: {}.", options.not_pre_declared);
  }
  if (!options.unfit_because.empty()) {
    verdict.status = "unfit";
    verdict.pays_back = verdict.beats_random = "not_shown";
    verdict.sentence =
        fmt::format("The trial is unfit to learn from, so these figures prove nothing: {}", options.unfit_because);
  }
  return verdict;
}

}  // namespace dfcl::evaluate
