// SPDX-License-Identifier: Apache-2.0
//
// What engines on the processor share: the order of an epoch, its batches, and the steps. A network adds how a batch
// becomes a gradient, and how predictions are made. Memory: the order, the gradient, and what the network needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/learn/objective.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/engine.h"

namespace dfcl::nn {

class HostEngine : public Engine {
 public:
  // Both must outlive the engine.
  HostEngine(const learn::TrainingSet& set, const learn::Objective& objective);

  EpochLosses run_epoch(const EpochPlan& plan, EngineState& state, core::RunContext& context) final;

 protected:
  // A batch: its rows, and the key of its random numbers.
  struct Batch {
    std::span<const std::uint32_t> rows;
    std::uint64_t seed = 0;
    std::size_t epoch = 0;
    std::size_t begin = 0;  // its place in the order
  };

  // The network's own, which the steps move.
  virtual std::span<float> parameters() = 0;
  // Sets the gradient of the objective's weighted losses, and returns their means over the batch, not weighted.
  virtual std::vector<double> compute(const Batch& batch, std::span<float> gradient, core::RunContext& context) = 0;
  // One step of Adam; returns the length of the gradient.
  virtual double step(const AdamOptions& options, AdamState<float>& adam, std::span<const float> gradient,
                      core::RunContext& context) = 0;

  void set_parameters(std::span<const float> values);

  const learn::TrainingSet& set() const { return set_; }
  const learn::Objective& objective() const { return objective_; }
  const TrainingRows& data() const { return data_; }

 private:
  const learn::TrainingSet& set_;
  const learn::Objective& objective_;
  TrainingRows data_;
};

}  // namespace dfcl::nn
