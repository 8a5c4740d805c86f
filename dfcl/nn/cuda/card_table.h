// SPDX-License-Identifier: Apache-2.0
//
// Trains a network for tables (nn/table) on one graphics card: the units' lookups are loaded once, and whole epochs run
// on the card. Dropout is that of the processor, bit for bit; fp32 gives the processor's numbers but for rounding. The
// same bytes in every run on one kind of card. A build without CUDA links a stub that throws Error of kind unavailable.
// Memory on the card: units x (8 x columns + 4 x (4 + nuisance)) bytes; for each unit of a batch 4 x (2 x members + 1)
// x width bytes and 4 a knot and level; up to 70 copies of the second layer and 12 of the first; 32 MiB for the library
// of products.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/nn/cuda/engine.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn::cuda {

struct CardTableOptions : CardLosses {
  TableOptions table;
  double dropout = 0.0;
  AdamOptions adam = {};
  std::size_t batch = 1024;
  Precision precision = Precision::tf32;
};

class CardTable {
 public:
  // The encoding must outlive this. Throws Error: unavailable without a card, without memory on it, or for a network
  // that does not fit; usage for options that contradict each other.
  CardTable(const TableEncoding& encoding, const CardTableOptions& options);
  ~CardTable();
  CardTable(CardTable&&) noexcept;
  CardTable& operator=(CardTable&&) noexcept;

  // Units to train on, or to predict: rows of the features as they were read, and of the outcomes, in this order.
  void load(core::MatrixView<const float> features, const TrainingRows& data, std::span<const std::uint32_t> rows,
            core::RunContext& context);
  void load_validation(core::MatrixView<const float> features, const TrainingRows& data,
                       std::span<const std::uint32_t> rows, core::RunContext& context);

  void set_adam(const AdamOptions& adam);
  void set_state(const EngineState& state);
  EngineState state() const;
  std::vector<float> gradient() const;  // of the last step

  // One pass over the units in an order drawn on the card, or in the one given, which names places of the rows loaded.
  // The dropout follows (seed, epoch, place of the batch), as on the processor.
  EpochResult run_epoch(std::uint64_t seed, std::uint64_t epoch);
  EpochResult run_epoch(std::span<const std::uint32_t> order, std::uint64_t seed, std::uint64_t epoch);

  // Of the validation units: means over members, rows x arms.
  void predict(core::MatrixView<float> revenue, core::MatrixView<float> cost);

 private:
  class Card;
  std::unique_ptr<Card> card_;
};

}  // namespace dfcl::nn::cuda
