// SPDX-License-Identifier: Apache-2.0
//
// What a graphics card is asked to train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "dfcl/core/precision.h"
#include "dfcl/loss/loss.h"
#include "dfcl/loss/prediction_loss.h"
#include "dfcl/nn/adam.h"
#include "dfcl/nn/outcome_network.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn::cuda {

using core::Precision;

enum class DecisionKind : std::uint8_t { none, policy, ifd, ifd_softmax };

// The losses that a card can compute.
struct CardLosses {
  loss::PredictionOptions prediction;
  double prediction_weight = 1.0;
  DecisionKind decision = DecisionKind::none;
  loss::DecisionOptions decision_options = {};
  double decision_weight = 1.0;
  bool needs_nuisance() const {
    return decision != DecisionKind::none && decision_options.baseline == loss::Baseline::doubly_robust;
  }
};

struct CardOptions : CardLosses {
  AdamOptions adam = {};
  std::size_t batch = 1024;
  Precision precision = Precision::tf32;
  // Rows of more bytes stay in the machine's memory, as those do for which the card's is too small.
  std::uint64_t most_row_bytes = std::numeric_limits<std::uint64_t>::max();
};

struct CardNetworkOptions : CardOptions {
  OutcomeNetworkOptions network;
  std::size_t tile_rows = 0;  // rows that a block of threads takes at once: 32, 64 or 128; 0: chosen by the batch
};

struct CardTableOptions : CardOptions {
  TableOptions table;
  double dropout = 0.0;
};

}  // namespace dfcl::nn::cuda
