// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a model other than its weights, as tensors of its file. Internal to model. Reading throws Error of kind
// file where tensors are missing or of the wrong type or size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/model/preprocessing.h"
#include "dfcl/model/safetensors.h"

namespace dfcl::model {

void put_preprocessing(TensorFile& file, const Preprocessing& preprocessing);
Preprocessing preprocessing_of(const TensorFile& file, std::size_t num_features, const std::string& where);

// The keys of training units (trained_units.h).
void put_keys(TensorFile& file, const std::vector<std::uint64_t>& keys);
std::vector<std::uint64_t> keys_of(const TensorFile& file, const std::string& where);

}  // namespace dfcl::model
