// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/mean_over_seeds.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/evaluate/effects/guardrails.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::compare {
namespace {

using core::Interval;
using evaluate::BaselineDifferenceFigures;
using evaluate::Evaluation;
using evaluate::JudgedPlan;
using evaluate::ModelFigures;

double half_width(const Interval& interval) { return interval.has_ends() ? 0.5 * (interval.high - interval.low) : 0.0; }

// A figure over seeds: its mean, and an interval that holds the luck of the trial and of training.
class OverSeeds {
 public:
  // The figure of each seed, with its interval over units; the first seed's says whether there is one.
  OverSeeds(double level, const std::vector<Interval>& seeds) : has_ends_(seeds.front().has_ends()) {
    const auto count = static_cast<double>(seeds.size());
    for (const Interval& seed : seeds) {
      mean_ += seed.value / count;
      reach_ = std::max(reach_, half_width(seed));
    }
    if (seeds.size() < 2) return;
    double squares = 0.0;
    for (const Interval& seed : seeds) squares += (seed.value - mean_) * (seed.value - mean_);
    reach_ = std::hypot(reach_, core::t_critical(count - 1.0, level) * std::sqrt(squares / (count - 1.0) / count));
  }

  double mean() const { return mean_; }
  Interval alone() const { return has_ends_ ? Interval(mean_, mean_ - reach_, mean_ + reach_) : Interval(mean_); }
  // Of one that holds at once with others: wider by the factor by which it was wider for one seed.
  Interval at_once(double factor) const {
    return has_ends_ ? Interval(mean_, mean_ - factor * reach_, mean_ + factor * reach_) : Interval(mean_);
  }

