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

// Of one unit, as ArmSums has it: value and cost of each treated arm over control, and 1.
void set_stats(std::span<const float> revenue, std::span<const float> cost, const allocate::Rules& rules,
               const std::vector<std::size_t>& treated, std::span<double> stats) {
  const bool profit = rules.objective == allocate::Objective::profit;
  for (std::size_t i = 0; i < treated.size(); ++i) {
    const double more = static_cast<double>(revenue[treated[i]]) - static_cast<double>(revenue[rules.control]);
    double spent = static_cast<double>(cost[treated[i]]) - static_cast<double>(cost[rules.control]);
    if (!rules.price.empty()) spent = rules.price[treated[i]] - rules.price[rules.control];
    stats[i] = profit ? rules.margin * more - spent : more;
    stats[treated.size() + i] = spent;
  }
  stats[2 * treated.size()] = 1.0;
}

// The price below which no increment is taken.
double least_price(const allocate::Rules& rules) {
  const bool profit = rules.objective == allocate::Objective::profit;
  return std::max(0.0, profit && rules.min_roi > 0.0 ? rules.margin * rules.min_roi - 1.0 : rules.min_roi);
}

void count_by_weight(const PolicyUnits& units, core::Matrix<double>& stats) {
  if (units.weight.empty()) return;
  for (std::size_t unit = 0; unit < stats.rows(); ++unit) {
    for (double& sum : stats.row(unit)) sum *= units.weight[unit];
  }
}

core::Matrix<double> arm_stats(const PolicyUnits& units, const allocate::Rules& rules,
                               const std::vector<std::size_t>& treated) {
  core::Matrix<double> stats(units.revenue.rows, ArmSums(treated.size()).width());
  for (std::size_t unit = 0; unit < units.revenue.rows; ++unit)
    set_stats(units.revenue.row(unit), units.cost.row(unit), rules, treated, stats.row(unit));
  count_by_weight(units, stats);
  return stats;
}

// What orders the levels of categories: the value of the treated arms together, of one unit.
std::vector<double> target_of(core::MatrixView<const double> stats, std::size_t num_treated) {
  std::vector<double> target(stats.rows);
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    for (std::size_t arm = 0; arm < num_treated; ++arm) target[unit] += stats(unit, arm) / stats(unit, stats.cols - 1);
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

// The arms that a leaf may get: control first, then the treated ones that earn enough; worth their value less
// price x cost.
struct LeafChoice {
  std::vector<std::vector<LeafOption>> options;  // per leaf
  std::vector<std::vector<std::uint8_t>> arm;    // of each option
};

LeafChoice leaf_choice(const std::vector<std::vector<double>>& leaves, const ArmSums& sums,
                       const std::vector<std::size_t>& treated, const allocate::Rules& rules, double price) {
  LeafChoice choice;
  const double least = least_price(rules);
  for (const std::vector<double>& own : leaves) {
    // Beyond the arm that is best at the least price every step earns less than that.
    const std::optional<std::size_t> last = sums.best_arm(own.data(), least);
    const double most_cost =
        rules.min_roi > 0.0 ? (last ? own[sums.num_treated + *last] : 0.0) : std::numeric_limits<double>::infinity();
    choice.options.push_back({{}});
    choice.arm.push_back({static_cast<std::uint8_t>(rules.control)});
    for (std::size_t arm = 0; arm < treated.size(); ++arm) {
      if (own[sums.num_treated + arm] > most_cost) continue;
      const double cost = own[sums.num_treated + arm];
      choice.options.back().push_back({own[arm] - price * cost, cost});
      choice.arm.back().push_back(static_cast<std::uint8_t>(treated[arm]));
    }
  }
  return choice;
}

// Without a limit nothing but the price keeps arms from being given to all.
double price_of_choice(double budget, double multiplier) { return std::isfinite(budget) ? 0.0 : multiplier; }

// Sums of many costs are rounded; a budget is kept to the last digit.
double kept_budget(double budget) { return std::isfinite(budget) ? budget - 1e-9 * std::abs(budget) : budget; }

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
    for (const double price : kPrices) {
      const bool has_limit = std::isfinite(target.budget);
      prices.push_back(std::max((has_limit ? price : 1.0) * target.multiplier, least_price(rules)));
    }
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
      const LeafChoice choice = leaf_choice(leaf_sums(tree, units.features, stats.view()), sums, treated, rules,
                                            price_of_choice(targets[target].budget, prices[place]));
      const LeafArms chosen = choose_leaf_arms(choice.options, kept_budget(targets[target].budget * num_units));
      std::vector<std::uint8_t> arm;
      for (std::size_t leaf = 0; leaf < chosen.option.size(); ++leaf)
        arm.push_back(choice.arm[leaf][chosen.option[leaf]]);
      join_equal(tree, arm);
      Candidate candidate{{tree, arm, prices[place], chosen.within, {}, {}}, chosen.value, chosen.cost};
      if (!best || is_better(candidate, *best)) best = std::move(candidate);
    }
    best->tree.traits = columns.traits;
    best->tree.words = in_words(best->tree.tree, units.columns, columns.traits);
    trees.push_back(std::move(best->tree));
  }
  return trees;
}

std::vector<std::vector<double>> predicted_leaf_sums(std::span<const std::uint8_t> leaf, std::size_t num_leaves,
                                                     core::MatrixView<const float> revenue,
                                                     core::MatrixView<const float> cost, const allocate::Rules& rules) {
  const std::vector<std::size_t> treated = treated_arms(revenue.cols, rules.control);
  std::vector<double> stats(ArmSums(treated.size()).width());
  std::vector<std::vector<double>> sums(num_leaves, stats);
  for (std::size_t unit = 0; unit < leaf.size(); ++unit) {
    set_stats(revenue.row(unit), cost.row(unit), rules, treated, stats);
    for (std::size_t i = 0; i < stats.size(); ++i) sums[leaf[unit]][i] += stats[i];
  }
  return sums;
}

std::vector<std::uint8_t> choose_arms(const std::vector<std::vector<double>>& leaf_sums, const allocate::Rules& rules,
                                      double budget_total, PolicyTree& tree) {
  const std::size_t num_arms = (leaf_sums.front().size() - 1) / 2 + 1;
  const std::vector<std::size_t> treated = treated_arms(num_arms, rules.control);
  const LeafChoice choice =
      leaf_choice(leaf_sums, ArmSums(treated.size()), treated, rules, price_of_choice(budget_total, tree.multiplier));
  const LeafArms chosen = choose_leaf_arms(choice.options, kept_budget(budget_total));
  tree.within = chosen.within;
  tree.arm.clear();
  for (std::size_t leaf = 0; leaf < chosen.option.size(); ++leaf)
    tree.arm.push_back(choice.arm[leaf][chosen.option[leaf]]);
  return join_equal(tree.tree, tree.arm);
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
  count_by_weight(units, stats);
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
