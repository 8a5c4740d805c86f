// SPDX-License-Identifier: Apache-2.0
//
// Networks for tables as nodes of an ONNX graph, in the dense form: encoded inputs times the weights of the first
// layer, then all members at once, members x units x width. The same as predict() up to the rounding of float32.
#include <numeric>

#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/nn/graph_parts.h"
#include "dfcl/nn/table/table_predictor.h"

namespace dfcl::nn {
namespace {

using Attributes = io::OnnxGraph::Attributes;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

// The encoded inputs, and the row of weights of each.
struct Inputs {
  std::string values;
  std::vector<std::size_t> weights;
};

// clip((z - e_b) / (e_(b+1) - e_b), 0, 1) for every bin, 0 where the number is missing.
std::string bin_inputs(io::OnnxGraph& graph, const TableEncoding& encoding, const std::string& z,
                       const std::string& missing, std::vector<std::size_t>& weights) {
  std::vector<std::int64_t> places;
  std::vector<float> low, inverse;
  for (const TableColumn& column : encoding.columns()) {
    if (column.kind != TableColumnKind::number) continue;
    const std::vector<float>& edges = encoding.edges()[column.part];
    for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
      places.push_back(whole(column.part));
      low.push_back(edges[bin]);
      inverse.push_back(1.0f / (edges[bin + 1] - edges[bin]));
      weights.push_back(column.first_weight + bin);
    }
  }
  if (places.empty()) return "";
  const std::vector<std::int64_t> shape = {1, whole(places.size())};
  const std::string distance = graph.node("Sub", {graph_columns(graph, z, places), graph.floats(low, shape)});
  const std::string share = graph.node("Mul", {distance, graph.floats(inverse, shape)});
  const std::string present = graph.node("Sub", {graph.scalar(1.0f), graph_columns(graph, missing, places)});
  return graph.node("Mul", {graph.node("Clip", {share, graph.scalar(0.0f), graph.scalar(1.0f)}), present});
}

Inputs encoded_inputs(io::OnnxGraph& graph, const TableEncoding& encoding, const GraphSource& source) {
  const GraphNumbers numbers = graph_numbers(graph, source);
  std::vector<std::uint32_t> features, flags;
  Inputs inputs;
  std::vector<std::size_t> missing_weights, flag_weights, category_weights;
  std::vector<std::string> categories;
  for (const TableColumn& column : encoding.columns()) {
    const std::size_t last = column.first_weight + column.num_weights - 1;
    if (column.kind == TableColumnKind::number) {
      features.push_back(column.feature);
      inputs.weights.push_back(last - 1);
      missing_weights.push_back(last);
    } else if (column.kind == TableColumnKind::flag) {
      flags.push_back(column.feature);
      flag_weights.push_back(last);
    } else {
      categories.push_back(graph_category(graph, source, source.preprocessing.categories()[column.part]));
      for (std::size_t row = column.first_weight; row <= last; ++row) category_weights.push_back(row);
    }
  }
  const std::string z = graph_number_inputs(graph, numbers, source, kMostStandard);
  const std::string missing = graph_missing(graph, numbers, features);
  std::vector<std::string> parts = {z, bin_inputs(graph, encoding, z, missing, inputs.weights), missing,
                                    graph_missing(graph, numbers, flags)};
  parts.insert(parts.end(), categories.begin(), categories.end());
  inputs.values = graph_joined(graph, parts);
  for (const auto* weights : {&missing_weights, &flag_weights, &category_weights})
    inputs.weights.insert(inputs.weights.end(), weights->begin(), weights->end());
  return inputs;
}

// Raw outputs of all members, (members x units) x outputs.
std::string raw_outputs(io::OnnxGraph& graph, const TableNetwork<float>& network, const Inputs& inputs) {
  const TableLayout& layout = network.layout();
  const float* const parameters = network.parameters().data();
  const std::size_t width = network.width();
  const std::size_t members = network.members();
  const std::size_t num_outputs = network.num_outputs();
  const auto numbers = [&](std::size_t offset, std::size_t size) {
    return std::vector<float>(parameters + offset, parameters + offset + size);
  };
  const auto each = [&](std::size_t offset) {
    return graph.floats(numbers(offset, members * width), {whole(members), 1, whole(width)});
  };
  std::vector<float> first;
  for (const std::size_t row : inputs.weights) {
    const float* const own = parameters + layout.first + row * width;
    first.insert(first.end(), own, own + width);
  }
  std::string value =
      graph.node("Gemm", {inputs.values, graph.floats(first, {whole(inputs.weights.size()), whole(width)}),
                          graph.floats(numbers(layout.first_bias, width), {whole(width)})});
  value = graph.node("Reshape", {value, graph.numbers({1, -1, whole(width)})});
  value =
      graph.node("Relu", {graph.node("Add", {graph.node("Mul", {value, each(layout.scale1)}), each(layout.bias1)})});
  value = graph.node("Mul", {value, each(layout.sign)});
  value =
      graph.node("MatMul", {value, graph.floats(numbers(layout.second, width * width), {whole(width), whole(width)})});
  value =
      graph.node("Relu", {graph.node("Add", {graph.node("Mul", {value, each(layout.scale2)}), each(layout.bias2)})});
  const std::string heads = graph.node("Transpose",
                                       {graph.floats(numbers(layout.heads, members * num_outputs * width),
                                                     {whole(members), whole(num_outputs), whole(width)})},
                                       Attributes().numbers("perm", {0, 2, 1}));
  value = graph.node(
      "Add", {graph.node("MatMul", {value, heads}),
              graph.floats(numbers(layout.head_bias, members * num_outputs), {whole(members), 1, whole(num_outputs)})});
  return graph.node("Reshape", {value, graph.numbers({-1, whole(num_outputs)})});
}

// (members x units) x arms to the members' mean, units x arms.
std::string mean_of_members(io::OnnxGraph& graph, const std::string& values, std::size_t members,
                            std::size_t num_arms) {
  const std::string apart = graph.node("Reshape", {values, graph.numbers({whole(members), -1, whole(num_arms)})});
  const std::string last = graph.node("Transpose", {apart}, Attributes().numbers("perm", {1, 2, 0}));
  const std::vector<float> shares(members, 1.0f / static_cast<float>(members));
  const std::string mean = graph.node("MatMul", {last, graph.floats(shares, {whole(members), 1})});
  return graph.node("Reshape", {mean, graph.numbers({-1, whole(num_arms)})});
}

}  // namespace

