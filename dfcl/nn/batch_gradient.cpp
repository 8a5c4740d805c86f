// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/batch_gradient.h"

#include <algorithm>
#include <memory>

#include "dfcl/core/error.h"
#include "dfcl/core/for_each_processor.h"
#include "dfcl/core/parallel.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t rounded_up(std::size_t rows) { return (rows + kRowStep - 1) / kRowStep * kRowStep; }

template <class From, class To>
void gather(std::span<const std::uint32_t> rows, std::span<const From> from, std::vector<To>& to) {
  for (std::size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
}

core::MatrixView<const float> gather(std::span<const std::uint32_t> rows, core::MatrixView<const float> from,
                                     core::Matrix<float>& to) {
  if (from.data == nullptr) return {};
  if (to.cols() != from.cols) to = core::Matrix<float>(kTileRows, from.cols);
  for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(from.row(rows[i]), to.row(i).begin());
  return to.view().slice(0, rows.size());
}

// Chunks added up in their order, in float64.
constexpr std::size_t kSumBlock = 1024;

template <class T>
DFCL_INLINE void add_chunk_body(std::size_t size, const T* part, double* sums) {
  for (std::size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(part[i]);
}
DFCL_FOR_EACH_PROCESSOR void add_chunk(std::size_t size, const float* part, double* sums) {
  add_chunk_body(size, part, sums);
}
void add_chunk(std::size_t size, const double* part, double* sums) { add_chunk_body(size, part, sums); }

template <class T>
void clear(core::MatrixView<T> matrix) {
  std::fill_n(matrix.data, matrix.size(), T(0));
}

}  // namespace

template <class T>
FillInputs<T> inputs_from(core::MatrixView<const float> features) {
  return [features](std::span<const std::uint32_t> rows, core::MatrixView<T> inputs) {
    constexpr std::size_t kAhead = 8;  // rows of a shuffled batch are far apart in memory
    constexpr std::size_t kLine = 64 / sizeof(float);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) {
        const float* ahead = features.row(rows[i + kAhead]).data();
        for (std::size_t j = 0; j < features.cols + kLine - 1; j += kLine) __builtin_prefetch(ahead + j);
      }
      const std::span<const float> from = features.row(rows[i]);
      std::copy(from.begin(), from.end(), inputs.row(i).begin());
    }
  };
}

template <class T>
BatchGradient<T>::Workspace::Workspace(const OutcomeNetwork<T>& model)
    : tile(model), arm(kTileRows), revenue(kTileRows), cost(kTileRows), weight(kTileRows) {}

template <class T>
BatchGradient<T>::BatchGradient(const OutcomeNetwork<T>& model)
    : model_(model), workspaces_([&model] { return std::make_unique<Workspace>(model); }), chunks_(kNumChunks) {
  for (std::size_t arm = 0; arm < model.cost().num_arms(); ++arm) heads_of_arm_.push_back(model.heads_of(arm));
}

template <class T>
void BatchGradient<T>::add_tiles(std::size_t begin, std::size_t end, std::optional<std::size_t> only) {
  for (; begin < end; begin += kTileRows) tiles_.push_back({begin, std::min(kTileRows, end - begin), only});
}

// Rows keep the order of the batch, within their arm where they are grouped.
template <class T>
void BatchGradient<T>::plan(const TrainingRows& data, std::span<const std::uint32_t> batch,
                            const BatchOptions& options) {
  tiles_.clear();
  if (!options.received_arm_only || !model_.can_skip_heads()) {
    rows_ = batch;
    add_tiles(0, batch.size(), {});
    return;
  }
  const std::size_t num_arms = model_.cost().num_arms();
  std::vector<std::size_t> ends(num_arms, 0);
  for (const std::uint32_t row : batch) ++ends[data.arm[row]];
  std::size_t begin = 0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const std::size_t count = ends[arm];
    add_tiles(begin, begin + count, arm);
    ends[arm] = begin;
    begin += count;
  }
  grouped_rows_.resize(batch.size());
  for (const std::uint32_t row : batch) grouped_rows_[ends[data.arm[row]]++] = row;
  rows_ = grouped_rows_;
}

template <class T>
std::span<const HeadRange> BatchGradient<T>::heads_of(const Tile& tile) const {
  return tile.only ? std::span<const HeadRange>(heads_of_arm_[*tile.only]) : model_.network().all_heads();
}

template <class T>
template <class Body>
void BatchGradient<T>::for_each_tile(std::size_t chunk, Body&& body) {
  // By rows: where rows are grouped by arm, the last tile of each arm is short.
  const auto first_tile = [&](std::size_t index) {
    const std::size_t row = index * rows_.size() / num_chunks();
    return std::partition_point(tiles_.begin(), tiles_.end(), [&](const Tile& tile) { return tile.begin < row; });
  };
  for (auto tile = first_tile(chunk), end = first_tile(chunk + 1); tile != end; ++tile) body(*tile);
}

