// SPDX-License-Identifier: Apache-2.0
//
// The columns of a study as values of a graph, the same for every learner: numbers side by side with what is missing
// among them, categories as codes. A number is missing where it is NaN, infinite or one of the codes for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/io/onnx/onnx_graph.h"

namespace dfcl::io {

struct GraphNumbers {
  std::string raw;                  // units x numbers, as they come in; "" where no feature is a number
  std::string is_missing;           // units x numbers
  std::vector<std::int64_t> place;  // of each feature among the numbers; -1 where it is none
};
GraphNumbers graph_numbers(OnnxGraph& graph, const std::vector<data::FeatureColumn>& features,
                           const std::vector<double>& missing);

// units x 1: the code of each level, 0 for one that training did not have, the number of levels for a missing one.
std::string graph_codes(OnnxGraph& graph, const data::FeatureColumn& feature, const std::vector<double>& missing);

// These columns of a matrix.
std::string graph_chosen(OnnxGraph& graph, const std::string& matrix, const std::vector<std::int64_t>& columns);

}  // namespace dfcl::io
