// SPDX-License-Identifier: Apache-2.0
//
// Model files: the safetensors layout (safetensors.h), which any safetensors reader opens. Weights are tensors
// network.<member>.<layer>, those of a forest forest.<part>; the rest is in the metadata, each key a text or JSON:
// format, format_version, version, method, seed, options, study, arms, features, id_column, missing, network, outcomes,
// is_index, multipliers, trained, record, checksum. Texts longer than kMostHeaderText are tensors of bytes named
// text.<key> instead, so that the header stays small. Writing what was read gives the same bytes. Memory: the model
// twice while it is read or written.
#pragma once

#include <string>

#include "dfcl/model/model.h"
#include "dfcl/model/safetensors.h"

namespace dfcl::model {

inline constexpr int kFormatVersion = 1;
inline constexpr std::size_t kMostHeaderText = 32 * 1024;

// Throws Error of kind file where it cannot be written; nothing is left behind then. Never writes a model that
// read_model would refuse.
void write_model(const std::string& path, const Model& model);

// Throws Error of kind file, in one line, for what is not a whole and unaltered model or comes from a later version.
Model read_model(const std::string& path);

// The same without a file.
TensorFile tensor_file_of(const Model& model);
Model model_of(const TensorFile& file, const std::string& where);

// Sixteen hexadecimal digits that stand for the model, the checksum of its file.
std::string fingerprint_of(const Model& model);

}  // namespace dfcl::model
