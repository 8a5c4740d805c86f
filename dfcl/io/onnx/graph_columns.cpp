// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/onnx/graph_columns.h"

#include <fmt/format.h>

namespace dfcl::io {

using Attributes = OnnxGraph::Attributes;

GraphNumbers graph_numbers(OnnxGraph& graph, const std::vector<data::FeatureColumn>& features,
                           const std::vector<double>& missing) {
  GraphNumbers numbers;
  std::vector<std::string> inputs;
  for (const data::FeatureColumn& feature : features) {
    numbers.place.push_back(feature.categorical ? -1 : static_cast<std::int64_t>(inputs.size()));
    if (!feature.categorical) inputs.push_back(feature.name);
  }
  if (inputs.empty()) return numbers;
  numbers.raw = graph.node("Concat", inputs, Attributes().number("axis", 1));
  numbers.is_missing = graph.node("Or", {graph.node("IsNaN", {numbers.raw}), graph.node("IsInf", {numbers.raw})});
  for (const double code : missing) {
    const std::string is_code = graph.node("Equal", {numbers.raw, graph.scalar(static_cast<float>(code))});
    numbers.is_missing = graph.node("Or", {numbers.is_missing, is_code});
  }
  return numbers;
}

std::string graph_codes(OnnxGraph& graph, const data::FeatureColumn& feature, const std::vector<double>& missing) {
  const auto num_levels = static_cast<std::int64_t>(feature.levels.size());
  std::vector<std::string> levels = {""};
  std::vector<std::int64_t> codes = {num_levels};
  for (std::int64_t code = 1; code < num_levels; ++code) {
    levels.push_back(feature.levels[static_cast<std::size_t>(code)]);
    codes.push_back(code);
  }
  for (const double value : missing) {
    levels.push_back(fmt::format("{}", value));
    codes.push_back(num_levels);
  }
  return graph.node(
      "LabelEncoder", {feature.name},
      Attributes().texts("keys_strings", levels).numbers("values_int64s", codes).number("default_int64", 0),
      "ai.onnx.ml");
}

std::string graph_chosen(OnnxGraph& graph, const std::string& matrix, const std::vector<std::int64_t>& columns) {
  return graph.node("Gather", {matrix, graph.numbers(columns)}, Attributes().number("axis", 1));
}

}  // namespace dfcl::io
