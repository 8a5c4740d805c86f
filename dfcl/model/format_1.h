// SPDX-License-Identifier: Apache-2.0
//
// Model files of format 1, as dfcl 0.1 wrote them: one set of networks, perhaps with a forest upon them. They are
// turned into the parts of the format of today, every text and tensor of theirs, so that nothing is read twice.
// Internal to model.
#pragma once

#include <string>

#include "dfcl/io/tensors/safetensors.h"

namespace dfcl::model {

// Throws Error of kind file where what it looks at is not there.
io::TensorFile from_format_1(const io::TensorFile& file, const std::string& where);

}  // namespace dfcl::model
