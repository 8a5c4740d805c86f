// SPDX-License-Identifier: Apache-2.0
//
// Trees as nodes of an ONNX graph: what the leaves of a unit hold, summed over the trees (TreeEnsembleRegressor).
// A split of a number compares its value with the cut of the bin; a split by category compares a column of 0 and 1 that
// says whether the unit's level goes right, one for each distinct set of levels. Trees go down the same way as leaf_of.
// Memory: about 40 bytes a node, and in the graph 4 bytes a unit and distinct set.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/trees/feature_bins.h"
#include "dfcl/trees/tree.h"

namespace dfcl::trees {

// The columns that trees compare; shared by all trees over the same bins.
class GraphInputs {
 public:
  // Both must outlive it.
  GraphInputs(const std::vector<FeatureBins>& bins, const std::vector<data::FeatureColumn>& features);

  struct Comparison {
    std::int64_t column = 0;
    float most_left = 0.0f;  // at most this goes left
    bool missing_left = false;
  };
  Comparison compare(const Node& split, std::span<const BinSet> sets);

  // The matrix, units x columns; after all comparisons.
  std::string add_to(io::OnnxGraph& graph, const std::vector<double>& missing) const;

 private:
  const std::vector<FeatureBins>& bins_;
  const std::vector<data::FeatureColumn>& features_;
  std::vector<std::int64_t> place_;                                       // of numbers
  std::vector<std::pair<std::size_t, BinSet>> sets_;                      // feature, bins that go left
  std::map<std::pair<std::size_t, BinSet>, std::int64_t> column_of_set_;  // after the numbers
  std::int64_t num_numbers_ = 0;
};

// What a leaf adds to the sums.
struct LeafValue {
  std::int64_t target = 0;
  float value = 0.0f;
};

class TreeEnsemble {
 public:
  explicit TreeEnsemble(GraphInputs& inputs) : inputs_(inputs) {}

  // A column whose bin is known, so that splits by it are decided now.
  struct Known {
    std::size_t feature = kLeaf;
    std::uint8_t bin = 0;
  };
  using LeafValues = std::function<void(std::uint32_t leaf, std::vector<LeafValue>& to)>;
  void add_tree(std::span<const Node> nodes, std::span<const BinSet> sets, std::uint32_t root, Known known,
                const LeafValues& values);

  // units x targets: base + the sums.
  std::string add_to(io::OnnxGraph& graph, const std::string& matrix, std::size_t num_targets,
                     std::vector<float> base) const;

 private:
  struct Nodes {
    std::vector<std::int64_t> tree, node, column, left, right, missing_left;
    std::vector<float> most_left;
    std::vector<std::string> mode;
  };
  struct Leaves {
    std::vector<std::int64_t> tree, node, target;
    std::vector<float> value;
  };
  std::size_t add_node();

  GraphInputs& inputs_;
  Nodes nodes_;
  Leaves leaves_;
  std::int64_t num_trees_ = 0;
  std::map<std::int64_t, double> constants_;  // per target: of trees that are a single leaf
};

}  // namespace dfcl::trees
