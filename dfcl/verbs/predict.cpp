// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/predict.h"

#include <algorithm>

#include "dfcl/core/version.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/model/model_file.h"

namespace dfcl::verbs {

data::Provenance prediction_provenance(const model::Model& model) {
  return {"prediction",
          core::version(),
          "predict",
          {{"model", model::fingerprint_of(model)},
           {"method", model.method},
           {kIndexOption, model.is_index() ? "true" : "false"}}};
}

bool holds_index(const data::Provenance& provenance) {
  return std::any_of(provenance.options.begin(), provenance.options.end(),
                     [](const auto& option) { return option.first == kIndexOption && option.second == "true"; });
}

void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance) {
  io::PredictionWriter writer(path, prediction.arms, prediction.ids.texts() == nullptr, provenance);
  writer.write(prediction);
  writer.commit();
}

}  // namespace dfcl::verbs
