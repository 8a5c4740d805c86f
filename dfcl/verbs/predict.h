// SPDX-License-Identifier: Apache-2.0
//
// What prediction files say of their making, whoever writes them.
#pragma once

#include <string>

#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

data::Provenance prediction_provenance(const model::Model& model);

// The file that `dfcl predict` would write.
void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance);

}  // namespace dfcl::verbs
