// SPDX-License-Identifier: Apache-2.0
//
// A tile of units on its way through a network for tables, and back. The members' rows lie one after the other: row r
// of member k is row k x units + r. One tile a thread, used again; about 2 MB at the usual width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/nn/table/member_loops.h"
#include "dfcl/nn/table/table_network.h"

namespace dfcl::nn {

// The dropout of one step of training, and the number of the tile's first unit in its batch.
struct TileDropout {
  Dropout first = {};
  Dropout second = {};
  std::uint32_t first_unit = 0;
};

template <class T>
class TableTile {
 public:
  explicit TableTile(const TableNetwork<T>& network);

  // Members' rows x arms: predictions after forward, and d loss / d prediction, to be filled before backward.
  core::MatrixView<T> revenue() { return revenue_.view(); }
  core::MatrixView<T> cost() { return cost_.view(); }
  core::MatrixView<T> revenue_gradient() { return revenue_gradient_.view(); }
  core::MatrixView<T> cost_gradient() { return cost_gradient_.view(); }

  // sums: units x width, what the first layer's lookups add up to, bias included. At most network.tile_units() units.
  void forward(const TableNetwork<T>& network, const T* sums, std::size_t num_units, const TileDropout& dropout);
  // After forward with the same arguments: sets sums_gradient (units x width) and adds to gradient, that of the
  // parameters from layout().first_bias on.
  void backward(const TableNetwork<T>& network, const T* sums, std::size_t num_units, const TileDropout& dropout,
                T* sums_gradient, T* gradient);

 private:
  MemberRows rows_of(const TableNetwork<T>& network, std::size_t num_units, std::size_t member,
                     std::uint32_t first_unit) const;
  void backward_outputs(const TableNetwork<T>& network, std::size_t num_units, const TileDropout& dropout, T* gradient);

  AlignedBuffer<T> hidden1_, sums2_, hidden2_, gradient1_, gradient2_, columns_, panels_;  // kTileRows x width
  core::Matrix<T> raw_, raw_gradient_;                                                     // outputs x kTileRows
  core::Matrix<T> revenue_, cost_, revenue_gradient_, cost_gradient_;                      // kTileRows x arms
  HeadWorkspace<T> revenue_head_, cost_head_;
  std::vector<const T*> revenue_raw_, cost_raw_;
  std::vector<T*> revenue_raw_gradient_, cost_raw_gradient_;
};

extern template class TableTile<float>;
extern template class TableTile<double>;

}  // namespace dfcl::nn
