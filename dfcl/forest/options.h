// SPDX-License-Identifier: Apache-2.0
//
// How a causal forest is grown: one aggregate, checked once. The defaults are the published setting (256 trees, leaves
// of 300 units, depth 24) and, where nothing was published, what is customary for generalised random forests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dfcl::forest {

// Trees that share a half of the units; the spread between such groups tells the variance of the effects.
inline constexpr std::size_t kGroupTrees = 4;

struct ForestOptions {
  std::size_t trees = 256;  // more trees: less chance in the result, at a price that is linear in time and file
  std::size_t depth = 24;   // of splits from the root to a leaf, at most
  // Units in a leaf, both halves of the tree counted: an honest split leaves at least half as many splitting units on
  // each side.
  std::size_t min_leaf = 300;
  // Units of every arm, likewise; checked on both halves. Effects in a leaf without an arm would mean nothing.
  std::size_t min_leaf_per_arm = 20;
  // Features tried at a node; 0: all. On simulated trials with 107 features (tree-shaped effects, 60,000 units) all
  // got 80 % of the oracle's increment where the customary square root plus 20 got 73 %; smooth effects did not care.
  std::size_t mtry = 0;
  // One half of a tree's units chooses its splits, the other fills its leaves: effects are not overstated where splits
  // followed noise, and standard errors hold. Else all of them do both: more units for either.
  bool honest = true;
  double subsample = 0.5;  // share of the units a tree sees
  double balance = 0.05;   // a split leaves at least this share of the node on each side
  std::size_t bins = 64;   // of a number, that for missing values among them; categories have a bin for each level
  std::uint64_t seed = 0;
};

// Throws core::Error of kind usage that names the option, the value and the bound, also where a tree sees fewer units
// than one leaf needs, and of kind data where there are fewer than two arms.
void validate(const ForestOptions& options, std::size_t num_units, std::size_t num_arms);

// For a leaf in every tree.
bool enough_units(const ForestOptions& options, std::size_t num_units);

// The least number of units that split, or fill, where a leaf is to have so many: half of them if honest.
std::size_t least_of_part(const ForestOptions& options, std::size_t least);

// Of so many features.
std::size_t features_per_node(const ForestOptions& options, std::size_t num_features);

}  // namespace dfcl::forest
