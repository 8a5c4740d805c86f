// SPDX-License-Identifier: Apache-2.0
#include "dfcl/verbs/predict.h"

#include "dfcl/core/version.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/predictions/prediction_writer.h"
#include "dfcl/model/predict.h"

namespace dfcl::verbs {

data::Provenance prediction_provenance(const model::Model& model) {
  return {"prediction", core::version(), "predict", data::fact_options(model::prediction_facts(model))};
}

void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance) {
  io::PredictionWriter writer(path, prediction, prediction.ids.type(), provenance);
  writer.write(prediction);
  writer.commit();
}

}  // namespace dfcl::verbs
