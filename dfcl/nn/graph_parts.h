// SPDX-License-Identifier: Apache-2.0
//
// What the graphs of plain networks and of networks for tables share: numbers and categories as they come in, outcome
// heads, indices of efficiencies, means. Internal to nn. Names are values of the graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/learn/outcome_facts.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/loss/efficiency.h"
#include "dfcl/nn/inputs/preprocessing.h"
#include "dfcl/nn/outcome_head.h"

namespace dfcl::nn {

// What the inputs are made of.
struct GraphSource {
  const Preprocessing& preprocessing;
  const learn::Schema& schema;
  const std::vector<double>& missing;  // codes
};

std::string graph_columns(io::OnnxGraph& graph, const std::string& matrix, const std::vector<std::int64_t>& columns);

// The numbers of the model: which of them are missing, and their values with 0 in place of those.
struct GraphNumbers {
  std::string values;
  std::string is_missing;
  std::vector<std::int64_t> place;  // of each feature; -1 where it is no number
};
GraphNumbers graph_numbers(io::OnnxGraph& graph, const GraphSource& source);

// clamp((f(x) - center) factor) of all numbers, within -most and most, in their order; "" where there are none.
std::string graph_number_inputs(io::OnnxGraph& graph, const GraphNumbers& numbers, const GraphSource& source,
                                float most);
// 1 where the number of the feature is missing, units x features; "" where there are none.
std::string graph_missing(io::OnnxGraph& graph, const GraphNumbers& numbers,
                          const std::vector<std::uint32_t>& features);
// A 0/1 input a level.
std::string graph_category(io::OnnxGraph& graph, const GraphSource& source, const CategoryInput& category);
std::string graph_joined(io::OnnxGraph& graph, const std::vector<std::string>& parts);  // side by side; "" left out

// Predictions, rows x arms, from raw outputs, of which the head's own are named.
std::string graph_head(io::OnnxGraph& graph, const OutcomeHead<float>& head, std::span<const std::size_t> outputs,
                       const std::string& raw);
// Revenue as an index: efficiencies times steps of cost, added up (dfcl/loss/efficiency.h).
std::string graph_index(io::OnnxGraph& graph, loss::RevenueForm form, double cost_scale, std::size_t num_arms,
                        const std::string& scores, const std::string& cost);
// The mean, in the study's currency.
std::string graph_mean(io::OnnxGraph& graph, const std::vector<std::string>& members, const learn::OutcomeScale& scale);

}  // namespace dfcl::nn
