// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/rule_plan.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/io/trial/unit_reader.h"
#include "dfcl/model/predict.h"

namespace dfcl::verbs {
namespace {

// Calls body(first unit, features) for every batch of the units.
template <class Body>
void for_each_batch(const model::Model& model, const std::string& path, std::size_t num_units,
                    core::RunContext& context, Body&& body) {
  io::UnitReader reader(path, model::unit_schema(model), context);
  io::UnitBatch batch;
  std::size_t first = 0;
  while (reader.next(batch)) {
    context.check_cancelled();
    if (first + batch.num_units() > num_units) break;
    body(first, std::as_const(batch.features).view());
    first += batch.num_units();
  }
  if (first != num_units)
    throw core::Error({.kind = core::ErrorKind::file, .what = "the units changed while they were read", .where = path});
}

}  // namespace

RuleUnits::RuleUnits(const model::Model& model, std::string path, const data::Prediction& prediction,
                     std::span<const std::uint64_t> keys, core::RunContext& context)
    : model_(model), path_(std::move(path)), prediction_(prediction) {
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  drawn.reserve(prediction.num_units());
  for (std::size_t unit = 0; unit < prediction.num_units(); ++unit) {
    const std::uint64_t key = keys.empty() ? unit : keys[unit];
    drawn.emplace_back(core::combine_hashes(core::hash_text("policy tree"), key), unit);
  }
  const std::size_t count = std::min(drawn.size(), policy::kMostSampled);
  std::partial_sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count), drawn.end());
  features_ = core::Matrix<float>(count, model.features.size());
  revenue_ = core::Matrix<float>(count, prediction.arms.size());
  cost_ = core::Matrix<float>(count, prediction.arms.size());
  std::unordered_map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < count; ++i) {
    place.emplace(drawn[i].second, i);
    std::ranges::copy(prediction.revenue.row(drawn[i].second), revenue_.row(i).begin());
    std::ranges::copy(prediction.cost.row(drawn[i].second), cost_.row(i).begin());
  }
  for_each_batch(model, path_, prediction.num_units(), context,
                 [&](std::size_t first, core::MatrixView<const float> features) {
                   for (std::size_t row = 0; row < features.rows; ++row) {
                     const auto found = place.find(first + row);
                     if (found != place.end())
                       std::ranges::copy(features.row(row), features_.row(found->second).begin());
                   }
                 });
}

RulePlan RuleUnits::follow(const allocate::Problem& problem, const allocate::Solution& best,
                           core::RunContext& context) const {
  const auto num_units = static_cast<double>(prediction_.num_units());
  const double budget = best.budget - best.control_cost;  // over control; infinite without a limit
  const policy::PolicyTarget target{best.multiplier, budget / num_units};
  const policy::PolicyUnits units{model_.features, features_.view(), revenue_.view(), cost_.view()};
  policy::PolicyTree tree = policy::fit_policy_trees(units, problem.rules, {&target, 1}, context)[0];
  std::vector<std::uint8_t> leaf(prediction_.num_units());
  for_each_batch(model_, path_, leaf.size(), context, [&](std::size_t first, core::MatrixView<const float> features) {
    for (std::size_t row = 0; row < features.rows; ++row)
      leaf[first + row] = static_cast<std::uint8_t>(tree.tree.leaf_of(features.row(row)));
  });
  const auto sums =
      policy::predicted_leaf_sums(leaf, tree.tree.num_leaves(), problem.revenue, problem.cost, problem.rules);
  const std::vector<std::uint8_t> new_leaf = policy::choose_arms(sums, problem.rules, budget, tree);
  tree.words = policy::in_words(tree.tree, model_.features, tree.traits);

  RulePlan made;
  made.rule.nodes = tree.words.nodes;
  made.rule.plan_value = best.value;
  for (std::size_t i = 0; i < tree.arm.size(); ++i)
    made.rule.leaves.push_back({tree.words.leaves[i], prediction_.arms.labels[tree.arm[i]], 0, 0.0, 0.0});
  made.open = core::Matrix<std::uint8_t>(prediction_.num_units(), prediction_.arms.size());
  std::fill_n(made.open.data(), made.open.view().size(), std::uint8_t{0});
  const std::size_t control = problem.rules.control;
  for (std::size_t unit = 0; unit < leaf.size(); ++unit) {
    const std::size_t own = new_leaf[leaf[unit]];
    const std::size_t arm = tree.arm[own];
    made.open(unit, arm) = 1;
    data::RuleLeaf& figures = made.rule.leaves[own];
    ++figures.num_units;
    figures.revenue +=
        static_cast<double>(problem.revenue(unit, arm)) - static_cast<double>(problem.revenue(unit, control));
    figures.cost += static_cast<double>(problem.cost(unit, arm)) - static_cast<double>(problem.cost(unit, control));
  }
  for (data::RuleLeaf& figures : made.rule.leaves) {
    const auto count = static_cast<double>(std::max<std::size_t>(1, figures.num_units));
    figures.revenue /= count;
    figures.cost /= count;
  }
  allocate::Problem restricted = problem;
  restricted.eligible = std::as_const(made.open).view();
  made.path = std::make_unique<allocate::PlanPath>(restricted);
  made.plan = made.path->at_budget(allocate::kNoBudget, context);
  allocate::Solution& summary = made.plan.summary;
  summary.status = best.status;
  summary.binding = best.binding;
  summary.budget = best.budget;
  summary.bound = best.bound;
  summary.gap = best.bound - summary.value;
  summary.multiplier = best.multiplier;
  summary.least_spend = best.least_spend;
  summary.control_revenue = best.control_revenue;
  summary.control_cost = best.control_cost;
  return made;
}

}  // namespace dfcl::verbs
