// SPDX-License-Identifier: Apache-2.0
//
// A forest as tensors of its part of a model file, compactly: 12 bytes a node, 12 bytes a leaf and arm. Internal to
// forest.
#pragma once

#include "dfcl/forest/forest.h"
#include "dfcl/learn/part.h"

namespace dfcl::forest {

void put_forest(const learn::PartWriter& part, const Forest& forest);

// Throws Error of kind file where tensors are missing or of the wrong type or size; whether the parts fit each other is
// for require_consistent to say.
Forest forest_of(const learn::PartReader& part);

}  // namespace dfcl::forest
