// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/policy_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/policy/cuts.h"
#include "dfcl/policy/depth_two.h"
#include "dfcl/policy/grow.h"
#include "dfcl/policy/leaf_arms.h"
#include "dfcl/policy/split_columns.h"

namespace dfcl::policy {
namespace {

// Of the plan's multiplier: prices at which trees are tried.
constexpr double kPrices[] = {1.4, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.0};

std::vector<std::size_t> treated_arms(std::size_t num_arms, std::size_t control) {
  std::vector<std::size_t> treated;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    if (arm != control) treated.push_back(arm);
  }
  return treated;
}

// units x ArmSums: value and cost of each treated arm over control, and 1.
core::Matrix<double> arm_stats(const PolicyUnits& units, const allocate::Rules& rules,
                               const std::vector<std::size_t>& treated) {
  const ArmSums sums(treated.size());
  const bool profit = rules.objective == allocate::Objective::profit;
  core::Matrix<double> stats(units.revenue.rows, sums.width());
  for (std::size_t unit = 0; unit < units.revenue.rows; ++unit) {
    for (std::size_t i = 0; i < treated.size(); ++i) {
      const double revenue = static_cast<double>(units.revenue(unit, treated[i])) -
                             static_cast<double>(units.revenue(unit, rules.control));
      double cost =
          static_cast<double>(units.cost(unit, treated[i])) - static_cast<double>(units.cost(unit, rules.control));
      if (!rules.price.empty()) cost = rules.price[treated[i]] - rules.price[rules.control];
      stats(unit, i) = profit ? rules.margin * revenue - cost : revenue;
      stats(unit, treated.size() + i) = cost;
    }
    stats(unit, sums.width() - 1) = 1.0;
  }
  return stats;
}

// What orders the levels of categories: the value of the treated arms together.
std::vector<double> target_of(core::MatrixView<const double> stats, std::size_t num_treated) {
  std::vector<double> target(stats.rows);
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    for (std::size_t arm = 0; arm < num_treated; ++arm) target[unit] += stats(unit, arm);
  }
  return target;
}

std::size_t least_units(std::size_t num_units, double share) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(num_units))));
}

GrowingTree grown_tree(const SplitColumns& columns, core::MatrixView<const double> stats, const ArmSums& arms,
                       const DepthTwo& start, double multiplier, std::size_t least, core::RunContext& context) {
  GrowingTree tree(columns, stats);
  if (start.root) {
    tree.split(0, *start.root);
    const std::size_t yes = tree.child(0, true);
    const std::size_t no = tree.child(0, false);
    if (start.yes) tree.split(yes, *start.yes);
    if (start.no) tree.split(no, *start.no);
  }
  GrowOptions options;
  options.most_leaves = kMostLeaves;
  options.least_units = least;
  options.least_share = kLeastGain;
  tree.grow([&](std::span<const double> sums) { return arms.best(sums.data(), multiplier); }, options, context);
  return tree;
}

// The arms that a leaf may get: control first, then the treated ones that earn min_roi or more where it matters.
struct LeafChoice {
  std::vector<std::vector<LeafOption>> options;  // per leaf
  std::vector<std::vector<std::uint8_t>> arm;    // of each option
};

LeafChoice leaf_choice(const std::vector<std::vector<double>>& leaves, const ArmSums& sums,
                       const std::vector<std::size_t>& treated, const allocate::Rules& rules) {
  LeafChoice choice;
  for (const std::vector<double>& own : leaves) {
    // Beyond the arm that is best at the price min_roi every step earns less than that.
    const std::optional<std::size_t> last = sums.best_arm(own.data(), rules.min_roi);
    const double most_cost =
        rules.min_roi > 0.0 ? (last ? own[sums.num_treated + *last] : 0.0) : std::numeric_limits<double>::infinity();
    choice.options.push_back({{}});
    choice.arm.push_back({static_cast<std::uint8_t>(rules.control)});
    for (std::size_t arm = 0; arm < treated.size(); ++arm) {
      if (own[sums.num_treated + arm] > most_cost) continue;
      choice.options.back().push_back({own[arm], own[sums.num_treated + arm]});
      choice.arm.back().push_back(static_cast<std::uint8_t>(treated[arm]));
    }
  }
  return choice;
}

