// SPDX-License-Identifier: Apache-2.0
//
// A finished fit as a file of a checkpoint: its predictors as in a model file, its record, what it took and, where the
// learner has them, its out-of-sample predictions. Memory: the fit once more.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/learner.h"

namespace dfcl::train {

struct FinishedFit {
  std::vector<std::shared_ptr<const learn::Predictor>> predictors;  // equally weighted
  std::vector<learn::EpochRecord> record;
  std::optional<learn::Predicted> out_of_sample;
  double seconds = 0.0;
};

io::TensorFile fit_file(const FinishedFit& fit);

// num_rows: of the out-of-sample predictions, where there are any. Throws Error of kind file; where: the file.
FinishedFit fit_of_file(const io::TensorFile& file, const learn::Schema& schema, std::size_t num_rows,
                        const std::string& where, core::RunContext& context);

// Through the form of files. Throws Error of kind internal where it is not of the list of learners.
std::unique_ptr<learn::Predictor> copy_of(const learn::Predictor& predictor, const learn::Schema& schema);

}  // namespace dfcl::train
