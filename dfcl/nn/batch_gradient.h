// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the losses over one batch: rows are gathered tile by tile, pass forward, meet the losses, and pass
// backward. A batch is cut into at most kNumChunks fixed chunks, whatever the threads; each has a gradient of its own,
// and they are added in order, so the result is the same bytes on any number of threads. Time: that of the matrix
// products and a tenth; memory: kNumChunks x parameters, and a workspace of about 1 MB a thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/loss/loss.h"
#include "dfcl/nn/outcome_network.h"
#include "dfcl/nn/workspace_pool.h"

namespace dfcl::nn {

inline constexpr std::size_t kNumChunks = 16;

// The outcomes of all training rows, in scaled units; a batch names rows of it.
struct TrainingRows {
  std::span<const std::uint8_t> arm;
  std::span<const float> revenue;
  std::span<const float> cost;
  std::span<const float> weight;                        // 1 / probability of the arm received
  core::MatrixView<const float> nuisance_revenue = {};  // rows x arms, or empty
  core::MatrixView<const float> nuisance_cost = {};
  std::span<const float> sample = {};  // sample weights, which weight holds too; empty: all alike
};

// Fills inputs (as many rows as named) with the preprocessed features of the rows named. Called by several threads.
template <class T>
using FillInputs = std::function<void(std::span<const std::uint32_t> rows, core::MatrixView<T> inputs)>;

// Inputs that are rows of a matrix in memory.
template <class T>
FillInputs<T> inputs_from(core::MatrixView<const float> features);

using loss::WeightedLoss;

struct BatchOptions {
  // Every loss looks at the arm received only (the prediction loss does). Rows are then grouped by arm and the heads of
  // the other arms are skipped where the network has heads; the gradient is the same but for rounding.
  bool received_arm_only = false;
};

template <class T>
class BatchGradient {
 public:
  // The model gives the shapes; its parameters are read anew at every call and it must outlive this.
  explicit BatchGradient(const OutcomeNetwork<T>& model);

  // Sets `gradient` to that of sum over losses of weight x mean over the batch, and returns the means, one for each
  // loss, not weighted.
  std::vector<double> compute(core::RunContext& context, const FillInputs<T>& fill_inputs, const TrainingRows& data,
                              std::span<const std::uint32_t> batch, std::span<const WeightedLoss<T>> losses,
                              const BatchOptions& options, std::span<T> gradient);

 private:
  struct Tile {
    std::size_t begin = 0;  // in rows_
    std::size_t count = 0;
    std::optional<std::size_t> only = {};  // arm
  };
  struct Workspace {
    explicit Workspace(const OutcomeNetwork<T>& model);
    TileWorkspace<T> tile;
    std::vector<std::uint8_t> arm;
    std::vector<float> revenue;
    std::vector<float> cost;
    std::vector<float> weight;
    core::Matrix<float> nuisance_revenue;
    core::Matrix<float> nuisance_cost;
    std::vector<float> sample;
  };
  // The work of a chunk, apart from the others'.
  struct Chunk {
    std::vector<T> gradient;
    std::vector<double> sums;                 // one for each loss
    std::vector<std::vector<double>> totals;  // one for each loss
  };

  void plan(const TrainingRows& data, std::span<const std::uint32_t> batch, const BatchOptions& options);
  void add_tiles(std::size_t begin, std::size_t end, std::optional<std::size_t> only);
  loss::Rows<T> forward(Workspace& workspace, const FillInputs<T>& fill_inputs, const TrainingRows& data,
                        const Tile& tile);
  std::vector<std::vector<double>> totals_of(core::RunContext& context, const FillInputs<T>& fill_inputs,
                                             const TrainingRows& data, std::span<const WeightedLoss<T>> losses);
  void run_chunk(Chunk& chunk, std::size_t index, const FillInputs<T>& fill_inputs, const TrainingRows& data,
                 std::span<const WeightedLoss<T>> losses, const std::vector<std::vector<double>>& totals);
  template <class Body>
  void for_each_tile(std::size_t chunk, Body&& body);
  std::span<const HeadRange> heads_of(const Tile& tile) const;
  std::size_t num_chunks() const { return std::min(tiles_.size(), kNumChunks); }

  const OutcomeNetwork<T>& model_;
  WorkspacePool<Workspace> workspaces_;
  std::vector<std::vector<HeadRange>> heads_of_arm_;
  std::span<const std::uint32_t> rows_;  // of the batch at hand, in the order of the tiles
  std::vector<std::uint32_t> grouped_rows_;
  std::vector<Tile> tiles_;
  std::vector<Chunk> chunks_;
};

extern template class BatchGradient<float>;
extern template class BatchGradient<double>;

}  // namespace dfcl::nn
