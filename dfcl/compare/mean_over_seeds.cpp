// SPDX-License-Identifier: Apache-2.0
#include "dfcl/compare/mean_over_seeds.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dfcl/core/interval.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::compare {
namespace {

using core::Interval;
using evaluate::BaselineDifferenceFigures;
using evaluate::Evaluation;
using evaluate::JudgedPlan;
using evaluate::ModelFigures;

// A figure over seeds: its mean, and by how much its intervals widen.
class OverSeeds {
 public:
  OverSeeds(double level, std::vector<double> values) : critical_(core::normal_critical(level)) {
    const auto count = static_cast<double>(values.size());
    for (const double value : values) mean_ += value / count;
    if (values.size() < 2) return;
    double squares = 0.0;
    for (const double value : values) squares += (value - mean_) * (value - mean_);
    const double by_t = core::t_critical(count - 1.0, level) / critical_;
    of_seeds_ = by_t * by_t * squares / (count - 1.0) / count;
  }

  // Of the first seed's interval.
  Interval of(const Interval& first) const {
    if (!first.has_ends()) return Interval(mean_);
    const double deviation = (first.high - first.low) / (2.0 * critical_);
    const double reach = critical_ * std::sqrt(deviation * deviation + of_seeds_);
    return {mean_, mean_ - reach, mean_ + reach};
  }
  // Of one that holds at once with others: it is wider by the same factor than before.
  Interval at_once(const Interval& first, double first_value, const Interval& alone) const {
    const Interval now = of(alone);
    const double width = alone.high - alone.low;
    const double factor = width > 0.0 ? (first.high - first_value) / (0.5 * width) : 1.0;
    const double reach = factor * 0.5 * (now.high - now.low);
    return {mean_, mean_ - reach, mean_ + reach};
  }

 private:
  double critical_;
  double mean_ = 0.0;
  double of_seeds_ = 0.0;  // variance of the mean over seeds, as a normal one
};

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

template <class Read>
OverSeeds read_plans(const std::vector<const ModelFigures*>& models, std::size_t budget, double level, Read&& read) {
  std::vector<double> values;
  for (const ModelFigures* model : models) values.push_back(read(model->deployed[budget]));
  return {level, std::move(values)};
}

void set_plan(const std::vector<const ModelFigures*>& models, std::size_t budget, double level, JudgedPlan& plan) {
  const JudgedPlan first = plan;
  const auto over = [&](Interval JudgedPlan::*figure) {
    return read_plans(models, budget, level, [figure](const JudgedPlan& one) { return (one.*figure).value; });
  };
  for (Interval JudgedPlan::*figure : {&JudgedPlan::revenue, &JudgedPlan::cost, &JudgedPlan::incremental_cost,
                                       &JudgedPlan::return_per_cost, &JudgedPlan::spend_over_budget})
    plan.*figure = over(figure).of(first.*figure);
  const OverSeeds gain = over(&JudgedPlan::incremental_revenue);
  plan.incremental_revenue = gain.of(first.incremental_revenue);
  plan.simultaneous_increment =
      gain.at_once(first.simultaneous_increment, first.incremental_revenue.value, first.incremental_revenue);
  if (first.incremental_profit) {
    const OverSeeds profit =
        read_plans(models, budget, level, [](const JudgedPlan& one) { return one.incremental_profit->value; });
    plan.incremental_profit = profit.of(*first.incremental_profit);
    plan.simultaneous_profit =
        profit.at_once(*first.simultaneous_profit, first.incremental_profit->value, *first.incremental_profit);
    plan.roi = read_plans(models, budget, level, [](const JudgedPlan& one) { return one.roi->value; }).of(*first.roi);
  }
  for (const ModelFigures* model : models) plan.feasible = plan.feasible && model->deployed[budget].feasible;
  plan.pays_back = evaluate::pays_back_of(plan);
}

bool is_same(const BaselineDifferenceFigures& a, const BaselineDifferenceFigures& b) {
  return a.model == b.model && a.baseline == b.baseline && a.budget_per_unit == b.budget_per_unit;
}

void set_difference(const Evaluation& first, std::span<const Evaluation> others, BaselineDifferenceFigures& figures) {
  std::vector<BaselineDifferenceFigures> all = {figures};
  for (const Evaluation& other : others) {
    const auto found = std::find_if(other.baseline_differences.begin(), other.baseline_differences.end(),
                                    [&](const BaselineDifferenceFigures& one) { return is_same(one, figures); });
    if (found != other.baseline_differences.end()) all.push_back(*found);
  }
  const BaselineDifferenceFigures before = figures;
  const auto over = [&](auto&& read) {
    std::vector<double> values;
    for (const BaselineDifferenceFigures& one : all) values.push_back(read(one));
    return OverSeeds(first.level, std::move(values));
  };
  using D = BaselineDifferenceFigures;
  figures.revenue = over([](const D& one) { return one.revenue.value; }).of(before.revenue);
  figures.cost = over([](const D& one) { return one.cost.value; }).of(before.cost);
  figures.plan_cost = over([](const D& one) { return one.plan_cost; }).of(Interval()).value;
  if (before.profit) figures.profit = over([](const D& one) { return one.profit->value; }).of(*before.profit);
  const OverSeeds net = over([](const D& one) { return one.net.value; });
  figures.net = net.of(before.net);
  const Interval all_at_once =
      net.at_once({before.net.value, before.simultaneous_low, before.simultaneous_high}, before.net.value, before.net);
  figures.simultaneous_low = all_at_once.low;
  figures.simultaneous_high = all_at_once.high;
  figures.answer = evaluate::answer_of(figures.simultaneous_low, figures.simultaneous_high);
  figures.sentence = evaluate::difference_sentence(
      figures, figures.baseline == "single_arm" ? "the best single arm" : figures.baseline, first.level);
}

}  // namespace

Evaluation mean_over_seeds(const Evaluation& first, std::span<const Evaluation> others) {
  Evaluation mean = first;
  for (std::size_t model = 0; model < first.models.size(); ++model) {
    const std::vector<const ModelFigures*> models = same_model(first, others, model);
    if (models.size() < 2) continue;
    for (std::size_t budget = 0; budget < first.budgets_per_unit.size(); ++budget)
      set_plan(models, budget, first.level, mean.models[model].deployed[budget]);
  }
  for (BaselineDifferenceFigures& difference : mean.baseline_differences) set_difference(first, others, difference);
  return mean;
}

}  // namespace dfcl::compare
