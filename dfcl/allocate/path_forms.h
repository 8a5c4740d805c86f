// SPDX-License-Identifier: Apache-2.0
//
// The two forms in which PlanPath keeps a path. Sorted: every increment in order, 48 bytes each; for few units, and for
// those who walk the whole path. Bucketed: sums per bucket of efficiency, and for units in memory which of them are in
// a bucket; for many units. Both hand out the stretch of the path around a budget, with exact sums of all before it, so
// that the same increments in the same order decide in both.
#pragma once

#include <cstddef>
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
  // The cut for the budget, and the increments that may fill what it leaves, lie in this window. The budget is at least
  // the least spend.
  virtual Window window_at(double budget, core::RunContext& context) = 0;
  // Of the plan that takes every increment before the position.
  virtual Totals totals_at(PathPosition position, core::RunContext& context) = 0;
  // All increments in path order; empty where the form does not keep them.
  virtual std::span<const Increment> increments() const { return {}; }
};

// A budget of 100,000 units x 5 arms takes some 4 ms.
class SortedForm final : public PathForm {
 public:
  SortedForm(UnitPieces& pieces, const Rules& rules, core::RunContext& context);

  const PathEnds& ends() const override { return path_.ends; }
  Window window_at(double budget, core::RunContext& context) override;
  Totals totals_at(PathPosition position, core::RunContext& context) override;
  std::span<const Increment> increments() const override { return path_.increments; }

 private:
  static constexpr std::size_t kCheckpoint = 16'384;

  Prices prices_;
  WholePath path_;
  std::vector<Totals> checkpoints_;  // before every kCheckpoint-th increment
  std::vector<double> spends_;       // of them; never falling
};

// Takes one pass to build and about 5 MB a thread (at most 8). Units in memory: 4.3 bytes an increment more, and a
// budget then takes some 26 ms for ten million units. Streams: nothing more, and a budget takes a pass, further ones
// only where a million increments are nearly equal.
class BucketedForm final : public PathForm {
 public:
  // in_memory: the units, where they stay in memory. pieces must outlive the form.
  BucketedForm(UnitPieces& pieces, std::optional<Units> in_memory, const Rules& rules, core::RunContext& context);

  const PathEnds& ends() const override { return ends_; }
  Window window_at(double budget, core::RunContext& context) override;
  Totals totals_at(PathPosition position, core::RunContext& context) override;

 private:
  template <class Body>
  void visit(const Cell& cell, core::RunContext& context, Body&& body);
  PathBuckets refine(const Cell& cell, core::RunContext& context);

  UnitPieces& pieces_;
  std::optional<Units> in_memory_;
  Prices prices_;
  PathEnds ends_;
  std::optional<PathBuckets> buckets_;  // none where there is no unit
  std::vector<BucketUnits> units_;      // per part of the building; empty for streams
  double total_spend_ = 0.0;            // rounded, of all increments
};

}  // namespace dfcl::allocate
