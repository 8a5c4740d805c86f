// SPDX-License-Identifier: Apache-2.0
//
// What each unit would earn and cost under every arm: what `dfcl predict` does, for every caller. To a file it streams,
// in pieces of the units; in memory it keeps units x arms, twice. Warns in one line where features have drifted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

struct PredictRequest {
  std::string model;                              // path
  std::shared_ptr<const model::Model> in_memory;  // instead of the path
  std::string units;                              // path of a table
  std::optional<std::string> output;              // path of the predictions to write
  std::optional<std::string> uncertainty;  // path: the standard errors of effects too, where the model knows them
  std::optional<std::string> drift;        // path of a table: how the features differ from those of the training units
  bool keep = false;                       // return the predictions too
};

struct PredictResult {
  std::shared_ptr<const model::Model> model;
  std::size_t num_units = 0;
  std::shared_ptr<const data::Prediction> prediction;  // where kept
  std::vector<model::FeatureDrift> drift;              // empty where the model keeps no summaries
};

PredictResult predict(const PredictRequest& request, core::RunContext& context);

// Columns that travel along must not be taken for those of predictions and plans. Throws Error of kind usage.
void require_carried(const std::vector<std::string>& names);

data::Provenance prediction_provenance(const model::Model& model);

// The file that `dfcl predict` would write.
void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance);

}  // namespace dfcl::verbs