template <class T>
loss::Rows<T> BatchGradient<T>::forward(Workspace& workspace, const FillInputs<T>& fill_inputs,
                                        const TrainingRows& data, const Tile& tile) {
  const std::span<const std::uint32_t> rows = rows_.subspan(tile.begin, tile.count);
  fill_inputs(rows, workspace.tile.inputs().slice(0, tile.count));
  workspace.tile.forward(model_, tile.count, rounded_up(tile.count), tile.only, heads_of(tile));
  gather(rows, data.arm, workspace.arm);
  gather(rows, data.revenue, workspace.revenue);
  gather(rows, data.cost, workspace.cost);
  gather(rows, data.weight, workspace.weight);
  if (!data.sample.empty()) {
    workspace.sample.resize(kTileRows);
    gather(rows, data.sample, workspace.sample);
  }
  return {.revenue = workspace.tile.revenue().slice(0, tile.count),
          .cost = workspace.tile.cost().slice(0, tile.count),
          .arm = std::span(workspace.arm).first(tile.count),
          .observed_revenue = std::span(workspace.revenue).first(tile.count),
          .observed_cost = std::span(workspace.cost).first(tile.count),
          .weight = std::span(workspace.weight).first(tile.count),
          .nuisance_revenue = gather(rows, data.nuisance_revenue, workspace.nuisance_revenue),
          .nuisance_cost = gather(rows, data.nuisance_cost, workspace.nuisance_cost),
          .unit = rows,
          .sample = std::span(workspace.sample).first(data.sample.empty() ? 0 : tile.count)};
}

// The first round of losses that are not separable by row: a forward pass over the whole batch.
template <class T>
std::vector<std::vector<double>> BatchGradient<T>::totals_of(core::RunContext& context,
                                                             const FillInputs<T>& fill_inputs, const TrainingRows& data,
                                                             std::span<const WeightedLoss<T>> losses) {
  std::vector<std::vector<double>> totals;
  bool any = false;
  for (const WeightedLoss<T>& term : losses) {
    totals.emplace_back(term.loss->num_totals(), 0.0);
    any = any || term.loss->num_totals() > 0;
  }
  if (!any) return totals;
  const std::vector<std::vector<double>> zeros = totals;
  core::for_each_chunk(context, num_chunks(), 1, [&](std::size_t index, std::size_t, std::size_t) {
    typename WorkspacePool<Workspace>::Loan loan(workspaces_);
    chunks_[index].totals = zeros;
    for_each_tile(index, [&](const Tile& tile) {
      const loss::Rows<T> rows = forward(*loan, fill_inputs, data, tile);
      for (std::size_t i = 0; i < losses.size(); ++i) losses[i].loss->add_totals(rows, chunks_[index].totals[i]);
    });
  });
  for (std::size_t index = 0; index < num_chunks(); ++index) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      for (std::size_t j = 0; j < totals[i].size(); ++j) totals[i][j] += chunks_[index].totals[i][j];
    }
  }
  return totals;
}

template <class T>
void BatchGradient<T>::run_chunk(Chunk& chunk, std::size_t index, const FillInputs<T>& fill_inputs,
                                 const TrainingRows& data, std::span<const WeightedLoss<T>> losses,
                                 const std::vector<std::vector<double>>& totals) {
  typename WorkspacePool<Workspace>::Loan loan(workspaces_);
  Workspace& workspace = *loan;
  chunk.gradient.assign(model_.network().num_parameters(), T(0));
  chunk.sums.assign(losses.size(), 0.0);
  for_each_tile(index, [&](const Tile& tile) {
    const loss::Rows<T> rows = forward(workspace, fill_inputs, data, tile);
    const loss::Gradient<T> slopes{workspace.tile.revenue_gradient().slice(0, tile.count),
                                   workspace.tile.cost_gradient().slice(0, tile.count)};
    clear(slopes.revenue);
    clear(slopes.cost);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double scale = losses[i].weight / static_cast<double>(rows_.size());
      chunk.sums[i] += losses[i].loss->add_gradient(rows, totals[i], scale, slopes);
    }
    workspace.tile.backward(model_, tile.count, rounded_up(tile.count), tile.only, heads_of(tile), chunk.gradient);
  });
}

template <class T>
std::vector<double> BatchGradient<T>::compute(core::RunContext& context, const FillInputs<T>& fill_inputs,
                                              const TrainingRows& data, std::span<const std::uint32_t> batch,
                                              std::span<const WeightedLoss<T>> losses, const BatchOptions& options,
                                              std::span<T> gradient) {
  if (batch.empty() || gradient.size() != model_.network().num_parameters()) {
    throw core::Error({.what = "a batch without rows, or a gradient of another network"});
  }
  plan(data, batch, options);
  const std::vector<std::vector<double>> totals = totals_of(context, fill_inputs, data, losses);
  core::for_each_chunk(context, num_chunks(), 1, [&](std::size_t index, std::size_t, std::size_t) {
    run_chunk(chunks_[index], index, fill_inputs, data, losses, totals);
  });
  core::for_each_chunk(context, gradient.size(), 4 * kSumBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (; begin < end; begin += kSumBlock) {
      const std::size_t size = std::min(kSumBlock, end - begin);
      double sums[kSumBlock] = {};
      for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk)
        add_chunk(size, chunks_[chunk].gradient.data() + begin, sums);
      for (std::size_t i = 0; i < size; ++i) gradient[begin + i] = static_cast<T>(sums[i]);
    }
  });
  std::vector<double> means(losses.size(), 0.0);
  for (std::size_t chunk = 0; chunk < num_chunks(); ++chunk) {
    for (std::size_t i = 0; i < losses.size(); ++i) means[i] += chunks_[chunk].sums[i];
  }
  for (double& mean : means) mean /= static_cast<double>(batch.size());
  return means;
}

template FillInputs<float> inputs_from(core::MatrixView<const float>);
template FillInputs<double> inputs_from(core::MatrixView<const float>);
template class BatchGradient<float>;
template class BatchGradient<double>;

}  // namespace dfcl::nn
