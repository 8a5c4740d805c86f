// SPDX-License-Identifier: Apache-2.0
//
// Units through a network for tables without dropout, by all threads: what validation and prediction share. The numbers
// of a unit depend on nothing but its features. Memory: about 2 MB for each thread that has ever run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/learn/predictor.h"
#include "dfcl/nn/table/table_tile.h"
#include "dfcl/nn/workspace_pool.h"

namespace dfcl::nn {

class TableRunner {
 public:
  // For networks of this shape; it must outlive the runner.
  explicit TableRunner(const TableNetwork<float>& network);

  // Called for every tile, by several threads: units first .. first + count - 1, whose predictions are the first
  // members x count rows of the tile's revenue and cost.
  using Take = std::function<void(std::size_t first, std::size_t count, TableTile<float>& tile)>;
  void run(core::RunContext& context, const TableNetwork<float>& network, const learn::FeatureTile& units,
           const Take& take) const;

 private:
  struct Workspace {
    explicit Workspace(const TableNetwork<float>& network);
    TableTile<float> tile;
    std::vector<Lookup> lookups;
    AlignedBuffer<float> sums;
  };
  void run_block(Workspace& workspace, const TableNetwork<float>& network, const learn::FeatureTile& units,
                 std::size_t begin, std::size_t end, const Take& take) const;

  mutable WorkspacePool<Workspace> workspaces_;
};

}  // namespace dfcl::nn
