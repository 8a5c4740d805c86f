// SPDX-License-Identifier: Apache-2.0
//
// The network for tables (section 8.1 of docs/method.md): a first layer by lookup, then members that differ only by
// scales, biases and their output layers around one shared second layer, as in TabM (arXiv 2410.24210):
//
//   a       = bias + sum over columns of looked-up rows                        shared, width numbers
//   h_k     = dropout(relu(a x scale1_k + bias1_k)) x sign_k                   member k
//   y_k     = h_k second                                                       second: width x width, shared
//   g_k     = dropout(relu(y_k x scale2_k + bias2_k))
//   raw_k   = heads_k g_k + bias of heads_k                                    outputs of both outcomes
//   (outcome_head.h)
//
// Every member predicts both outcomes; the network's prediction is the mean over members. Trained on the mean of the
// members' losses. Parameters are one flat vector with a table of named tensors. T is float for training and double for
// checks of gradients. Memory: parameters, one row of values a knot and level, and twice the second layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/nn/inputs/table_encoding.h"
#include "dfcl/nn/network.h"
#include "dfcl/nn/outcome_head.h"
#include "dfcl/nn/table/aligned_buffer.h"

namespace dfcl::nn {

inline constexpr std::size_t kTableWidth = 256;
inline constexpr std::size_t kTableWidthStep = 32;
inline constexpr std::size_t kMostTableWidth = 1024;
inline constexpr std::size_t kMostTableMembers = 64;
// Weights of the first layer: 1 GiB of float32.
inline constexpr std::size_t kMostFirstWeights = std::size_t{1} << 28;

struct TableOptions {
  std::size_t width = kTableWidth;  // of both hidden layers; a multiple of kTableWidthStep
  std::size_t members = 8;
  OutcomeOptions revenue = {};
  OutcomeOptions cost = {};
  bool operator==(const TableOptions&) const = default;
};

// Where the tensors lie in the parameters.
struct TableLayout {
  std::size_t first = 0;                 // weights x width
  std::size_t first_bias = 0;            // width; from here on are the parameters that every unit uses
  std::size_t scale1 = 0, bias1 = 0;     // members x width
  std::size_t sign = 0;                  // members x width
  std::size_t second = 0;                // width (of y) for each of width (of h)
  std::size_t scale2 = 0, bias2 = 0;     // members x width
  std::size_t heads = 0, head_bias = 0;  // members x outputs x width, members x outputs
  std::size_t size = 0;
};

// The number of parameters, without making any; 0 where the options are out of range.
std::size_t num_table_parameters(const TableEncoding& encoding, const TableOptions& options);

template <class T>
class TableNetwork {
 public:
  // The encoding must outlive the network. Throws Error of kind usage where the options are out of range.
  TableNetwork(const TableEncoding& encoding, const TableOptions& options);

  const TableEncoding& encoding() const { return *encoding_; }
  const TableOptions& options() const { return options_; }
  const TableLayout& layout() const { return layout_; }
  const OutcomeHead<T>& revenue() const { return revenue_; }
  const OutcomeHead<T>& cost() const { return cost_; }
  std::size_t num_outputs() const { return revenue_.num_outputs() + cost_.num_outputs(); }  // of a member
  std::size_t width() const { return options_.width; }
  std::size_t members() const { return options_.members; }
  // Units of a tile, so that the members' rows are at most kTileRows.
  std::size_t tile_units() const { return kTileRows / options_.members; }

  std::vector<Tensor> tensors() const;
  std::span<T> parameters() { return parameters_; }
  std::span<const T> parameters() const { return parameters_; }

  // Shared weights uniform within 1 / sqrt(inputs); scales of the first layer 1 + 0.5 normal and random signs, which
  // set the members apart; heads normal with deviation 0.02.
  void initialise(std::uint64_t seed);

  // What is made from the parameters once after each change: values at the knots, the second layer in panels.
  void refresh(core::RunContext& context);
  void refresh();  // on this thread
  const T* values() const { return values_.data(); }
  const T* second_panels() const { return second_panels_.data(); }
  const T* transposed_panels() const { return transposed_panels_.data(); }

 private:
  void refresh_part(std::size_t part);

  const TableEncoding* encoding_;
  TableOptions options_;
  OutcomeHead<T> revenue_;
  OutcomeHead<T> cost_;
  TableLayout layout_;
  std::vector<T> parameters_;
  AlignedBuffer<T> values_;             // rows of values and one more, x width
  AlignedBuffer<T> second_panels_;      // panel_product.h
  AlignedBuffer<T> transposed_panels_;  // of the second layer's transpose
};

extern template class TableNetwork<float>;
extern template class TableNetwork<double>;

}  // namespace dfcl::nn
