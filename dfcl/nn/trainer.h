// SPDX-License-Identifier: Apache-2.0
//
// Trains one network by one objective, an epoch at a time, whatever engine computes it: the schedule of the rate,
// validation after each epoch, stopping, checkpoints. Where it may stop, a fit of prediction ends when the validation
// loss has not fallen for `patience` epochs, and the parameters of the best epoch are kept. All that an epoch depends
// on is in TrainerState, and random numbers are keyed by (seed, member, epoch), so a run that is resumed from a saved
// state ends with the same bytes. Memory: three copies of the parameters, a fourth of the best where it may stop, the
// engine's, and predictions for the validation units.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/learner.h"
#include "dfcl/nn/trainer_state.h"

namespace dfcl::nn {

// When a fit of prediction ends before its last epoch; a fit for decisions never does.
struct Stopping {
  std::size_t patience = 6;  // epochs without a fall of the validation loss; 0: all epochs, and the last is kept
  bool operator==(const Stopping&) const = default;
};

class Trainer {
 public:
  // Set, objective, stage and context must outlive the trainer, and set and objective be those of the engine.
  // stopping: nothing where every epoch is run and none is marked as kept.
  Trainer(const learn::TrainingSet& set, const learn::Objective& objective, const learn::Stage& stage,
          std::unique_ptr<Engine> engine, const learn::Steps& steps, std::optional<Stopping> stopping,
          std::uint64_t seed, core::RunContext& context);

  TrainerState& state() { return state_; }

  // The whole stage: goes on from what an earlier run kept, runs the epochs that are left, keeps the state and tells
  // the stage's listeners after each. Returns the parameters to keep; the record stays in the state.
  std::vector<float> run();

  bool is_done() const;
  // Throws Error of kind data where a loss or the gradient becomes NaN, or the predictions have run away.
  void run_epoch();
  // The parameters to keep; marks their epoch in the record where the fit might have stopped.
  std::vector<float> finish();

 private:
  std::size_t epoch() const { return stage_.first_epoch + state_.epochs_done; }
  bool stops() const { return stopping_ && stopping_->patience > 0 && !objective_.decides; }
  std::span<const std::uint32_t> rows() const { return rows_.empty() ? set_.rows : rows_; }
  void hold_out();
  void load();
  std::vector<double> run_steps();
  void validate(learn::EpochRecord& record);
  [[noreturn]] void fail(const char* what, const EpochLosses& losses) const;

  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  const learn::Stage& stage_;
  std::unique_ptr<Engine> engine_;
  learn::Steps steps_;
  std::optional<Stopping> stopping_;
  std::uint64_t seed_;
  core::RunContext& context_;
  std::vector<std::uint32_t> rows_;           // that train; empty: all of the set
  std::vector<std::uint32_t> stopping_rows_;  // held out where the set has no validation units
  TrainerState state_;
};

}  // namespace dfcl::nn
