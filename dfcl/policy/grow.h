// SPDX-License-Identifier: Apache-2.0
//
// Shallow trees over split columns: the best split of a set of units, and best-first growth. What a leaf is worth is
// the caller's business: a function of sums over its units (`stats`, the last of which counts them). Time: for each
// leaf one pass over its units and columns. Sums run in the order of the units. Internal to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/policy/question.h"
#include "dfcl/policy/split_columns.h"

namespace dfcl::policy {

using LeafValue = std::function<double(std::span<const double>)>;

// A prefix of an order of a column against the rest.
struct Split {
  std::size_t column = 0;  // place among the columns
  std::size_t order = 0;
  std::size_t length = 0;
};

struct GrowOptions {
  std::size_t most_leaves = 8;
  std::size_t most_depth = 3;
  std::size_t least_units = 1;  // in a leaf
  // A split must gain this share of what the tree has gained over one leaf, with the split.
  double least_share = 0.0;
};

// A tree with the units of its leaves. Starts as one leaf of all units.
class GrowingTree {
 public:
  // stats: units x sums. Both must outlive this.
  GrowingTree(const SplitColumns& columns, core::MatrixView<const double> stats);

  // Splits a leaf (its node); both sides become leaves.
  void split(std::size_t node, const Split& split);
  // Best first, until nothing gains enough.
  void grow(const LeafValue& value, const GrowOptions& options, core::RunContext& context);

  std::span<const std::uint32_t> units(std::size_t node) const { return units_[node]; }
  std::size_t child(std::size_t node, bool yes) const { return yes ? tree_.nodes[node].yes : tree_.nodes[node].no; }
  std::vector<double> sums(std::size_t node) const;
  // Leaves are numbered from left to right.
  const SplitTree& tree() const { return tree_; }

 private:
  struct Found {
    Split split;
    double gain = 0.0;
  };
  std::optional<Found> best_split(std::size_t node, const LeafValue& value, std::size_t least_units,
                                  core::RunContext& context) const;

  const SplitColumns* columns_;
  core::MatrixView<const double> stats_;
  SplitTree tree_;
  std::vector<std::vector<std::uint32_t>> units_;  // per node; of leaves only
  std::vector<std::size_t> depth_;                 // per node
};

}  // namespace dfcl::policy
