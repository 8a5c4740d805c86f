// SPDX-License-Identifier: Apache-2.0
//
// Trains one network for tables by one objective, an epoch at a time, and stops a fit of prediction when the validation
// loss has not fallen for `patience` epochs; the parameters of the best epoch are kept. All that an epoch depends on is
// in TableState, and random numbers are keyed by (seed, member, epoch, step), so a run that is resumed from a saved
// state ends with the same bytes. Memory: five copies of the parameters, and predictions for the validation units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/io/tensors/safetensors.h"
#include "dfcl/learn/learner.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/table/table_gradient.h"
#include "dfcl/nn/table/table_runner.h"

namespace dfcl::nn {

// What only training knows of a network for tables.
struct TableTraining {
  double dropout = 0.2;
  std::size_t patience = 6;  // 0: all epochs, and the last is kept
  bool operator==(const TableTraining&) const = default;
};

struct TableState {
  std::size_t epochs_done = 0;  // of this stage
  std::vector<float> parameters;
  std::vector<float> adam_mean;
  std::vector<float> adam_mean_square;
  std::uint64_t adam_step = 0;
  std::vector<float> best;     // parameters; empty: no epoch has been judged
  std::size_t best_epoch = 0;  // of this stage, from 1
  double best_loss = 0.0;
  std::vector<learn::EpochRecord> record;
};

// As a file; reading throws Error of kind file where it is no state, or not of a network of this size.
io::TensorFile table_state_file(const TableState& state);
TableState table_state_of(const io::TensorFile& file, std::size_t num_parameters, const std::string& where);

class TableTrainer {
 public:
  // Everything must outlive the trainer.
  TableTrainer(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
               const TableEncoding& encoding, const TableOptions& options, const TableTraining& training,
               const learn::Steps& steps, std::uint64_t seed, core::RunContext& context);

  TableState& state() { return state_; }
  bool is_done() const;
  // Throws Error of kind data where a loss or the gradient becomes NaN, or the predictions have run away.
  void run_epoch();
  // The parameters to keep; marks their epoch in the record.
  std::vector<float> finish();

 private:
  std::size_t epoch() const { return stage_.first_epoch + state_.epochs_done; }
  bool stops() const { return !objective_.decides && training_.patience > 0; }
  void hold_out();
  std::vector<double> run_steps();
  void validate(learn::EpochRecord& record);
  learn::Predicted predict(std::span<const std::uint32_t> rows);
  [[noreturn]] void fail(const char* what, const std::vector<double>& losses, double norm) const;

  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  const learn::Stage& stage_;
  const TableTraining training_;
  const learn::Steps steps_;
  std::uint64_t seed_;
  core::RunContext& context_;
  TableNetwork<float> network_;
  TableGradient<float> gradient_;
  TableRunner runner_;
  TrainingRows data_;
  std::vector<std::uint32_t> rows_;           // that train; empty: all of the set
  std::vector<std::uint32_t> stopping_rows_;  // held out where the set has no validation units
  TableState state_;
};

}  // namespace dfcl::nn
