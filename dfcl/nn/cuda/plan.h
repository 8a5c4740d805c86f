// SPDX-License-Identifier: Apache-2.0
//
// How a network lies on a graphics card: plain numbers, made once on the host (make_plan) and handed to every kernel.
// A block of threads takes a tile of rows through all layers; activations stay in its shared memory,
// `row_floats` words a row. A word is a number, or with bf16 two neighbours. Widths are padded to 16. Parameters,
// moments and gradients lie in the order of the layout: for each layer a matrix of n16 x k32 and n16 biases; what pads
// has no parameter. Beside that, `packed` holds the weights in the order in which the matrix units read them, once for
// the way forward and once for the way back.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/for_each_processor.h"
#include "dfcl/loss/baseline.h"
#include "dfcl/loss/ifd_kernel.h"
#include "dfcl/loss/ifd_softmax_kernel.h"
#include "dfcl/loss/policy_kernel.h"
#include "dfcl/nn/cuda/card_options.h"
#include "dfcl/nn/head_lines.h"

namespace dfcl::nn::cuda {

inline constexpr int kMostLayers = 12;
inline constexpr int kMostArms = 32;
inline constexpr int kMostMultipliers = 64;
// A unit of the reduction over blocks: positions of the layout.
inline constexpr int kUnitPositions = 128;
// Numbers after the inputs of a row: revenue, cost, weight, arm; with the doubly robust form then the nuisance
// predictions of revenue and of cost and the sample weight.
inline constexpr int kRecordFacts = 4;
constexpr std::size_t record_facts(bool with_nuisance, std::size_t num_arms) {
  return kRecordFacts + (with_nuisance ? 2 * num_arms + 1 : 0);
}

struct LayerPlan {
  int outputs;     // of all heads
  int k16;         // inputs, padded
  int k_pairs;     // of fragments that hold the inputs: 16 words each
  int n_pairs;     // likewise of the outputs
  int n8;          // outputs, padded to 8
  int n16;         // outputs, padded
  int k32;         // inputs, padded to 32: distance of the rows of the layout's matrix
  int in_offset;   // of the activations that come in, in words of shared memory for one row of a tile
  int out_offset;  // of those that go out, and later of their gradient
  int groups;      // 1, or blocks on the diagonal: heads that read their own part of the input
  int group_inputs, group_outputs;
  int weight, bias;                                  // in the layout
  int packed_forward, packed_backward, packed_bias;  // in `packed`, in floats
  bool relu;
};

struct LossPlan {
  HeadLines<float> revenue;
  HeadLines<float> cost;
  std::uint8_t revenue_column[kMostArms];  // of the outputs: raw output i of the head
  std::uint8_t cost_column[kMostArms];
  int num_arms;
  bool plain;  // both heads have a plain shape
  bool use_revenue, use_cost;
  double prediction_factor;  // weight / arms, of the gradient of a row
  DecisionKind decision;
  loss::Baseline baseline;
  bool gradient_to_cost;
  double decision_factor;  // weight / multipliers
  int num_multipliers;
  float multipliers[kMostMultipliers];
  loss::PolicyKernel<float> policy;
  loss::IfdKernel<float> ifd;
  loss::IfdSoftmaxKernel<float> ifd_softmax;
};

struct NetworkPlan {
  int num_layers;
  LayerPlan layers[kMostLayers];
  int inputs;
  int record_inputs;  // words of a row's record before what was observed
  int first_fact;     // word of a row in shared memory from which on that lies
  int record_floats;  // words of one row in the memory of the card, a multiple of 4
  int row_floats;     // of one row in shared memory
  int layout_size;    // a multiple of kUnitPositions
  int packed_size;
  LossPlan loss;
};

// Of every position of the layout.
struct LayoutMaps {
  std::vector<std::int32_t> parameter;  // which parameter it is; -1: none
  std::vector<std::int32_t> forward;    // where `packed` holds it: which float, or with bf16 which half of one
  std::vector<std::int32_t> backward;   // likewise; -1: nowhere, -2: nowhere and it is a bias, which is never rounded
};

struct Plan {
  NetworkPlan network;
  LayoutMaps maps;
  std::size_t num_parameters = 0;
};

// Throws Error of kind unavailable, with what is too large, for what the card's engines do not take.
void require_at_most(const char* what, std::size_t found, std::size_t most);
LossPlan make_loss_plan(const CardLosses& losses, const OutcomeHead<float>& revenue, const OutcomeHead<float>& cost,
                        std::span<const std::size_t> revenue_outputs, std::span<const std::size_t> cost_outputs);
Plan make_plan(const CardNetworkOptions& options, bool with_nuisance);

// Columns of a word.
DFCL_INLINE constexpr int columns_per_word(Precision precision) { return precision == Precision::bf16 ? 2 : 1; }

// Where the matrix units find the weight between word k of the inputs and output n: a fragment of 16 inputs x 8 outputs
// is 32 lanes x 4 numbers, a lane has inputs t, t + 4, t + 8, t + 12 of output g, lane = 4 g + t.
inline int packed_index(int n, int k, int k_pairs) {
  const int lane = n % 8 * 4 + k % 4;
  const int element = k % 16 / 4;
  return ((n / 8 * k_pairs + k / 16) * 32 + lane) * 4 + element;
}

// Where a tile keeps a number in shared memory: blocks of 32 columns, in each a line of 32 numbers a row. The numbers
// of a line are permuted, differently in the 8 rows of a fragment, so that neither fragments of rows nor of columns
// meet a bank twice.
DFCL_INLINE int permutation_of(int row) { return (row & 3) << 3 | (row & 4); }
DFCL_INLINE int place_in_tile(int tile_rows, int row, int column) {
  return (column >> 5) * (tile_rows * 32) + row * 32 + ((column & 31) ^ permutation_of(row));
}

// tf32 has 10 bits after the point: rounds to the nearest, so that the matrix units cut nothing. Some NaNs become zero.
DFCL_INLINE float rounded_number(float x) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) & 0xffffe000u);
}
// The same, and NaN stays NaN.
DFCL_INLINE float rounded_to_tf32(float x) { return x == x ? rounded_number(x) : x; }
// The upper half of float32, to the nearest, as the card rounds.
inline std::uint16_t bf16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace dfcl::nn::cuda