 private:
  bool has_ends_;
  double mean_ = 0.0;
  double reach_ = 0.0;  // half the width of the interval alone
};

// By how much an interval that holds at once with others is wider than that of the figure alone: the first seed's, and
// where its figure does not vary (a plan that is control for everyone) the widest of the others'. seeds: pairs of both.
double widening(const std::vector<std::pair<Interval, Interval>>& seeds) {
  double widest = 1.0;
  for (const auto& [at_once, alone] : seeds) {
    if (!(half_width(alone) > 0.0)) continue;
    widest = std::max(widest, half_width(at_once) / half_width(alone));
    if (&alone == &seeds.front().second) break;
  }
  return widest;
}

// The same model in the evaluations of all seeds.
std::vector<const ModelFigures*> same_model(const Evaluation& first, std::span<const Evaluation> others,
                                            std::size_t index) {
  std::vector<const ModelFigures*> models = {&first.models[index]};
  for (const Evaluation& other : others) {
    for (const ModelFigures& model : other.models) {
      if (model.name == models.front()->name) models.push_back(&model);
    }
  }
  return models;
}

// As the money: means over seeds, and ends that hold the luck of training too.
void set_guardrail(const std::vector<const ModelFigures*>& models, std::size_t budget, std::size_t index, double level,
                   evaluate::GuardrailFigures& figures) {
  std::vector<Interval> increments, shares;
  std::vector<std::pair<Interval, Interval>> widths;
  for (const ModelFigures* model : models) {
    const evaluate::GuardrailFigures& one = model->deployed[budget].guardrails[index];
    increments.push_back(one.increment);
    shares.push_back(one.relative);
    widths.emplace_back(Interval(one.increment.value, one.simultaneous_low, one.simultaneous_high), one.increment);
  }
  const OverSeeds increment(level, increments), share(level, shares);
  const double factor = widening(widths);
  figures.increment = increment.alone();
  figures.relative = share.alone();
  figures.simultaneous_low = increment.at_once(factor).low;
  figures.simultaneous_high = increment.at_once(factor).high;
  evaluate::say_guardrail(figures, share.at_once(factor), level, {});
}

void set_plan(const std::vector<const ModelFigures*>& models, std::size_t budget, double level, JudgedPlan& plan) {
  const auto over = [&](auto&& read) {
    std::vector<Interval> seeds;
    for (const ModelFigures* model : models) seeds.push_back(read(model->deployed[budget]));
    return OverSeeds(level, seeds);
  };
  const bool knows_profit = plan.incremental_profit.has_value();
  std::vector<std::pair<Interval, Interval>> gains, profits;
  for (const ModelFigures* model : models) {
    const JudgedPlan& one = model->deployed[budget];
    gains.emplace_back(one.simultaneous_increment, one.incremental_revenue);
    if (knows_profit) profits.emplace_back(*one.simultaneous_profit, *one.incremental_profit);
    plan.feasible = plan.feasible && one.feasible;
  }
  const OverSeeds incremental = over([](const JudgedPlan& one) { return one.incremental_revenue; });
  for (Interval JudgedPlan::*figure : {&JudgedPlan::revenue, &JudgedPlan::cost, &JudgedPlan::incremental_cost,
                                       &JudgedPlan::return_per_cost, &JudgedPlan::spend_over_budget})
    plan.*figure = over([figure](const JudgedPlan& one) { return one.*figure; }).alone();
  plan.incremental_revenue = incremental.alone();
  plan.simultaneous_increment = incremental.at_once(widening(gains));
  if (knows_profit) {
    const OverSeeds of_profit = over([](const JudgedPlan& one) { return *one.incremental_profit; });
    plan.incremental_profit = of_profit.alone();
    plan.simultaneous_profit = of_profit.at_once(widening(profits));
    plan.roi = over([](const JudgedPlan& one) { return *one.roi; }).alone();
  }
  plan.pays_back = evaluate::pays_back_of(plan);
  for (std::size_t i = 0; i < plan.guardrails.size(); ++i) set_guardrail(models, budget, i, level, plan.guardrails[i]);
}

bool is_same(const BaselineDifferenceFigures& a, const BaselineDifferenceFigures& b) {
  return a.model == b.model && a.baseline == b.baseline && a.budget_per_unit == b.budget_per_unit;
}

std::string baseline_words(const std::string& kind) {
  if (kind == "single_arm") return "the best single arm";
  return kind == "rule" ? "today's rule" : kind;
}

void set_difference(const Evaluation& first, std::span<const Evaluation> others, const evaluate::Words& words,
                    BaselineDifferenceFigures& figures) {
  using D = BaselineDifferenceFigures;
  std::vector<D> all = {figures};
  for (const Evaluation& other : others) {
    const auto found = std::find_if(other.baseline_differences.begin(), other.baseline_differences.end(),
                                    [&](const D& one) { return is_same(one, figures); });
    if (found != other.baseline_differences.end()) all.push_back(*found);
  }
  const auto over = [&](auto&& read) {
    std::vector<Interval> seeds;
    for (const D& one : all) seeds.push_back(read(one));
    return OverSeeds(first.level, seeds);
  };
  std::vector<std::pair<Interval, Interval>> nets;
  for (const D& one : all)
    nets.emplace_back(Interval(one.net.value, one.simultaneous_low, one.simultaneous_high), one.net);
  figures.revenue = over([](const D& one) { return one.revenue; }).alone();
  figures.cost = over([](const D& one) { return one.cost; }).alone();
  figures.plan_cost = over([](const D& one) { return Interval(one.plan_cost); }).mean();
  if (figures.profit) figures.profit = over([](const D& one) { return *one.profit; }).alone();
  const OverSeeds net = over([](const D& one) { return one.net; });
  figures.net = net.alone();
  const Interval at_once = net.at_once(widening(nets));
  figures.simultaneous_low = at_once.low;
  figures.simultaneous_high = at_once.high;
  figures.answer = evaluate::answer_of(figures.simultaneous_low, figures.simultaneous_high);
  figures.sentence = evaluate::difference_sentence(figures, baseline_words(figures.baseline), first.level, words);
}

}  // namespace

Evaluation mean_over_seeds(const Evaluation& first, std::span<const Evaluation> others, const evaluate::Words& words) {
  Evaluation mean = first;
  for (std::size_t model = 0; model < first.models.size(); ++model) {
    const std::vector<const ModelFigures*> models = same_model(first, others, model);
    if (models.size() < 2) continue;
    for (std::size_t budget = 0; budget < first.budgets_per_unit.size(); ++budget)
      set_plan(models, budget, first.level, mean.models[model].deployed[budget]);
  }
  for (BaselineDifferenceFigures& difference : mean.baseline_differences)
    set_difference(first, others, words, difference);
  return mean;
}

}  // namespace dfcl::compare
