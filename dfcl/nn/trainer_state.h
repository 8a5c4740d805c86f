// SPDX-License-Identifier: Apache-2.0
//
// All that the rest of a fit depends on, beside its data and its seed: what a checkpoint keeps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/epoch_record.h"
#include "dfcl/nn/engine.h"

namespace dfcl::nn {

// The epoch with the least validation loss so far.
struct BestEpoch {
  std::size_t epoch = 0;          // of this stage, from 1; 0: no epoch has been judged
  std::vector<float> parameters;  // empty then
  double loss = 0.0;
};

struct TrainerState : EngineState {
  std::size_t epochs_done = 0;    // of this stage
  std::optional<BestEpoch> best;  // of fits that may stop early
  std::vector<learn::EpochRecord> record;
};

// As a file; reading throws Error of kind file where it is no state, or not of a network of this size.
io::TensorFile state_file(const TrainerState& state);
TrainerState state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where);

}  // namespace dfcl::nn
