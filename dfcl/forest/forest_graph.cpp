// SPDX-License-Identifier: Apache-2.0
//
// A forest as nodes of an ONNX graph: one ensemble sums weight, revenue and cost of each arm over the leaves of a unit;
// the rest is arithmetic of columns (predict.h). The same as predict() up to the rounding of float32.
#include <cmath>

#include "dfcl/forest/forest_predictor.h"
#include "dfcl/io/onnx/graph_columns.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/learn/mean_graph.h"
#include "dfcl/trees/tree_graph.h"

namespace dfcl::forest {
namespace {

using Attributes = io::OnnxGraph::Attributes;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

// The nearest rising sequence by weighted squares, max over first <= arm of min over last >= arm of the weighted means
// from first to last, which is what pooling neighbours (learn/rising.h) comes to. weights, values: units x arms.
std::string rising(io::OnnxGraph& graph, const std::string& weights, const std::string& values, std::size_t num_arms) {
  const std::size_t num_blocks = num_arms * (num_arms + 1) / 2;
  std::vector<float> is_member(num_arms * num_blocks, 0.0f);
  std::vector<std::vector<std::int64_t>> block(num_arms, std::vector<std::int64_t>(num_arms));
  std::size_t next = 0;
  for (std::size_t first = 0; first < num_arms; ++first) {
    for (std::size_t last = first; last < num_arms; ++last, ++next) {
      block[first][last] = whole(next);
      for (std::size_t arm = first; arm <= last; ++arm) is_member[arm * num_blocks + next] = 1.0f;
    }
  }
  const std::string members = graph.floats(is_member, {whole(num_arms), whole(num_blocks)});
  const std::string means = graph.node("Div", {graph.node("MatMul", {graph.node("Mul", {weights, values}), members}),
                                               graph.node("MatMul", {weights, members})});
  const auto along_arms = Attributes().numbers("axes", {1});
  std::vector<std::string> arms;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    std::vector<std::string> least;
    for (std::size_t first = 0; first <= arm; ++first) {
      const std::vector<std::int64_t> columns(block[first].begin() + whole(arm), block[first].end());
      least.push_back(graph.node("ReduceMin", {io::graph_chosen(graph, means, columns)}, along_arms));
    }
    arms.push_back(least.size() == 1 ? least.front() : graph.node("Max", least));
  }
  return graph.node("Concat", arms, Attributes().number("axis", 1));
}

// apply_rules (arm_rules.h) for all units.
std::string ruled(io::OnnxGraph& graph, const ArmRules& rules, std::size_t control, std::size_t num_arms,
                  const std::string& weights, std::string values) {
  std::vector<float> is_paid(num_arms, 1.0f);
  is_paid[control] = 0.0f;
  const auto free_control = [&] {
    if (rules.control_is_free) values = graph.node("Mul", {values, graph.floats(is_paid, {1, whole(num_arms)})});
  };
  free_control();
  if (rules.rises) values = rising(graph, weights, values, num_arms);
  const double least = rules.rises && rules.control_is_free ? std::max(rules.least, 0.0) : rules.least;
  if (std::isfinite(least)) values = graph.node("Max", {values, graph.scalar(static_cast<float>(least))});
  if (std::isfinite(rules.most)) values = graph.node("Min", {values, graph.scalar(static_cast<float>(rules.most))});
  free_control();
  return values;
}

// base: units x 1; response: units x arms.
std::string linked(io::OnnxGraph& graph, Link link, double least_base, const std::string& base,
                   const std::string& response) {
  if (link != Link::ratio) return graph.node("Add", {base, response});
  const std::string factor = graph.node("Add", {response, graph.scalar(1.0f)});
  return graph.node("Mul", {graph.node("Max", {base, graph.scalar(static_cast<float>(least_base))}),
                            graph.node("Max", {factor, graph.scalar(0.0f)})});
}

// Weights, revenues and costs of the arms, summed over trees.
std::string sums(io::OnnxGraph& graph, const Forest& forest, const learn::Schema& schema,
                 const std::vector<double>& missing) {
  trees::GraphInputs inputs(forest.bins, schema.features);
  trees::TreeEnsemble ensemble(inputs);
  const std::size_t num_arms = forest.num_arms;
  for (const std::uint32_t root : forest.roots) {
    ensemble.add_tree(forest.nodes, forest.sets, root, {}, [&](std::uint32_t leaf, std::vector<trees::LeafValue>& to) {
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        const LeafArm& found = forest.leaves[leaf * num_arms + arm];
        to.push_back({whole(arm), found.weight});
        to.push_back({whole(num_arms + arm), found.revenue});
        to.push_back({whole(2 * num_arms + arm), found.cost});
      }
    });
  }
  const std::string matrix = inputs.add_to(graph, missing);
  return ensemble.add_to(graph, matrix, 3 * num_arms, std::vector<float>(3 * num_arms, 0.0f));
}

}  // namespace

learn::GraphOutcomes ForestPredictor::add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                                   const std::vector<double>& missing) const {
  const learn::GraphOutcomes base = learn::add_mean_to_graph(base_, graph, schema, missing);
  const std::size_t num_arms = forest_.num_arms;
  const std::string all = sums(graph, forest_, schema, missing);
  const auto part = [&](std::size_t first) {
    std::vector<std::int64_t> columns;
    for (std::size_t arm = 0; arm < num_arms; ++arm) columns.push_back(whole(first * num_arms + arm));
    return io::graph_chosen(graph, all, columns);
  };
  const std::string found = part(0);
  const std::string is_known = graph.node("Greater", {found, graph.scalar(0.0f)});
  const auto or_overall = [&](const std::string& value, float LeafArm::*member, float least) {
    std::vector<float> overall;
    for (const LeafArm& arm : forest_.overall) overall.push_back(std::max(arm.*member, least));
    return graph.node("Where", {is_known, value, graph.floats(overall, {1, whole(num_arms)})});
  };
  const float lowest = std::numeric_limits<float>::lowest();
  const std::string weights = or_overall(found, &LeafArm::weight, 1e-30f);
  const auto outcome = [&](std::size_t place, float LeafArm::*member, Link link, double least_base,
                           const std::string& of_base, const ArmRules& rules) {
    const std::string response = graph.node("Div", {or_overall(part(place), member, lowest), weights});
    const std::string mean = graph.node("ReduceMean", {of_base}, Attributes().numbers("axes", {1}));
    return ruled(graph, rules, forest_.control, num_arms, weights, linked(graph, link, least_base, mean, response));
  };
  return {outcome(1, &LeafArm::revenue, forest_.revenue_link, forest_.least_base_revenue, base.revenue,
                  arm_rules(facts_.revenue)),
          outcome(2, &LeafArm::cost, forest_.cost_link, forest_.least_base_cost, base.cost, arm_rules(facts_.cost))};
}

}  // namespace dfcl::forest
