// SPDX-License-Identifier: Apache-2.0
//
// A preprocessing as tensors of a network's part of a model file. Internal to nn. Reading throws Error of kind file
// where tensors are missing or of the wrong type or size.
#pragma once

#include "dfcl/learn/part.h"
#include "dfcl/nn/inputs/preprocessing.h"

namespace dfcl::nn {

void put_preprocessing(const learn::PartWriter& part, const Preprocessing& preprocessing);
Preprocessing preprocessing_of(const learn::PartReader& part, std::size_t num_features);

}  // namespace dfcl::nn
