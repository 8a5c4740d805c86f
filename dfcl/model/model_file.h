// SPDX-License-Identifier: Apache-2.0
//
// Model files: the safetensors layout (io/tensors/safetensors.h), which any safetensors reader opens. Each predictor
// has texts and tensors predictors.<place>.<name> of its own (dfcl/learn/part.h), for networks
// predictors.0.network.<member>.<layer>; the rest is in the metadata, each key a text or JSON: format, format_version,
// version, method, seed, options, study, arms, features, id_column, missing, predictors, known_costs, is_index,
// multipliers, trained, record, checksum, and where a model has them summaries, mean_effect, calibration, stack,
// held_out, evaluated_plans. Texts longer than learn::kMostHeaderText are tensors of bytes named text.<key> instead, so
// that the header stays small. Writing what was read gives the same bytes. Files of format 1 (dfcl 0.1) are read too.
// Memory: the model twice while it is read or written.
#pragma once

#include <string>

#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/model/model.h"

namespace dfcl::model {

inline constexpr int kFormatVersion = 2;

// Throws Error of kind file where it cannot be written; nothing is left behind then. Never writes a model that
// read_model would refuse.
void write_model(const std::string& path, const Model& model);

// Throws Error of kind file, in one line, for what is not a whole and unaltered model or comes from a later version.
Model read_model(const std::string& path);

// The same without a file.
io::TensorFile tensor_file_of(const Model& model);
Model model_of(const io::TensorFile& file, const std::string& where);

// Sixteen hexadecimal digits that stand for the model, the checksum of its file.
std::string fingerprint_of(const Model& model);

}  // namespace dfcl::model
