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
  // From short to long: the first that no other model has. Whatever the order of the models.
  const auto name_of = [](const ModelInput& model, int length) {
    if (!model.name.empty()) return model.name;
    const std::string file = std::filesystem::path(model.path).filename().string();
    return length == 0 ? file.substr(0, file.find('.')) : length == 1 ? file : model.path;
  };
  std::vector<std::string> names;
  for (const ModelInput& model : models) {
    const auto is_shared = [&](int length) {
      const std::string name = name_of(model, length);
      return std::count_if(models.begin(), models.end(),
                           [&](const ModelInput& other) { return name_of(other, length) == name; }) > 1;
    };
    const std::string chosen = name_of(model, !is_shared(0) ? 0 : !is_shared(1) ? 1 : !is_shared(2) ? 2 : 0);
    std::string name = chosen;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number)
      name = fmt::format("{}-{}", chosen, number);
    names.push_back(name);
  }
  return names;
}

}  // namespace dfcl::verbs
