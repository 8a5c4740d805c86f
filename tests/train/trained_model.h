// SPDX-License-Identifier: Apache-2.0
//
// What tests look at inside trained models.
#pragma once

#include "dfcl/forest/forest_predictor.h"
#include "dfcl/model/model.h"
#include "dfcl/nn/network_predictor.h"

namespace dfcl::train {

// Of networks.
inline const nn::NetworkParts& parts_of(const learn::Predictor& predictor) {
  return dynamic_cast<const nn::NetworkPredictor&>(predictor).parts();
}
inline const nn::NetworkParts& parts_of(const model::Model& model) {
  return parts_of(*model.predictors.at(0).predictor);
}
inline std::vector<std::vector<float>> members_of(const model::Model& model) { return parts_of(model).members; }
inline const forest::ForestPredictor& forest_of(const model::Model& model) {
  return dynamic_cast<const forest::ForestPredictor&>(*model.predictors.at(0).predictor);
}

}  // namespace dfcl::train
