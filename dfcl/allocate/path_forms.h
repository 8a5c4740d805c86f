// SPDX-License-Identifier: Apache-2.0
//
// The forms in which PlanPath keeps a path. Sorted: every increment in order, 48 bytes each; for few units, and for
// those who walk the whole path. Bucketed (bucketed_form.h): sums per bucket of efficiency; for many units. Both cut
// the path at a budget from exact sums of all before the cut, so that the same increments in the same order decide in
// both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/allocate/passes.h"

namespace dfcl::allocate {

class PathForm {
 public:
  virtual ~PathForm() = default;
  virtual const PathEnds& ends() const = 0;
  // The best plan of each budget, all of them solved; budgets are at least the least spend, and rise.
  virtual std::vector<CutSolution> cut_at(std::span<const double> budgets, core::RunContext& context) = 0;
  // Of the plan that takes every increment before the position.
  virtual Totals totals_at(PathPosition position, core::RunContext& context) = 0;
  // All increments in path order; empty where the form does not keep them.
  virtual std::span<const Increment> increments() const { return {}; }
};

// A budget takes some 0.02 ms, whatever the number of units.
class SortedForm final : public PathForm {
 public:
  SortedForm(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

  const PathEnds& ends() const override { return path_.ends; }
  std::vector<CutSolution> cut_at(std::span<const double> budgets, core::RunContext& context) override;
  Totals totals_at(PathPosition position, core::RunContext& context) override;
  std::span<const Increment> increments() const override { return path_.path.increments(); }

 private:
  class Blocks;
  // Increments between two checkpoints.
  struct Block {
    std::size_t begin = 0;
    double least_cost = 0.0;
    double spend = 0.0;  // before it; never falling
    Totals before;
  };

  Prices prices_;
  WholePath path_;
  std::vector<Block> blocks_;
};

}  // namespace dfcl::allocate
