// SPDX-License-Identifier: Apache-2.0
//
// The list of learners: for each kind of predictor, who reads its part of a model file. A new learner is a row here and
// one in the table of methods (dfcl/train/methods.cpp).
#pragma once

#include <string>

#include "dfcl/learn/part.h"

namespace dfcl::model {

// Null where there is no such kind.
learn::LoadPredictor find_loader(const std::string& kind);

}  // namespace dfcl::model
