// SPDX-License-Identifier: Apache-2.0
#include "dfcl/nn/table/table_runner.h"

#include <algorithm>

#include "dfcl/core/parallel.h"
#include "dfcl/nn/table/lookup_layer.h"

namespace dfcl::nn {
namespace {

constexpr std::size_t kBlockUnits = 128;  // whose lookups go through the columns together
constexpr std::size_t kChunkUnits = 4 * kBlockUnits;
constexpr std::size_t kColumnsAtOnce = 8;

}  // namespace

TableRunner::Workspace::Workspace(const TableNetwork<float>& network)
    : tile(network), lookups(kBlockUnits * network.encoding().num_columns()), sums(kBlockUnits * network.width()) {}

TableRunner::TableRunner(const TableNetwork<float>& network)
    : workspaces_([&network] { return std::make_unique<Workspace>(network); }) {}

void TableRunner::run_block(Workspace& workspace, const TableNetwork<float>& network, const learn::FeatureTile& units,
                            std::size_t begin, std::size_t end, const Take& take) const {
  const TableEncoding& encoding = network.encoding();
  const std::size_t num_columns = encoding.num_columns();
  const std::size_t width = network.width();
  const float* const bias = network.parameters().data() + network.layout().first_bias;
  for (std::size_t i = 0; i < end - begin; ++i) {
    const std::size_t row = units.rows.empty() ? begin + i : units.rows[begin + i];
    encoding.apply(units.values.row(row).data(), workspace.lookups.data() + i * num_columns);
    std::copy_n(bias, width, workspace.sums.data() + i * width);
  }
  const LookupUnits block{workspace.lookups.data(), end - begin, num_columns};
  for (std::size_t first = 0; first < num_columns; first += kColumnsAtOnce) {
    add_lookups(block, first, std::min(kColumnsAtOnce, num_columns - first), width, network.values(),
                workspace.sums.data());
  }
  for (std::size_t first = begin; first < end; first += network.tile_units()) {
    const std::size_t count = std::min(network.tile_units(), end - first);
    workspace.tile.forward(network, workspace.sums.data() + (first - begin) * width, count, {});
    take(first, count, workspace.tile);
  }
}

void TableRunner::run(core::RunContext& context, const TableNetwork<float>& network, const learn::FeatureTile& units,
                      const Take& take) const {
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    WorkspacePool<Workspace>::Loan loan(workspaces_);
    for (std::size_t first = begin; first < end; first += kBlockUnits)
      run_block(*loan, network, units, first, std::min(end, first + kBlockUnits), take);
  });
}

}  // namespace dfcl::nn
