// SPDX-License-Identifier: Apache-2.0
//
// What prediction files say of their making, whoever writes them.
#pragma once

#include <string>

#include "dfcl/data/prediction.h"
#include "dfcl/data/provenance.h"
#include "dfcl/model/model.h"

namespace dfcl::verbs {

inline constexpr const char* kIndexOption = "revenue_is_index";

data::Provenance prediction_provenance(const model::Model& model);

// Whether predictions made so hold an index (efficiencies), which ranks decisions and is no money.
bool holds_index(const data::Provenance& provenance);

// The file that `dfcl predict` would write.
void write_prediction(const std::string& path, const data::Prediction& prediction, const data::Provenance& provenance);

}  // namespace dfcl::verbs
