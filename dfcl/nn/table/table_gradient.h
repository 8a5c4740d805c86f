// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the losses over one batch of a network for tables: the mean over its members, each with its own
// loss. Units pass in fixed chunks, whose gradients of the shared layers are added in order; the first layer's gradient
// is made column by column, each over the whole batch. So the result is the same bytes on any number of threads.
// Memory: the lookups and two rows of the first layer a unit of the batch, and the shared layers once a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/loss/loss.h"
#include "dfcl/nn/batch_gradient.h"
#include "dfcl/nn/table/table_tile.h"
#include "dfcl/nn/workspace_pool.h"

namespace dfcl::nn {

// The dropout of a step: a share of numbers, and what its random numbers follow.
struct StepDropout {
  double share = 0.0;
  std::uint64_t seed = 0;
};
// Of hidden layer 1 or 2.
Dropout dropout_key(const StepDropout& dropout, std::uint64_t layer);

template <class T>
class TableGradient {
 public:
  // The network's parameters are read anew at every call; it must outlive this.
  explicit TableGradient(const TableNetwork<T>& network);

  // Sets gradient to that of sum over losses of weight x mean over the batch and the members; returns the means, one
  // for each loss, not weighted. features: of all units, as they were read.
  std::vector<double> compute(core::RunContext& context, core::MatrixView<const float> features,
                              const TrainingRows& data, std::span<const std::uint32_t> batch,
                              std::span<const WeightedLoss<T>> losses, const StepDropout& dropout,
                              std::span<T> gradient);

 private:
  // The outcomes of a tile's units, once for each member, and the tile.
  struct Workspace {
    explicit Workspace(const TableNetwork<T>& network);
    TableTile<T> tile;
    std::vector<std::uint8_t> arm;
    std::vector<float> revenue, cost, weight, sample;
    std::vector<std::uint32_t> unit;
    core::Matrix<float> nuisance_revenue, nuisance_cost;
  };
  struct Chunk {
    AlignedBuffer<T> gradient;                // of the parameters from the first layer's bias on
    std::vector<double> sums;                 // one for each loss
    std::vector<std::vector<double>> totals;  // one for each loss: members x totals
  };
  struct Batch {
    const TrainingRows& data;
    std::span<const std::uint32_t> units;
    std::span<const WeightedLoss<T>> losses;
    Dropout first;
    Dropout second;
  };

  std::size_t num_shared() const { return network_.layout().size - network_.layout().first_bias; }
  void plan(std::size_t num_units);
  void look_up(core::RunContext& context, core::MatrixView<const float> features, std::span<const std::uint32_t> units);
  TileDropout dropout_of(const Batch& batch, std::size_t first) const;
  loss::Rows<T> forward(Workspace& workspace, const Batch& batch, std::size_t first, std::size_t count);
  std::vector<std::vector<double>> totals_of(core::RunContext& context, const Batch& batch);
  void run_chunk(std::size_t index, const Batch& batch, const std::vector<std::vector<double>>& totals);
  void add_losses(Workspace& workspace, const Batch& batch, const loss::Rows<T>& rows,
                  const std::vector<std::vector<double>>& totals, std::vector<double>& sums);
  void sum_chunks(core::RunContext& context, T* gradient);
  void fill_first(core::RunContext& context, T* gradient);

  const TableNetwork<T>& network_;
  WorkspacePool<Workspace> workspaces_;
  WorkspacePool<std::vector<T>> scratch_;  // rows of values of one column
  std::vector<Chunk> chunks_;
  std::size_t num_units_ = 0;
  std::size_t chunk_units_ = 0;
  std::size_t num_chunks_ = 0;
  std::vector<Lookup> lookups_;     // units x columns
  AlignedBuffer<T> sums_;           // units x width
  AlignedBuffer<T> sums_gradient_;  // units x width
};

extern template class TableGradient<float>;
extern template class TableGradient<double>;

}  // namespace dfcl::nn
