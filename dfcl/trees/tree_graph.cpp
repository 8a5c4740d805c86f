// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/tree_graph.h"

#include <limits>

#include "dfcl/io/onnx/graph_columns.h"

namespace dfcl::trees {
namespace {

using Attributes = io::OnnxGraph::Attributes;

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr float kEverything = std::numeric_limits<float>::max();

}  // namespace

GraphInputs::GraphInputs(const std::vector<FeatureBins>& bins, const std::vector<data::FeatureColumn>& features)
    : bins_(bins), features_(features) {
  for (const FeatureBins& feature : bins) place_.push_back(feature.categorical ? -1 : num_numbers_++);
}

GraphInputs::Comparison GraphInputs::compare(const Node& split, std::span<const BinSet> sets) {
  const FeatureBins& bins = bins_[split.feature];
  if (!bins.categorical && split.set == 0) {
    const std::size_t last = split.last_left;  // bin b holds values up to cut b - 1
    const float most = last == 0 ? kNothing : last <= bins.cuts.size() ? bins.cuts[last - 1] : kEverything;
    return {place_[split.feature], most, split.missing_left != 0};
  }
  BinSet left = {};
  for (std::size_t bin = 0; bin < 256; ++bin) {
    if (goes_left(split, sets, static_cast<std::uint8_t>(bin))) left[bin >> 6] |= std::uint64_t{1} << (bin & 63);
  }
  const auto [entry, is_new] =
      column_of_set_.try_emplace({split.feature, left}, num_numbers_ + static_cast<std::int64_t>(sets_.size()));
  if (is_new) sets_.emplace_back(split.feature, left);
  return {entry->second, 0.5f, false};
}

std::string GraphInputs::add_to(io::OnnxGraph& graph, const std::vector<double>& missing) const {
  std::vector<std::string> parts;
  const io::GraphNumbers numbers = io::graph_numbers(graph, features_, missing);
  if (!numbers.raw.empty()) {
    const std::string nan = graph.scalar(std::numeric_limits<float>::quiet_NaN());
    parts.push_back(graph.node("Where", {numbers.is_missing, nan, numbers.raw}));
  }
  std::map<std::size_t, std::string> codes;  // of each category that trees look at
  for (const auto& [feature, left] : sets_) {
    const FeatureBins& bins = bins_[feature];
    const auto goes_right = [&set = left](std::uint8_t bin) {
      return ((set[bin >> 6] >> (bin & 63)) & 1) != 0 ? 0.0f : 1.0f;
    };
    if (!codes.contains(feature)) codes[feature] = io::graph_codes(graph, features_[feature], missing);
    std::vector<float> of_code;  // and of a missing level, last
    for (const std::uint8_t bin : bins.level_bin) of_code.push_back(goes_right(bin));
    of_code.push_back(goes_right(0));
    const std::string table = graph.floats(of_code, {static_cast<std::int64_t>(of_code.size())});
    parts.push_back(graph.node("Gather", {table, codes[feature]}));
  }
  if (parts.empty()) {  // no tree looks at anything: a column, so that there are as many rows as units
    const std::string code = io::graph_codes(graph, features_.front(), missing);
    return graph.node("Cast", {code}, Attributes().number("to", 1));
  }
  return parts.size() == 1 ? parts.front() : graph.node("Concat", parts, Attributes().number("axis", 1));
}

std::size_t TreeEnsemble::add_node() {
  const std::size_t place = nodes_.tree.size();
  std::int64_t number = 0;  // within its tree
  if (place > 0 && nodes_.tree[place - 1] == num_trees_) number = nodes_.node[place - 1] + 1;
  nodes_.tree.push_back(num_trees_);
  nodes_.node.push_back(number);
  for (std::vector<std::int64_t>* numbers : {&nodes_.column, &nodes_.left, &nodes_.right, &nodes_.missing_left})
    numbers->push_back(0);
  nodes_.most_left.push_back(0.0f);
  nodes_.mode.emplace_back("LEAF");
  return place;
}

void TreeEnsemble::add_tree(std::span<const Node> nodes, std::span<const BinSet> sets, std::uint32_t root, Known known,
                            const LeafValues& values) {
  const auto decided = [&](std::uint32_t place) {
    while (nodes[place].feature != kLeaf && nodes[place].feature == known.feature)
      place = nodes[place].next + (goes_left(nodes[place], sets, known.bin) ? 0 : 1);
    return place;
  };
  // A lone leaf is a constant: runtimes do not agree on trees of one node.
  if (const Node& top = nodes[decided(root)]; top.feature == kLeaf) {
    std::vector<LeafValue> of_all;
    values(top.next, of_all);
    for (const LeafValue& value : of_all) constants_[value.target] += static_cast<double>(value.value);
    return;
  }
  struct Step {
    std::uint32_t from;
    std::size_t to;
  };
  std::vector<Step> open = {{root, add_node()}};
  std::vector<LeafValue> of_leaf;
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    const Node& node = nodes[decided(from)];
    if (node.feature == kLeaf) {
      of_leaf.clear();
      values(node.next, of_leaf);
      for (const LeafValue& value : of_leaf) {
        leaves_.tree.push_back(num_trees_);
        leaves_.node.push_back(nodes_.node[to]);
        leaves_.target.push_back(value.target);
        leaves_.value.push_back(value.value);
      }
      continue;
    }
    const GraphInputs::Comparison comparison = inputs_.compare(node, sets);
    const std::size_t left = add_node();
    const std::size_t right = add_node();
    nodes_.mode[to] = "BRANCH_LEQ";
    nodes_.column[to] = comparison.column;
    nodes_.most_left[to] = comparison.most_left;
    nodes_.missing_left[to] = comparison.missing_left ? 1 : 0;
    nodes_.left[to] = nodes_.node[left];
    nodes_.right[to] = nodes_.node[right];
    open.push_back({node.next, left});
    open.push_back({node.next + 1, right});
  }
  ++num_trees_;
}

