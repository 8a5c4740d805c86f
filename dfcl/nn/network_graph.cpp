// SPDX-License-Identifier: Apache-2.0
//
// Networks as nodes of an ONNX graph, preprocessing included. The same as predict() up to the rounding of float32.
#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/nn/graph_parts.h"
#include "dfcl/nn/network_predictor.h"

namespace dfcl::nn {
namespace {

using Attributes = io::OnnxGraph::Attributes;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

std::string network_inputs(io::OnnxGraph& graph, const GraphSource& source) {
  const GraphNumbers numbers = graph_numbers(graph, source);
  std::vector<std::string> parts = {graph_number_inputs(graph, numbers, source, kMostInput),
                                    graph_missing(graph, numbers, source.preprocessing.indicators())};
  for (const CategoryInput& category : source.preprocessing.categories())
    parts.push_back(graph_category(graph, source, category));
  return graph_joined(graph, parts);
}

// The raw outputs of a member, units x outputs.
std::string raw_outputs(io::OnnxGraph& graph, const Network<float>& network, std::string inputs) {
  const NetworkShape& shape = network.shape();
  const std::vector<Tensor>& tensors = network.tensors();
  const auto values = [&](const Tensor& first, std::size_t count) {
    const auto begin = network.parameters().begin() + static_cast<std::ptrdiff_t>(first.offset);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const std::size_t num_layers = shape.shared.size() + shape.head_hidden.size() + 1;
  std::size_t next = 0;       // tensor
  bool is_in_groups = false;  // heads x units x width instead of units x width
  for (std::size_t layer = 0; layer < num_layers; ++layer) {
    const std::size_t groups = layer < shape.shared.size() ? 1 : shape.num_heads;
    const Tensor& weight = tensors[next];
    const Tensor& bias = tensors[next + 1];
    next += 2 * groups;
    const std::vector<float> weights = values(weight, groups * weight.size());
    const std::vector<float> biases = values(bias, groups * bias.size());
    if (layer <= shape.shared.size()) {  // all read the same input
      inputs = graph.node("Gemm",
                          {inputs, graph.floats(weights, {whole(groups * weight.rows), whole(weight.cols)}),
                           graph.floats(biases, {whole(groups * weight.rows)})},
                          Attributes().number("transB", 1));
    } else {
      if (!is_in_groups) {
        inputs = graph.node("Reshape", {inputs, graph.numbers({-1, whole(groups), whole(weight.cols)})});
        inputs = graph.node("Transpose", {inputs}, Attributes().numbers("perm", {1, 0, 2}));
        is_in_groups = true;
      }
      const std::string turned =
          graph.node("Transpose", {graph.floats(weights, {whole(groups), whole(weight.rows), whole(weight.cols)})},
                     Attributes().numbers("perm", {0, 2, 1}));
      inputs = graph.node("Add", {graph.node("MatMul", {inputs, turned}),
                                  graph.floats(biases, {whole(groups), 1, whole(weight.rows)})});
    }
    if (layer + 1 < num_layers) inputs = graph.node("Relu", {inputs});
  }
  if (!is_in_groups) return inputs;
  inputs = graph.node("Transpose", {inputs}, Attributes().numbers("perm", {1, 0, 2}));
  return graph.node("Reshape", {inputs, graph.numbers({-1, whole(shape.num_outputs())})});
}

}  // namespace

learn::GraphOutcomes NetworkPredictor::add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                                    const std::vector<double>& missing) const {
  const std::string inputs = network_inputs(graph, {parts_.preprocessing, schema, missing});
  std::vector<std::string> revenues, costs;
  for (const OutcomeNetwork<float>& member : networks_) {
    const std::string raw = raw_outputs(graph, member.network(), inputs);
    costs.push_back(graph_head(graph, member.cost(), member.cost_outputs(), raw));
    const std::string revenue = graph_head(graph, member.revenue(), member.revenue_outputs(), raw);
    revenues.push_back(is_index() ? graph_index(graph, parts_.revenue_form, parts_.efficiency_cost_scale,
                                                schema.arms.size(), revenue, costs.back())
                                  : revenue);
  }
  return {graph_mean(graph, revenues, parts_.scales.revenue), graph_mean(graph, costs, parts_.scales.cost)};
}

}  // namespace dfcl::nn
