// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_gradient.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/nn/table/lookup_layer.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kMostChunks = 16;
constexpr std::size_t kLeastTiles = 2;     // of a chunk
constexpr std::size_t kColumnsAtOnce = 8;  // whose rows of values stay in the second-level cache

template <class From, class To>
void gather(std::span<const std::uint32_t> units, std::size_t members, std::span<const From> from, To* to) {
  for (std::size_t i = 0; i < units.size(); ++i) to[i] = from[units[i]];
  for (std::size_t member = 1; member < members; ++member) std::copy_n(to, units.size(), to + member * units.size());
}

core::MatrixView<const float> gather(std::span<const std::uint32_t> units, std::size_t members,
                                     core::MatrixView<const float> from, core::Matrix<float>& to) {
  if (from.data == nullptr) return {};
  if (to.cols() != from.cols) to = core::Matrix<float>(kTileRows, from.cols);
  for (std::size_t i = 0; i < units.size(); ++i) std::ranges::copy(from.row(units[i]), to.row(i).begin());
  const std::size_t size = units.size() * from.cols;
  for (std::size_t member = 1; member < members; ++member) std::copy_n(to.data(), size, to.data() + member * size);
  return to.view().slice(0, units.size() * members);
}

template <class T>
loss::Rows<T> slice(const loss::Rows<T>& rows, std::size_t first, std::size_t count) {
  const bool nuisance = rows.nuisance_revenue.data != nullptr;
  return {rows.revenue.slice(first, count),
          rows.cost.slice(first, count),
          rows.arm.subspan(first, count),
          rows.observed_revenue.subspan(first, count),
          rows.observed_cost.subspan(first, count),
          rows.weight.subspan(first, count),
          nuisance ? rows.nuisance_revenue.slice(first, count) : rows.nuisance_revenue,
          nuisance ? rows.nuisance_cost.slice(first, count) : rows.nuisance_cost,
          rows.unit.subspan(first, count),
          rows.sample.empty() ? rows.sample : rows.sample.subspan(first, count)};
}

}  // namespace

Dropout dropout_key(const StepDropout& dropout, std::uint64_t layer) {
  const std::uint64_t hash = core::combine_hashes(dropout.seed, layer);
  const double dropped = std::round(256.0 * dropout.share);
  return {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(std::clamp(dropped, 0.0, 255.0))};
}

template <class T>
TableGradient<T>::Workspace::Workspace(const TableNetwork<T>& network)
    : tile(network), arm(kTileRows), revenue(kTileRows), cost(kTileRows), weight(kTileRows), unit(kTileRows) {}

template <class T>
TableGradient<T>::TableGradient(const TableNetwork<T>& network)
    : network_(network),
      workspaces_([&network] { return std::make_unique<Workspace>(network); }),
      scratch_([] { return std::make_unique<std::vector<T>>(); }) {}

template <class T>
void TableGradient<T>::plan(std::size_t num_units) {
  const std::size_t tile = network_.tile_units();
  const std::size_t num_tiles = (num_units + tile - 1) / tile;
  chunk_units_ = std::max(kLeastTiles, (num_tiles + kMostChunks - 1) / kMostChunks) * tile;
  num_chunks_ = (num_units + chunk_units_ - 1) / chunk_units_;
  num_units_ = num_units;
  if (chunks_.size() < num_chunks_) chunks_.resize(num_chunks_);
  const std::size_t size = num_units * network_.width();
  if (sums_.size() < size) {
    sums_ = AlignedBuffer<T>(size);
    sums_gradient_ = AlignedBuffer<T>(size);
    lookups_.resize(num_units * network_.encoding().num_columns());
  }
}

template <class T>
void TableGradient<T>::look_up(core::RunContext& context, core::MatrixView<const float> features,
                               std::span<const std::uint32_t> units) {
  const TableEncoding& encoding = network_.encoding();
  const std::size_t num_columns = encoding.num_columns();
  const std::size_t width = network_.width();
  const T* const bias = network_.parameters().data() + network_.layout().first_bias;
  core::for_each_chunk(context, units.size(), chunk_units_, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      encoding.apply(features.row(units[i]).data(), lookups_.data() + i * num_columns);
      std::copy_n(bias, width, sums_.data() + i * width);
    }
    const LookupUnits chunk{lookups_.data() + begin * num_columns, end - begin, num_columns};
    for (std::size_t first = 0; first < num_columns; first += kColumnsAtOnce) {
      add_lookups(chunk, first, std::min(kColumnsAtOnce, num_columns - first), width, network_.values(),
                  sums_.data() + begin * width);
    }
  });
}

