// SPDX-License-Identifier: Apache-2.0
//
// A model as an ONNX file, for services that run no C++ of ours. Preprocessing is inside: the inputs are
// the columns of the study. Numbers are units x 1 floats, NaN for missing; categories are units x 1 texts, "" for
// missing, without blanks around them. Outputs: `revenue` and `cost`, units x arms. The same as predict() up to the
// rounding of float32, about 1e-6 of the size of the outcomes. Memory: the file, 4 bytes a parameter.
#pragma once

#include <string>

#include "dfcl/model/model.h"

namespace dfcl::model {

// Throws Error of kind unavailable where a predictor of the model cannot be a graph.
std::string onnx_bytes(const Model& model);

}  // namespace dfcl::model
