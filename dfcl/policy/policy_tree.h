// SPDX-License-Identifier: Apache-2.0
//
// A plan as a short rule: a tree of at most kMostLeaves leaves over the features of units, each with one arm. It is
// fitted to predicted scores, value - multiplier x cost: the best tree of depth two among all splits of split_columns.h
// (depth_two.h), then best-first while a split gains kLeastGain of the whole. A tree parts units less finely than the
// plan, so at the plan's multiplier it spends less than the budget: trees at lower ones are fitted too, the arms of
// each are chosen to earn most within the budget by predicted costs (leaf_arms.h), and the tree that earns most is
// kept. Outcomes are never seen. Time: 0.6 s of a processor for 32,768 units, 24 features, 5 arms and 3 budgets;
// more units are sampled. Memory: about 200 bytes a sampled unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/policy/question.h"

namespace dfcl::policy {

inline constexpr std::size_t kMostLeaves = 8;
inline constexpr std::size_t kMostSampled = 32'768;  // units to which trees are fitted
inline constexpr double kLeastShare = 0.01;          // of the units, in a leaf
inline constexpr double kLeastGain = 0.01;  // of what the tree earns over one leaf, for a split beyond depth two

// Units with their predictions, in an order that does not depend on that of any file. Views must outlive the fit.
struct PolicyUnits {
  const std::vector<data::FeatureColumn>& columns;
  core::MatrixView<const float> features;  // units x features
  core::MatrixView<const float> revenue;   // units x arms, predicted
  core::MatrixView<const float> cost;      // units x arms, predicted
  std::span<const double> weight = {};     // per unit, of mean 1: how many it stands for; empty: all alike
};

// A plan to put as a rule. Without a limit the tree is the best at the multiplier itself.
struct PolicyTarget {
  double multiplier = 0.0;  // of the plan
  double budget = 0.0;      // cost over control per unit; infinite: no limit
};

struct PolicyTree {
  SplitTree tree;
  std::vector<std::uint8_t> arm;  // per leaf
  double multiplier = 0.0;        // at which it was fitted
  bool within = true;             // false: even the cheapest choice of arms is predicted to exceed the budget
  data::QuestionTree words;
  std::vector<FeatureTraits> traits = {};  // of the features, for words

  std::uint8_t arm_of(std::span<const float> features) const { return arm[tree.leaf_of(features)]; }
};

// One tree for each target. Of the rules control, objective, margin and min_roi count.
std::vector<PolicyTree> fit_policy_trees(const PolicyUnits& units, const allocate::Rules& rules,
                                         std::span<const PolicyTarget> targets, core::RunContext& context);

// Value and cost over control of every arm, summed over the units of each leaf: leaves x treated arms, as the fit sums
// them. leaf: per unit. revenue and cost: units x arms.
std::vector<std::vector<double>> predicted_leaf_sums(std::span<const std::uint8_t> leaf, std::size_t num_leaves,
                                                     core::MatrixView<const float> revenue,
                                                     core::MatrixView<const float> cost, const allocate::Rules& rules);

// Chooses the arms of a tree anew by such sums over other units than it was fitted to, so that they keep budget_total
// (cost over control); leaves side by side that then get the same arm become one. Returns the new leaf of each old one.
std::vector<std::uint8_t> choose_arms(const std::vector<std::vector<double>>& leaf_sums, const allocate::Rules& rules,
                                      double budget_total, PolicyTree& tree);

// The segments in which predicted effects differ most: a tree of at most kMostSegments leaves that parts the predicted
// uplifts of all arms (squared distance from the leaf's mean), each leaf with kLeastSegment of the units or more.
inline constexpr std::size_t kMostSegments = 6;
inline constexpr double kLeastSegment = 0.05;
struct SegmentTree {
  SplitTree tree;
  data::QuestionTree words;
};
SegmentTree fit_segment_tree(const PolicyUnits& units, std::size_t control, core::RunContext& context);

}  // namespace dfcl::policy
