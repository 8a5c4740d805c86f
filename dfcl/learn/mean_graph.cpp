// SPDX-License-Identifier: Apache-2.0
#include "dfcl/learn/mean_graph.h"

namespace dfcl::learn {

GraphOutcomes add_mean_to_graph(std::span<const WeightedPredictor> predictors, io::OnnxGraph& graph,
                                const Schema& schema, const std::vector<double>& missing) {
  if (predictors.size() == 1) return predictors.front().predictor->add_to_graph(graph, schema, missing);
  double total = 0.0;
  for (const WeightedPredictor& part : predictors) total += part.weight;
  std::vector<std::string> revenues, costs;
  for (const WeightedPredictor& part : predictors) {
    const GraphOutcomes outcomes = part.predictor->add_to_graph(graph, schema, missing);
    const std::string share = graph.scalar(static_cast<float>(part.weight / total));
    revenues.push_back(graph.node("Mul", {outcomes.revenue, share}));
    costs.push_back(graph.node("Mul", {outcomes.cost, share}));
  }
  return {graph.node("Sum", revenues), graph.node("Sum", costs)};
}

}  // namespace dfcl::learn
