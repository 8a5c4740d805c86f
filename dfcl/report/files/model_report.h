// SPDX-License-Identifier: Apache-2.0
//
// What a model is, as a screen for people and as JSON for machines.
#pragma once

#include <string>

#include "dfcl/model/model.h"
#include "dfcl/report/text/screen.h"

namespace dfcl::report {

// What it predicts, how it was made, its arms, features and networks, its prices of money, its training.
std::string model_text(const model::Model& model, const std::string& path, Length length = Length::full);
std::string model_json(const model::Model& model);

}  // namespace dfcl::report
