// SPDX-License-Identifier: Apache-2.0
#include "dfcl/model/export_onnx.h"

#include <fmt/format.h>

#include "dfcl/core/error.h"
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/model/model_file.h"

namespace dfcl::model {
namespace {

// Names in a graph are unique, and these are its own.
void require_free_name(const std::string& feature) {
  if (feature != "revenue" && feature != "cost" && !feature.starts_with("value.") && !feature.starts_with("constant."))
    return;
  throw core::Error({.kind = core::ErrorKind::unavailable,
                     .what = "a feature whose name an ONNX graph of ours uses itself",
                     .found = fmt::format("'{}'", feature),
                     .hint = "rename the column and train again"});
}

std::string weighted_mean(io::OnnxGraph& graph, const std::vector<std::string>& values,
                          const std::vector<learn::WeightedPredictor>& predictors) {
  if (values.size() == 1) return values.front();
  double total = 0.0;
  for (const learn::WeightedPredictor& part : predictors) total += part.weight;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto share = static_cast<float>(predictors[i].weight / total);
    parts.push_back(graph.node("Mul", {values[i], graph.scalar(share)}));
  }
  return graph.node("Sum", parts);
}

// What is known about costs in the place of what was predicted (dfcl/learn/known_costs.h).
std::string known_cost(io::OnnxGraph& graph, const Model& model, const std::string& revenue, const std::string& cost) {
  const data::CostFacts& facts = model.cost_facts;
  if (!facts.is_known()) return cost;
  const std::vector<float> amounts(facts.per_arm.begin(), facts.per_arm.end());
  const std::string per_arm = graph.floats(amounts, {1, static_cast<std::int64_t>(amounts.size())});
  if (facts.kind == data::CostKind::rate) return graph.node("Mul", {revenue, per_arm});
  if (facts.kind == data::CostKind::price_if) return graph.node("Mul", {cost, per_arm});
  return graph.node("Add", {graph.node("Mul", {revenue, graph.scalar(0.0f)}), per_arm});  // as many rows as units
}

}  // namespace

std::string onnx_bytes(const Model& model) {
  io::OnnxGraph graph;
  for (const data::FeatureColumn& feature : model.features) {
    require_free_name(feature.name);
    if (feature.categorical) {
      graph.add_text_input(feature.name);
    } else {
      graph.add_float_input(feature.name);
    }
  }
  std::vector<std::string> revenues, costs;
  for (const learn::WeightedPredictor& part : model.predictors) {
    const learn::GraphOutcomes outcomes = part.predictor->add_to_graph(graph, model.schema(), model.missing);
    revenues.push_back(outcomes.revenue);
    costs.push_back(outcomes.cost);
  }
  const std::string revenue = weighted_mean(graph, revenues, model.predictors);
  const std::string cost = known_cost(graph, model, revenue, weighted_mean(graph, costs, model.predictors));
  graph.add_output("revenue", revenue, model.arms.size());
  graph.add_output("cost", cost, model.arms.size());
  return graph.file(model.version, {{"method", model.method},
                                    {"arms", fmt::format("{}", fmt::join(model.arms.labels, "\n"))},
                                    {"control", model.arms.labels[model.arms.control]},
                                    {"revenue_is_index", model.is_index() ? "true" : "false"},
                                    {"model", fingerprint_of(model)}});
}

}  // namespace dfcl::model