// A tree whose arms were chosen for a budget.
struct Candidate {
  PolicyTree tree;
  double value = 0.0;
  double cost = 0.0;
};

bool is_better(const Candidate& one, const Candidate& other) {
  if (one.tree.within != other.tree.within) return one.tree.within;
  if (!one.tree.within) return one.cost < other.cost;
  return one.value > other.value;
}

}  // namespace

std::vector<PolicyTree> fit_policy_trees(const PolicyUnits& units, const allocate::Rules& rules,
                                         std::span<const PolicyTarget> targets, core::RunContext& context) {
  const std::vector<std::size_t> treated = treated_arms(units.revenue.cols, rules.control);
  const ArmSums sums(treated.size());
  const core::Matrix<double> stats = arm_stats(units, rules, treated);
  const SplitColumns columns =
      split_columns(units.columns, units.features, target_of(stats.view(), treated.size()), context);
  const std::size_t least = least_units(units.revenue.rows, kLeastShare);
  std::vector<double> prices;
  for (const PolicyTarget& target : targets) {
    for (const double price : kPrices) prices.push_back(std::max(price * target.multiplier, rules.min_roi));
  }
  const std::vector<DepthTwo> starts = best_of_depth_two(columns, stats.view(), sums, prices, least, context);
  const auto num_units = static_cast<double>(units.revenue.rows);
  std::vector<PolicyTree> trees;
  for (std::size_t target = 0; target < targets.size(); ++target) {
    std::optional<Candidate> best;
    for (std::size_t i = 0; i < std::size(kPrices); ++i) {
      const std::size_t place = target * std::size(kPrices) + i;
      if (i > 0 && prices[place] == prices[place - 1]) continue;
      SplitTree tree = grown_tree(columns, stats.view(), sums, starts[place], prices[place], least, context).tree();
      refine_cuts(columns, units.features, stats.view(), sums, prices[place], tree);
      tidy_cuts(units.features, tree);
      const LeafChoice choice = leaf_choice(leaf_sums(tree, units.features, stats.view()), sums, treated, rules);
      const LeafArms chosen = choose_leaf_arms(choice.options, targets[target].budget * num_units);
      std::vector<std::uint8_t> arm;
      for (std::size_t leaf = 0; leaf < chosen.option.size(); ++leaf)
        arm.push_back(choice.arm[leaf][chosen.option[leaf]]);
      join_equal(tree, arm);
      Candidate candidate{{tree, arm, prices[place], chosen.within, {}}, chosen.value, chosen.cost};
      if (!best || is_better(candidate, *best)) best = std::move(candidate);
    }
    best->tree.words = in_words(best->tree.tree, units.columns, columns.traits);
    trees.push_back(std::move(best->tree));
  }
  return trees;
}

SegmentTree fit_segment_tree(const PolicyUnits& units, std::size_t control, core::RunContext& context) {
  const std::vector<std::size_t> treated = treated_arms(units.revenue.cols, control);
  core::Matrix<double> stats(units.revenue.rows, treated.size() + 1);
  for (std::size_t unit = 0; unit < stats.rows(); ++unit) {
    for (std::size_t i = 0; i < treated.size(); ++i)
      stats(unit, i) =
          static_cast<double>(units.revenue(unit, treated[i])) - static_cast<double>(units.revenue(unit, control));
    stats(unit, treated.size()) = 1.0;
  }
  const SplitColumns columns =
      split_columns(units.columns, units.features, target_of(std::as_const(stats).view(), treated.size()), context);
  GrowingTree tree(columns, std::as_const(stats).view());
  GrowOptions options;
  options.most_leaves = kMostSegments;
  options.least_units = least_units(stats.rows(), kLeastSegment);
  options.least_share = 0.02;
  // Squared sums over counts: splits lower the squared distance from the leaves' means.
  tree.grow(
      [&](std::span<const double> sums) {
        double value = 0.0;
        for (std::size_t arm = 0; arm + 1 < sums.size(); ++arm) value += sums[arm] * sums[arm];
        return value / sums.back();
      },
      options, context);
  SplitTree found = tree.tree();
  tidy_cuts(units.features, found);
  return {found, in_words(found, units.columns, columns.traits)};
}

}  // namespace dfcl::policy
