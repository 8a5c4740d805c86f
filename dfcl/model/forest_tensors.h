// SPDX-License-Identifier: Apache-2.0
//
// A forest as tensors of a model file, compactly: 12 bytes a node, 12 bytes a leaf and arm. Internal to model.
#pragma once

#include <optional>
#include <string>

#include "dfcl/forest/forest.h"
#include "dfcl/model/safetensors.h"

namespace dfcl::model {

void put_forest(TensorFile& file, const forest::Forest& forest);

// Nothing where the file has no forest. Throws Error of kind file where tensors are missing or of the wrong type or
// size; whether the parts fit each other is for forest::require_consistent to say.
std::optional<forest::Forest> forest_of(const TensorFile& file, const std::string& where);

}  // namespace dfcl::model