template <class T>
TileDropout TableGradient<T>::dropout_of(const Batch& batch, std::size_t first) const {
  return {batch.first, batch.second, static_cast<std::uint32_t>(first)};
}

template <class T>
loss::Rows<T> TableGradient<T>::forward(Workspace& workspace, const Batch& batch, std::size_t first,
                                        std::size_t count) {
  TableTile<T>& tile = workspace.tile;
  const std::size_t members = network_.members();
  const std::size_t rows = count * members;
  tile.forward(network_, sums_.data() + first * network_.width(), count, dropout_of(batch, first));
  const std::span<const std::uint32_t> units = batch.units.subspan(first, count);
  const TrainingRows& data = batch.data;
  gather(units, members, data.arm, workspace.arm.data());
  gather(units, members, data.revenue, workspace.revenue.data());
  gather(units, members, data.cost, workspace.cost.data());
  gather(units, members, data.weight, workspace.weight.data());
  if (!data.sample.empty()) {
    workspace.sample.resize(rows);
    gather(units, members, data.sample, workspace.sample.data());
  }
  for (std::size_t i = 0; i < rows; ++i) workspace.unit[i] = units[i % count];
  const auto part = [&](const auto& values) { return std::span(values).first(rows); };
  return {tile.revenue().slice(0, rows),
          tile.cost().slice(0, rows),
          part(workspace.arm),
          part(workspace.revenue),
          part(workspace.cost),
          part(workspace.weight),
          gather(units, members, data.nuisance_revenue, workspace.nuisance_revenue),
          gather(units, members, data.nuisance_cost, workspace.nuisance_cost),
          part(workspace.unit),
          data.sample.empty() ? std::span<const float>() : part(workspace.sample)};
}

// Totals of losses that are not separable by row, for each member apart.
template <class T>
std::vector<std::vector<double>> TableGradient<T>::totals_of(core::RunContext& context, const Batch& batch) {
  const std::size_t members = network_.members();
  std::vector<std::vector<double>> totals;
  bool any = false;
  for (const WeightedLoss<T>& part : batch.losses) {
    totals.emplace_back(part.loss->num_totals() * members, 0.0);
    any = any || part.loss->num_totals() > 0;
  }
  if (!any) return totals;
  core::for_each_chunk(context, num_units_, chunk_units_, [&](std::size_t begin, std::size_t end, std::size_t index) {
    typename WorkspacePool<Workspace>::Loan loan(workspaces_);
    auto& own = chunks_[index].totals;
    own.clear();
    for (const auto& total : totals) own.emplace_back(total.size(), 0.0);
    for (std::size_t first = begin; first < end; first += network_.tile_units()) {
      const std::size_t count = std::min(network_.tile_units(), end - first);
      const loss::Rows<T> rows = forward(*loan, batch, first, count);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t size = batch.losses[i].loss->num_totals();
        for (std::size_t member = 0; size > 0 && member < members; ++member)
          batch.losses[i].loss->add_totals(slice(rows, member * count, count),
                                           std::span(own[i]).subspan(member * size, size));
      }
    }
  });
  for (std::size_t index = 0; index < num_chunks_; ++index) {
    for (std::size_t i = 0; i < totals.size(); ++i) {
      for (std::size_t j = 0; j < totals[i].size(); ++j) totals[i][j] += chunks_[index].totals[i][j];
    }
  }
  return totals;
}

template <class T>
void TableGradient<T>::add_losses(Workspace& workspace, const Batch& batch, const loss::Rows<T>& rows,
                                  const std::vector<std::vector<double>>& totals, std::vector<double>& sums) {
  const std::size_t members = network_.members();
  const std::size_t count = rows.num_rows() / members;
  const loss::Gradient<T> slopes{workspace.tile.revenue_gradient().slice(0, rows.num_rows()),
                                 workspace.tile.cost_gradient().slice(0, rows.num_rows())};
  std::fill_n(slopes.revenue.data, slopes.revenue.size(), T(0));
  std::fill_n(slopes.cost.data, slopes.cost.size(), T(0));
  for (std::size_t i = 0; i < batch.losses.size(); ++i) {
    const loss::Loss<T>& loss = *batch.losses[i].loss;
    const double scale = batch.losses[i].weight / static_cast<double>(num_units_ * members);
    const std::size_t num_totals = loss.num_totals();
    if (num_totals == 0) {
      sums[i] += loss.add_gradient(rows, {}, scale, slopes);
      continue;
    }
    for (std::size_t member = 0; member < members; ++member) {
      const std::size_t first = member * count;
      sums[i] +=
          loss.add_gradient(slice(rows, first, count), std::span(totals[i]).subspan(member * num_totals, num_totals),
                            scale, {slopes.revenue.slice(first, count), slopes.cost.slice(first, count)});
    }
  }
}