learn::GraphOutcomes TablePredictor::add_to_graph(io::OnnxGraph& graph, const learn::Schema& schema,
                                                  const std::vector<double>& missing) const {
  const std::size_t num_arms = schema.arms.size();
  const std::size_t members = parts_.options.members;
  const Inputs inputs = encoded_inputs(graph, parts_.encoding, {parts_.encoding.preprocessing(), schema, missing});
  std::vector<std::string> revenues, costs;
  for (const auto& network : networks_) {
    std::vector<std::size_t> revenue_outputs(network->revenue().num_outputs()),
        cost_outputs(network->cost().num_outputs());
    std::iota(revenue_outputs.begin(), revenue_outputs.end(), std::size_t{0});
    std::iota(cost_outputs.begin(), cost_outputs.end(), revenue_outputs.size());
    const std::string raw = raw_outputs(graph, *network, inputs);
    const std::string cost = graph_head(graph, network->cost(), cost_outputs, raw);
    std::string revenue = graph_head(graph, network->revenue(), revenue_outputs, raw);
    if (is_index())
      revenue = graph_index(graph, parts_.revenue_form, parts_.efficiency_cost_scale, num_arms, revenue, cost);
    revenues.push_back(mean_of_members(graph, revenue, members, num_arms));
    costs.push_back(mean_of_members(graph, cost, members, num_arms));
  }
  return {graph_mean(graph, revenues, parts_.scales.revenue), graph_mean(graph, costs, parts_.scales.cost)};
}

}  // namespace dfcl::nn
