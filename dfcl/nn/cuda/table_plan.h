// SPDX-License-Identifier: Apache-2.0
//
// How a network for tables lies on a graphics card (nn/table/table_network.h has its formulas): plain numbers, made
// once on the host. Positions of parameters, moments and gradients are those of the shared second layer (outputs x
// inputs), then the members' one after the other (scale1, bias1, sign, scale2, bias2, heads, their biases; padded),
// then the rows of the first layer and its bias as on the processor. What products read lies in `packed`: the second
// layer, its transpose, and the members' heads (outputs padded to 16 x width).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/nn/cuda/plan.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn::cuda {

// The width of both hidden layers, known to the compiler.
inline constexpr int kCardWidth = static_cast<int>(kTableWidth);
inline constexpr int kSecondSize = kCardWidth * kCardWidth;
// Parts of a member's positions.
inline constexpr int kScale2 = 3 * kCardWidth;
inline constexpr int kBias2 = 4 * kCardWidth;
inline constexpr int kHeads = 5 * kCardWidth;
// A thread keeps the sums of so many members.
inline constexpr int kMembersAtOnce = 8;

// A column of the table, its rows of values and of weights as TableColumn has them.
struct CardColumn {
  std::int32_t kind;
  std::int32_t first_value, num_values;
  std::int32_t first_weight, num_weights;
  std::int32_t low;
  std::int32_t first_fact;  // of its knots, or of its levels' shares
};

struct TablePlan {
  int members;
  int num_columns, num_values, num_weights;
  int encoded;        // numbers of an encoded unit: one a row of values, padded to 32
  int outputs;        // of a member
  int n16;            // outputs, padded
  int member_size;    // positions of a member
  int shared_size;    // positions before the first layer's
  int packed_size;    // of the second layer twice and the heads
  int record_floats;  // of a unit's outcomes in the memory of the card
  LossPlan loss;

  DFCL_INLINE int member_position(int member) const { return kSecondSize + member * member_size; }
  DFCL_INLINE int head_bias() const { return kHeads + n16 * kCardWidth; }  // in a member's positions
  DFCL_INLINE int packed_heads(int member) const { return 2 * kSecondSize + member * n16 * kCardWidth; }
  DFCL_INLINE std::size_t num_positions() const {
    return std::size_t(shared_size) + std::size_t(num_weights + 1) * kCardWidth;
  }
};

struct TableCardPlan {
  TablePlan network;
  LayoutMaps maps;  // of the shared positions
  std::vector<CardColumn> columns;
  std::vector<float> facts;  // knots and shares
  std::size_t num_parameters = 0;
};

// Throws Error of kind unavailable, with what is too large, for a network that the card does not take.
TableCardPlan make_table_plan(const CardLosses& losses, const TableNetwork<float>& network);

}  // namespace dfcl::nn::cuda
