// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/policy_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "dfcl/evaluate/heterogeneity/effect_scores.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {
namespace {

void set_leaves(const Setting& setting, const JudgedModel& model, const JudgedTree& tree, PolicyTreeFigures& figures) {
  const TrialRows& rows = setting.input.rows;
  const std::size_t num_leaves = tree.rows.tree.leaves.size();
  const std::vector<std::uint32_t> leaf(tree.rows.leaf_of_row.begin(), tree.rows.leaf_of_row.end());
  const std::size_t control = rows.arms.control;
  const auto effect = [&](std::size_t row) { return setting.effects.of(row, tree.arm_of_leaf[leaf[row]]); };
  const auto means_of = [&](auto&& value) {
    return label_means(rows, leaf, num_leaves, values_of_rows(rows, setting.context, value), setting.context);
  };
  const std::vector<LabelMean> revenue = means_of([&](std::size_t row) { return effect(row).revenue; });
  const std::vector<LabelMean> cost = means_of([&](std::size_t row) { return effect(row).cost; });
  figures.leaves.resize(num_leaves);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t arm = tree.arm_of_leaf[leaf[row]];
    const auto over_control = [&](core::MatrixView<const float> outcome) {
      return static_cast<double>(outcome(row, arm)) - static_cast<double>(outcome(row, control));
    };
    const double units = rows.sample_weight(row);
    figures.leaves[leaf[row]].predicted_revenue += units * over_control(model.prediction.revenue);
    figures.leaves[leaf[row]].predicted_cost += units * over_control(model.prediction.cost);
  }
  for (std::size_t i = 0; i < num_leaves; ++i) {
    PolicyLeaf& own = figures.leaves[i];
    figures.predicted_cost += own.predicted_cost / static_cast<double>(rows.size());
    own.units = tree.rows.tree.leaves[i];
    own.arm = rows.arms.labels[tree.arm_of_leaf[i]];
    own.num_units = revenue[i].num_units;
    own.share = revenue[i].weight / static_cast<double>(rows.size());
    own.predicted_revenue /= revenue[i].weight;
    own.predicted_cost = in_float_digits(own.predicted_cost / revenue[i].weight);
    const bool is_control = tree.arm_of_leaf[i] == control;  // a fact, not an estimate
    own.revenue =
        is_control ? Interval(0.0) : core::normal_interval(revenue[i].mean, revenue[i].error, setting.options.level);
    own.cost = is_control || setting.knows_prices()
                   ? Interval(in_price_digits(cost[i].mean))
                   : core::normal_interval(cost[i].mean, cost[i].error, setting.options.level);
  }
  figures.predicted_cost = in_float_digits(figures.predicted_cost);
}

std::string sentence_of(const PolicyTreeFigures& figures, double level, const Words& words) {
  if (!figures.net_difference.has_ends()) return "No interval can be given, so tree and plan cannot be compared.";
  const auto number = [&](double value) { return number_words(value, words, 3); };
  if (figures.net_difference.value == 0.0 && figures.net_difference.low == figures.net_difference.high)
    return "The tree is the same plan.";
  const char* const verb = figures.answer == "yes"  ? "earns more than the plan"
                           : figures.answer == "no" ? "earns less than the plan"
                                                    : "is not shown to differ from the plan";
  return fmt::format("As a rule of {} {} it {}: {} per unit ({} % interval {} to {}) at {} {} per {}.",
                     figures.leaves.size(), figures.leaves.size() == 1 ? "leaf" : "leaves", verb,
                     number(figures.net_difference.value), number(100.0 * level), number(figures.net_difference.low),
                     number(figures.net_difference.high), number(figures.price), words.revenue, words.cost);
}

}  // namespace

PolicyTreeFigures policy_figures(const Setting& setting, const JudgedModel& model, const JudgedTree& tree,
                                 std::span<const std::uint8_t> plan, double budget_per_unit, double price) {
  const TrialRows& rows = setting.input.rows;
  const double level = setting.options.level;
  PolicyTreeFigures figures;
  figures.budget_per_unit = budget_per_unit;
  figures.multiplier = tree.multiplier;
  figures.nodes = tree.rows.tree.nodes;
  figures.price = price;
  set_leaves(setting, model, tree, figures);
  const auto of_tree = [&](std::size_t row) {
    return setting.effects.of(row, tree.arm_of_leaf[tree.rows.leaf_of_row[row]]);
  };
  const auto difference = [&](std::size_t row) {
    const std::size_t arm = tree.arm_of_leaf[tree.rows.leaf_of_row[row]];
    if (arm == plan[row]) return Effect{};
    const Effect own = setting.effects.of(row, arm);
    const Effect other = setting.effects.of(row, plan[row]);
    return Effect{own.revenue - other.revenue, own.cost - other.cost};
  };
  const auto interval = [&](const std::function<double(std::size_t)>& value) {
    const LabelMean mean = mean_of_all(rows, values_of_rows(rows, setting.context, value), setting.context);
    return core::normal_interval(mean.mean, mean.error, level);
  };
  const auto cost_interval = [&](const std::function<double(std::size_t)>& value) {
    if (!setting.knows_prices()) return interval(value);
    const LabelMean mean = mean_of_all(rows, values_of_rows(rows, setting.context, value), setting.context);
    return Interval(in_price_digits(mean.mean));
  };
  figures.incremental_revenue = interval([&](std::size_t row) { return of_tree(row).revenue; });
  figures.incremental_cost = cost_interval([&](std::size_t row) { return of_tree(row).cost; });
  const double control = setting.options.budget_basis == data::BudgetBasis::total ? setting.control.cost : 0.0;
  figures.spend_over_budget = figures.incremental_cost.plus(control - budget_per_unit);
  figures.revenue_difference = interval([&](std::size_t row) { return difference(row).revenue; });
  figures.cost_difference = cost_interval([&](std::size_t row) { return difference(row).cost; });
  figures.net_difference = interval([&](std::size_t row) {
    const Effect own = difference(row);
    return own.revenue - price * own.cost;
  });
  figures.answer = answer_of(figures.net_difference.low, figures.net_difference.high);
  figures.sentence = sentence_of(figures, level, setting.options.words);
  return figures;
}

}  // namespace dfcl::evaluate
