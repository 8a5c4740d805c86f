// SPDX-License-Identifier: Apache-2.0
//
// The seam between what training decides (Trainer: schedule, validation, stopping, checkpoints, the record) and what
// computes it: an engine holds the rows of one training set and one network, and runs whole epochs. Engines on the
// processor (host_engine.h) differ by network; an engine on a graphics card is a peer, so nothing here is called for a
// batch: an epoch's order, batches, dropout and steps are the engine's own and need not come back to the host.
//
// Memory. The trainer owns the state (parameters and Adam's moments) and lends it for a call; an engine may keep a copy
// of its own for as long as the call lasts. The engine owns what it loads of the rows, workspaces and the gradient. The
// training set and the objective belong to whoever made the engine and outlive it.
//
// Determinism. An engine keeps nothing from one call to the next that reaches a number: the result of run_epoch depends
// on the set, the objective, the plan and the state alone, to the byte, on any number of threads and in every run on
// one kind of processor or card. Random numbers are keyed by (seed, epoch, place in the order), never drawn in the
// order of execution. So a run that is resumed from a saved state ends with the same bytes. Two engines of one network
// start at the same parameters and agree but for rounding on the same order of rows; the order is each engine's own.
//
// One caller at a time; an engine uses the threads of the context it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/training_set.h"
#include "dfcl/nn/adam.h"

namespace dfcl::nn {

// What an epoch changes.
struct EngineState {
  std::vector<float> parameters;
  AdamState<float> adam{0};
};

// One pass over rows of the set: shuffled, then in batches, the last of which may be shorter.
struct EpochPlan {
  std::span<const std::uint32_t>
      rows;  // the same at each call of one fit; an engine may rely on that to load them once
  std::size_t batch = 0;
  AdamOptions adam;
  std::uint64_t seed = 0;
  std::size_t epoch = 0;  // with the seed, the key of the order and of the dropout
};

// Of the objective's losses, one each, not weighted.
struct EpochLosses {
  std::vector<double> means;  // over all rows, each by the parameters before its batch's step
  // The first step with a loss or a gradient that is not finite ended the epoch: means are those of its batch, and the
  // state is of no use any more.
  bool failed = false;
  double norm = 0.0;  // the length of that step's gradient
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Where a fit starts that starts from no model.
  virtual std::vector<float> initial_parameters(std::uint64_t seed) = 0;

  // Checks between batches, or as often as it can, whether the run was cancelled.
  virtual EpochLosses run_epoch(const EpochPlan& plan, EngineState& state, core::RunContext& context) = 0;

  // Scaled predictions of rows of the set, or scores, by these parameters, without dropout; means over members where
  // the network has them.
  virtual learn::Predicted predict(std::span<const float> parameters, std::span<const std::uint32_t> rows,
                                   core::RunContext& context) = 0;
};

}  // namespace dfcl::nn
