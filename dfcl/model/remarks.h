// SPDX-License-Identifier: Apache-2.0
//
// What a user should know before trusting a model: that it predicts no better than the means of the arms, that units it
// has not seen do not support the differences between units that it predicts, or that its plans promise too much.
// Sentences; none where all is well.
#pragma once

#include <string>
#include <vector>

#include "dfcl/model/model.h"

namespace dfcl::model {

std::vector<std::string> learning_remarks(const Model& model);

}  // namespace dfcl::model
