// SPDX-License-Identifier: Apache-2.0
//
// Trains a network on one graphics card: rows are loaded once, whole epochs run on the card without the host, and come
// back as losses and parameters. The networks, losses and optimiser are those of the processor (plain networks and
// networks for tables; prediction, PL, MER, IFD and IFD-softmax losses; Adam; dropout bit for bit); fp32 gives the
// processor's numbers but for rounding, tf32 is several times faster. The same bytes in every run on one kind of card,
// whatever else runs on it: each has a stream of its own, and several may train at the same time, one a thread. No CUDA
// in this header: a build without CUDA links a stub that throws Error of kind unavailable.
//
// Memory. Rows lie on the card; where they are too large for it, in the machine's memory (or in files of the scratch
// folder), from which the rows of the next steps are sent while the card makes the steps before, to the same bytes:
// some 256 MiB at a time on the card. A row of a plain network takes 4 x (inputs + 4 + nuisance) bytes, of a table 8 x
// columns + 4 x (4 + nuisance). Beside that, on the card: for a plain network some 150 copies of the parameters; for a
// table, for each unit of a batch 4 x (2 x members + 1) x width bytes and 4 a knot and level, up to 70 copies of the
// second layer and 12 of the first, and 32 MiB for the library of products.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/cuda/card.h"
#include "dfcl/nn/cuda/card_options.h"

namespace dfcl::nn::cuda {

// What a checkpoint of training holds.
struct CardState {
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

// How the card is used, for benchmarks.
struct CardUse {
  std::size_t tile_rows = 0;   // that a block of threads takes at once
  std::size_t num_blocks = 0;  // that run at the same time
  bool rows_on_card = true;    // else in the machine's memory
};

class TrainingCard {
 public:
  virtual ~TrainingCard() = default;

  // The rows to train on, or to predict: these of the outcomes, in this order.
  virtual void load(const TrainingRows& data, std::span<const std::uint32_t> rows, core::RunContext& context) = 0;
  virtual void load_validation(const TrainingRows& data, std::span<const std::uint32_t> rows,
                               core::RunContext& context) = 0;

  virtual void set_adam(const AdamOptions& adam) = 0;
  virtual void set_state(const CardState& state) = 0;
  virtual CardState state() const = 0;
  virtual std::vector<float> gradient() const = 0;  // of the last step

  // One pass over the rows in an order drawn on the card, or in the one given, which names places of the rows loaded.
  // Dropout follows (seed, epoch, place of the batch), as on the processor.
  virtual EpochResult run_epoch(std::uint64_t seed, std::uint64_t epoch, core::RunContext& context) = 0;
  virtual EpochResult run_epoch(std::span<const std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch,
                                core::RunContext& context) = 0;

  // Of the validation rows, by the parameters at hand, means over members: rows x arms.
  virtual void predict(core::MatrixView<float> revenue, core::MatrixView<float> cost, core::RunContext& context) = 0;

  virtual CardUse use() const = 0;
};

// fill: the inputs of rows; encoding, features (as they were read): of a table; both must outlive the card. Throw
// Error: unavailable without a card, without memory on it, or for a network that does not fit; usage for options that
// contradict each other.
std::unique_ptr<TrainingCard> make_card(const CardNetworkOptions& options, FillInputs<float> fill);
std::unique_ptr<TrainingCard> make_card(const CardTableOptions& options, const TableEncoding& encoding,
                                        core::MatrixView<const float> features);

}  // namespace dfcl::nn::cuda
