// SPDX-License-Identifier: Apache-2.0
//
// A model for other programs, as an ONNX graph: what `dfcl export` does, for every caller. Memory: the model three
// times.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dfcl/core/run_context.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

struct ExportRequest {
  std::string model;                              // path
  std::shared_ptr<const model::Model> in_memory;  // instead of the path
  std::optional<std::string> output;              // path, .onnx; none: nothing is written
};

// The bytes of the graph. Throws Error; of kind unavailable where the model has no such form.
std::string export_model(const ExportRequest& request, const core::RunContext& context);

}  // namespace dfcl::verbs
