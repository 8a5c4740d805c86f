// SPDX-License-Identifier: Apache-2.0
//
// Trains one network by one objective, an epoch at a time. All that an epoch depends on is in TrainerState, and random
// numbers are keyed by (seed, member, epoch), so a run that is resumed from a saved state ends with the same bytes.
// Memory: a few copies of the parameters, and predictions for the validation units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/learner.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/inputs/preprocessing.h"

namespace dfcl::nn {

struct TrainerState {
  std::size_t epochs_done = 0;  // of this stage
  std::vector<float> parameters;
  std::vector<float> adam_mean;
  std::vector<float> adam_mean_square;
  std::uint64_t adam_step = 0;
  std::vector<learn::EpochRecord> record;
};

// As a file; reading throws Error of kind file where it is no state, or not of a network of this size.
io::TensorFile state_file(const TrainerState& state);
TrainerState state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where);

class NetworkTrainer {
 public:
  // Everything must outlive the trainer.
  NetworkTrainer(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
                 const Preprocessing& preprocessing, const OutcomeNetworkOptions& network, const learn::Steps& steps,
                 std::uint64_t seed, core::RunContext& context);

  TrainerState& state() { return state_; }
  // Throws Error of kind data where a loss or the gradient becomes NaN, or the predictions have run away.
  void run_epoch();

 private:
  std::size_t epoch() const { return stage_.first_epoch + state_.epochs_done; }
  std::vector<double> run_steps();
  void validate(learn::EpochRecord& record);
  learn::Predicted predict(std::span<const std::uint32_t> rows);
  [[noreturn]] void fail(const char* what, const std::vector<double>& losses, double norm) const;

  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  const learn::Stage& stage_;
  const Preprocessing& preprocessing_;
  const learn::Steps& steps_;
  std::uint64_t seed_;
  core::RunContext& context_;
  OutcomeNetwork<float> network_;
  BatchGradient<float> gradient_;
  TrainingRows data_;
  TrainerState state_;
};

}  // namespace dfcl::nn
