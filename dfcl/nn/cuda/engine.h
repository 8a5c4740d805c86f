// SPDX-License-Identifier: Apache-2.0
//
// Trains a network on one graphics card: rows are loaded once, whole epochs run on the card without the host, and come
// back as losses and parameters. The networks, losses and optimiser are those of the processor (OutcomeNetwork,
// prediction, PL, MER, IFD and IFD-softmax losses, Adam); fp32 gives the processor's numbers but for rounding, tf32 is
// several times faster. The same bytes in every run on one kind of card. No CUDA in this header: a build without CUDA
// links a stub that throws Error of kind unavailable. Memory on the card: rows x (inputs + 4 + nuisance) x 4 bytes, and
// about 150 copies of the parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/cuda/card.h"
#include "dfcl/nn/cuda/engine_options.h"

namespace dfcl::nn::cuda {

// What a checkpoint of training holds.
struct EngineState {
  std::vector<float> parameters;
  std::vector<float> mean;
  std::vector<float> mean_square;
  std::uint64_t step = 0;
};

// Means over the rows, not weighted.
struct MeanLosses {
  double prediction = 0.0;
  double decision = 0.0;
};

struct EpochResult {
  MeanLosses losses;  // before each step, over all steps
  std::uint64_t steps = 0;
  std::optional<std::uint64_t> failed_step = {};  // the first whose gradient was not finite, counted in this epoch
};

class Engine {
 public:
  // Throws Error: unavailable without a card, without memory on it, or for a network that does not fit; usage for
  // options that contradict each other.
  explicit Engine(const EngineOptions& options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // The rows to train on, or to validate on: inputs (rows x inputs) as preprocessed for the network.
  void load(core::MatrixView<const float> inputs, const TrainingRows& rows);
  void load_validation(core::MatrixView<const float> inputs, const TrainingRows& rows);

  void set_adam(const AdamOptions& adam);
  void set_state(const EngineState& state);
  EngineState state() const;
  // Of the last step.
  std::vector<float> gradient() const;

  // One pass over the rows in an order drawn on the card, or in the one given (which may name any rows).
  EpochResult run_epoch(std::uint64_t seed, std::uint64_t epoch);
  EpochResult run_epoch(std::span<const std::uint32_t> order);

  // On the validation rows, by the parameters at hand: the losses, and with matrices of rows x arms the predictions.
  MeanLosses validate(core::MatrixView<float> revenue = {}, core::MatrixView<float> cost = {});

  std::size_t tile_rows() const;
  std::size_t num_blocks() const;

 private:
  class Card;
  std::unique_ptr<Card> card_;
};

}  // namespace dfcl::nn::cuda
