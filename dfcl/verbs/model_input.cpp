// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/model_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "dfcl/io/predictions/prediction_file.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {

ModelInput read_model_input(ModelInput input, core::RunContext& context) {
  if (input.in_memory()) return input;
  if (io::is_safetensors(input.path)) {
    input.model = std::make_shared<const model::Model>(model::read_model(input.path));
    return input;
  }
  input.prediction = std::make_shared<const data::Prediction>(io::read_prediction(input.path, "", context).prediction);
  return input;
}

std::vector<std::string> distinct_names(const std::vector<ModelInput>& models) {
  std::vector<std::string> names;
  for (const ModelInput& model : models) {
    const std::string file = std::filesystem::path(model.path).filename().string();
    const std::string stem = model.name.empty() ? file.substr(0, file.find('.')) : model.name;
    std::string name = stem;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) {
      name = fmt::format("{}-{}", stem, number);
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace dfcl::verbs