template <class T>
void TableGradient<T>::run_chunk(std::size_t index, const Batch& batch,
                                 const std::vector<std::vector<double>>& totals) {
  typename WorkspacePool<Workspace>::Loan loan(workspaces_);
  Workspace& workspace = *loan;
  Chunk& chunk = chunks_[index];
  if (chunk.gradient.size() != num_shared()) chunk.gradient = AlignedBuffer<T>(num_shared());
  std::fill_n(chunk.gradient.data(), num_shared(), T(0));
  chunk.sums.assign(batch.losses.size(), 0.0);
  const std::size_t end = std::min(num_units_, (index + 1) * chunk_units_);
  for (std::size_t first = index * chunk_units_; first < end; first += network_.tile_units()) {
    const std::size_t count = std::min(network_.tile_units(), end - first);
    const loss::Rows<T> rows = forward(workspace, batch, first, count);
    add_losses(workspace, batch, rows, totals, chunk.sums);
    const std::size_t place = first * network_.width();
    workspace.tile.backward(network_, sums_.data() + place, count, dropout_of(batch, first),
                            sums_gradient_.data() + place, chunk.gradient.data());
  }
}

template <class T>
void TableGradient<T>::sum_chunks(core::RunContext& context, T* gradient) {
  constexpr std::size_t kBlock = 4096;
  core::for_each_chunk(context, num_shared(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::copy(chunks_[0].gradient.data() + begin, chunks_[0].gradient.data() + end, gradient + begin);
    for (std::size_t index = 1; index < num_chunks_; ++index) {
      const T* const part = chunks_[index].gradient.data();
      for (std::size_t i = begin; i < end; ++i) gradient[i] += part[i];
    }
  });
}

template <class T>
void TableGradient<T>::fill_first(core::RunContext& context, T* gradient) {
  const TableEncoding& encoding = network_.encoding();
  const std::size_t width = network_.width();
  const LookupUnits units{lookups_.data(), num_units_, encoding.num_columns()};
  context.pool.run(encoding.num_columns(), [&](std::size_t index) {
    const TableColumn& column = encoding.columns()[index];
    typename WorkspacePool<std::vector<T>>::Loan loan(scratch_);
    std::vector<T>& rows = *loan;
    rows.assign((column.num_values + 1) * width, T(0));
    add_value_gradient(units, index, column.first_value, width, sums_gradient_.data(), rows.data());
    fill_weight_gradient(encoding, column, width, rows.data(), gradient);
  });
}

template <class T>
std::vector<double> TableGradient<T>::compute(core::RunContext& context, core::MatrixView<const float> features,
                                              const TrainingRows& data, std::span<const std::uint32_t> units,
                                              std::span<const WeightedLoss<T>> losses, const StepDropout& dropout,
                                              std::span<T> gradient) {
  if (units.empty() || gradient.size() != network_.layout().size)
    throw core::Error({.what = "a batch without rows, or a gradient of another network"});
  plan(units.size());
  const Batch batch{data, units, losses, dropout_key(dropout, 1), dropout_key(dropout, 2)};
  look_up(context, features, units);
  const std::vector<std::vector<double>> totals = totals_of(context, batch);
  core::for_each_chunk(context, num_chunks_, 1,
                       [&](std::size_t index, std::size_t, std::size_t) { run_chunk(index, batch, totals); });
  sum_chunks(context, gradient.data() + network_.layout().first_bias);
  fill_first(context, gradient.data() + network_.layout().first);
  std::vector<double> means(losses.size(), 0.0);
  for (std::size_t index = 0; index < num_chunks_; ++index) {
    for (std::size_t i = 0; i < means.size(); ++i) means[i] += chunks_[index].sums[i];
  }
  for (double& mean : means) mean /= static_cast<double>(units.size() * network_.members());
  return means;
}

template class TableGradient<float>;
template class TableGradient<double>;

}  // namespace dfcl::nn
