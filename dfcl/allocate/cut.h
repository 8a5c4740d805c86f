// SPDX-License-Identifier: Apache-2.0
//
// The exact end of every single-budget solve: the stretch of the path around the cut, with the sums of everything
// before it. All routes (in memory, streamed, whatever the bracket was) end here with the same increments in the same
// order and exact sums, so they return the same plan. Only as much of the path is made and sorted as is looked at:
// blocks that cannot fill what the cut leaves are passed over unseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/allocate/totals.h"

namespace dfcl::allocate {

// The increments from one place of the path on, in blocks. Increments of equal positions stand in one block.
class PathBlocks {
 public:
  struct Head {
    std::size_t count = 0;    // increments of the block
    double least_cost = 0.0;  // none of them costs less
  };

  virtual ~PathBlocks() = default;
  // Of the next block; none at the end of the path.
  virtual std::optional<Head> head() = 0;
  // The next block in path order, valid until the next call; none where it has not been made.
  virtual std::optional<std::span<const Increment>> read() = 0;
  virtual void skip() = 0;
};

enum class CutOutcome : std::uint8_t {
  solved,
  too_late,   // already the plan before the blocks spends too much
  too_early,  // the cut, or the increments that may fill what it leaves, lie in blocks that were not made
};

struct CutSolution {
  CutOutcome outcome = CutOutcome::solved;
  std::optional<Increment> next;  // the first that does not fit; none at the end of the path
  std::vector<Increment> filled;  // increments after it that are taken, in path order
  Totals at_cut;
  Totals total;
};

// Cuts the path where the next increment would exceed the budget and fills what is left from the kFillIncrements
// after the cut: greedily in path order, with all of the money left or with the part of it for which that gains most.
// So more money never yields less value: holding back is always allowed, and the increment at the cut is worth more
// than anything that less than its cost can buy.
CutSolution solve_cut(const Totals& before, PathBlocks& blocks, const Prices& prices, double budget);

}  // namespace dfcl::allocate
