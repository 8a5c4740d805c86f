// SPDX-License-Identifier: Apache-2.0
//
// A causal forest for several arms and both outcomes. Each tree sees a share of the units: half of them choose the
// splits (split_search.h), the others fill the leaves with per-arm sums of weight and weight x response
// (working_units.h); without honesty all of them do both. The effects at x use the units in the leaves of x, weighted
// by how often they share a leaf (predict.h). Trees are grown side by side; a tree depends only on the data, the
// options and its number, so the forest is the same for any number of threads.
//
// Time: units x subsample / 2 x features tried x depth x about a nanosecond for a tree. Memory while growing: a byte a
// unit and feature, about 20 bytes a unit, and the histograms of a path from root to leaf for each thread; afterwards
// about 12 bytes a node and 12 bytes a leaf and arm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/features.h"
#include "dfcl/forest/options.h"
#include "dfcl/forest/split_search.h"
#include "dfcl/forest/working_units.h"
#include "dfcl/trees/feature_bins.h"
#include "dfcl/trees/tree.h"

namespace dfcl::forest {

using trees::BinSet;
using trees::FeatureBins;
using trees::kLeaf;
using trees::Node;

// Of one arm in a leaf, each a mean over the leaf's units of all arms.
struct LeafArm {
  float weight = 0.0f;
  float revenue = 0.0f;  // weight x response
  float cost = 0.0f;
  bool operator==(const LeafArm&) const = default;
};

struct Forest {
  std::size_t num_arms = 0;
  std::size_t control = 0;
  Link revenue_link = Link::difference;
  Link cost_link = Link::difference;
  // What decides which units a tree saw.
  std::uint64_t seed = 0;
  double subsample = 0.5;
  // Least base of each outcome under the ratio link, in its currency.
  double least_base_revenue = 0.0;
  double least_base_cost = 0.0;
  std::vector<FeatureBins> bins;
  std::vector<std::uint32_t> roots;  // of the trees, among the nodes
  std::vector<Node> nodes;
  std::vector<BinSet> sets;      // the first is not used
  std::vector<LeafArm> leaves;   // leaves x arms
  std::vector<LeafArm> overall;  // of all units, by arm
  // Of each feature: its share of what all splits are worth beyond chance, by the units that did not choose them.
  std::vector<float> importance;
  bool operator==(const Forest&) const = default;

  std::size_t num_trees() const { return roots.size(); }
  std::size_t num_leaves() const { return num_arms == 0 ? 0 : leaves.size() / num_arms; }
};

// Which part a unit plays in an honest tree; in any other, those that split or fill do both. Units with the same key
// (of one cluster) play the same part.
enum class Part : std::uint8_t { out = 0, splits = 1, fills = 2 };
Part part_of(std::uint64_t seed, double subsample, std::size_t tree, std::uint64_t key);

struct ForestData {
  const std::vector<data::FeatureColumn>& columns;
  core::MatrixView<const float> features;   // all units x features
  std::span<const std::uint32_t> rows;      // the training units among them
  SeenOutcomes seen;                        // of the training units
  std::span<const std::uint32_t> key = {};  // of the training units: cluster or the like; empty: each its own
};

// Throws core::Error of kind usage or data (options.h).
Forest grow_forest(const ForestData& data, const ForestOptions& options, core::RunContext& context);

// Throws core::Error of kind file where the parts do not fit each other: they may come from a file.
void require_consistent(const Forest& forest, const std::string& where);

}  // namespace dfcl::forest
