// SPDX-License-Identifier: Apache-2.0
//
// The two forms in which PlanPath keeps a path. Sorted: every increment in order, 48 bytes each; for few units, and for
// those who walk the whole path. Bucketed: sums per bucket of efficiency, and for units in memory which of them are in
// a bucket; for many units. Both cut the path at a budget from exact sums of all before the cut, so that the same
// increments in the same order decide in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/allocate/path_buckets.h"

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

// Takes one pass to build and about 5 MB a thread (at most 8). With lists of the units in each bucket (4.3 bytes an
// increment, for units in memory), a budget of ten million units then takes some 2 ms. Without them all budgets of a
// call together take a pass, further ones only where a million increments are nearly equal, where there are very many
// budgets, or where the increments that fill what a cut leaves are hard to find; 48 MB of memory at most.
class BucketedForm final : public PathForm {
 public:
  enum class Lists : std::uint8_t { none, kept };
  // in_memory: the units, where they stay in memory. pieces must outlive the form.
  BucketedForm(UnitPieces& pieces, std::optional<Units> in_memory, Lists lists, const Rules& rules,
               core::RunContext& context);

  const PathEnds& ends() const override { return ends_; }
  std::vector<CutSolution> cut_at(std::span<const double> budgets, core::RunContext& context) override;
  Totals totals_at(PathPosition position, core::RunContext& context) override;

 private:
  struct Place;
  class Collected;
  class Blocks;
  // Calls body(part below kParts, increment) for the increments of some cells that rise without overlap.
  template <class Body>
  void visit(std::span<const Cell> cells, core::RunContext& context, Body&& body);
  PathBuckets refine(const Cell& cell, core::RunContext& context);
  Place find_place(double budget, core::RunContext& context);

  UnitPieces& pieces_;
  std::optional<Units> in_memory_;
  Prices prices_;
  PathEnds ends_;
  std::optional<PathBuckets> buckets_;  // none where there is no unit
  std::vector<BucketUnits> units_;      // per part of the building; empty without lists
  double total_spend_ = 0.0;            // rounded, of all increments
};

}  // namespace dfcl::allocate
