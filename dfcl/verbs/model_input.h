// SPDX-License-Identifier: Apache-2.0
//
// A model that a request names: a trained model or predictions of any origin, in a file or in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

// One of: the path of a model or of predictions, a model, predictions.
struct ModelInput {
  std::string path;  // of a file, or what messages call the object in memory
  std::shared_ptr<const model::Model> model = {};
  std::shared_ptr<const data::Prediction> prediction = {};
  std::string name = {};        // "": made from the path
  bool is_alternative = false;  // a setting that is tried: judged, never launched

  bool in_memory() const { return model != nullptr || prediction != nullptr; }
};

// The same with its file in memory. Throws Error.
ModelInput read_model_input(ModelInput input, core::RunContext& context);

// The name given, or that of the file without its ending; with it, or with its folder, where several would share a
// name. The same file twice: the second gets a number.
std::vector<std::string> distinct_names(const std::vector<ModelInput>& models);

}  // namespace dfcl::verbs
