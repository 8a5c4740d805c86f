// SPDX-License-Identifier: Apache-2.0
//
// Several predictors in one ONNX graph: the weighted mean of what each predicts, as predict_mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dfcl/io/onnx/onnx_graph.h"
#include "dfcl/learn/predictor.h"

namespace dfcl::learn {

// Throws Error of kind unavailable where one of them cannot be a graph.
GraphOutcomes add_mean_to_graph(std::span<const WeightedPredictor> predictors, io::OnnxGraph& graph,
                                const Schema& schema, const std::vector<double>& missing);

}  // namespace dfcl::learn
