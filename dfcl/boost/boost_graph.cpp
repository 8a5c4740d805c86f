// SPDX-License-Identifier: Apache-2.0
//
// Boosted trees as nodes of an ONNX graph: for each bag an ensemble whose targets are the arms. A tree that splits by
// arm is added once for each arm, with those splits decided. The same as predict() up to the rounding of float32.
#include <algorithm>

#include "dfcl/boost/binned_units.h"
#include "dfcl/boost/boost_predictor.h"
#include "dfcl/boost/link.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/trees/tree_graph.h"

namespace dfcl::boost {
namespace {

using trees::TreeEnsemble;

bool splits_by(const Tree& tree, std::size_t column) {
  return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                     [&](const trees::Node& node) { return node.feature == column; });
}

TreeEnsemble ensemble_of(const Bag& bag, std::size_t arm_column, trees::GraphInputs& inputs) {
  TreeEnsemble ensemble(inputs);
  const std::size_t num_arms = bag.base.size();
  for (const Tree& tree : bag.trees) {
    if (!splits_by(tree, arm_column)) {
      ensemble.add_tree(tree.nodes, tree.sets, 0, {}, [&](std::uint32_t leaf, std::vector<trees::LeafValue>& to) {
        for (std::size_t arm = 0; arm < num_arms; ++arm)
          to.push_back({static_cast<std::int64_t>(arm), tree.values[leaf]});
      });
      continue;
    }
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      ensemble.add_tree(tree.nodes, tree.sets, 0, {arm_column, arm_bin(arm)},
                        [&](std::uint32_t leaf, std::vector<trees::LeafValue>& to) {
                          to.push_back({static_cast<std::int64_t>(arm), tree.values[leaf]});
                        });
    }
  }
  return ensemble;
}

std::string linked(io::OnnxGraph& graph, loss::OutcomeKind kind, const std::string& raw) {
  if (kind == loss::OutcomeKind::real) return raw;
  if (kind == loss::OutcomeKind::binary) return graph.node("Sigmoid", {raw});
  return graph.node("Exp", {graph.node("Min", {raw, graph.scalar(kMostRaw)})});
}

struct Bags {
  const std::vector<Bag>& bags;
  const std::vector<TreeEnsemble>& ensembles;
  const learn::OutcomeFacts& facts;
  const learn::OutcomeScale& scale;
};

// center + scale x the mean over bags, within what is known.
std::string outcome(io::OnnxGraph& graph, const std::string& matrix, const Bags& of) {
  std::vector<std::string> members;
  for (std::size_t bag = 0; bag < of.bags.size(); ++bag) {
    const std::vector<float>& base = of.bags[bag].base;
    members.push_back(linked(graph, of.facts.kind, of.ensembles[bag].add_to(graph, matrix, base.size(), base)));
  }
  const std::string sum = members.size() == 1 ? members.front() : graph.node("Sum", members);
  const auto factor = static_cast<float>(of.scale.scale / static_cast<double>(members.size()));
  std::string value = graph.node("Mul", {sum, graph.scalar(factor)});
  value = graph.node("Add", {value, graph.scalar(static_cast<float>(of.scale.center))});
  const bool rises = of.facts.arm_shape != learn::ArmShape::plain;
  if (of.facts.non_negative || (of.facts.control_is_free && rises))
    value = graph.node("Max", {value, graph.scalar(0.0f)});
  if (!of.facts.control_is_free) return value;
  std::vector<float> is_paid(of.bags.front().base.size(), 1.0f);
  is_paid[of.facts.control] = 0.0f;
  return graph.node("Mul", {value, graph.floats(is_paid, {1, static_cast<std::int64_t>(is_paid.size())})});
}

}  // namespace

learn::GraphOutcomes BoostPredictor::add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                                  const std::vector<double>& missing) const {
  trees::GraphInputs inputs(parts_.bins, schema.features);
  const auto ensembles = [&](const std::vector<Bag>& bags) {
    std::vector<TreeEnsemble> list;
    for (const Bag& bag : bags) list.push_back(ensemble_of(bag, parts_.bins.size(), inputs));
    return list;
  };
  const std::vector<TreeEnsemble> of_revenue = ensembles(parts_.revenue);
  const std::vector<TreeEnsemble> of_cost = ensembles(parts_.cost);
  const std::string matrix = inputs.add_to(graph, missing);
  const std::string revenue =
      outcome(graph, matrix, {parts_.revenue, of_revenue, parts_.facts.revenue, parts_.scales.revenue});
  if (parts_.cost.empty()) return {revenue, graph.node("Mul", {revenue, graph.scalar(0.0f)})};  // known: set later
  return {revenue, outcome(graph, matrix, {parts_.cost, of_cost, parts_.facts.cost, parts_.scales.cost})};
}

}  // namespace dfcl::boost