std::string TreeEnsemble::add_to(io::OnnxGraph& graph, const std::string& matrix, std::size_t num_targets,
                                 std::vector<float> base) const {
  for (const auto& [target, value] : constants_) {
    float& of_target = base[static_cast<std::size_t>(target)];
    of_target = static_cast<float>(static_cast<double>(of_target) + value);
  }
  if (num_trees_ == 0) {  // a node of no trees is none
    const std::string row = graph.floats(base, {1, static_cast<std::int64_t>(num_targets)});
    const std::string zeros = graph.node("Mul", {io::graph_chosen(graph, matrix, {0}), graph.scalar(0.0f)});
    return graph.node("Add", {graph.node("Where", {graph.node("IsNaN", {zeros}), graph.scalar(0.0f), zeros}), row});
  }
  Attributes attributes;
  attributes.number("n_targets", static_cast<std::int64_t>(num_targets))
      .reals("base_values", base)
      .numbers("nodes_treeids", nodes_.tree)
      .numbers("nodes_nodeids", nodes_.node)
      .numbers("nodes_featureids", nodes_.column)
      .texts("nodes_modes", nodes_.mode)
      .reals("nodes_values", nodes_.most_left)
      .numbers("nodes_truenodeids", nodes_.left)
      .numbers("nodes_falsenodeids", nodes_.right)
      .numbers("nodes_missing_value_tracks_true", nodes_.missing_left)
      .numbers("target_treeids", leaves_.tree)
      .numbers("target_nodeids", leaves_.node)
      .numbers("target_ids", leaves_.target)
      .reals("target_weights", leaves_.value);
  return graph.node("TreeEnsembleRegressor", {matrix}, attributes, "ai.onnx.ml");
}

}  // namespace dfcl::trees
