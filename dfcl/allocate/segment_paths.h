// SPDX-License-Identifier: Apache-2.0
//
// Budgets of segments inside a total, for units elsewhere: the plan of solve_segments(), from passes over the units of
// each segment (path_pass.h). The path of each segment is cut into the same buckets; sums of buckets say where a
// segment or the total is cut, and only the increments there are collected and walked (segment_walk.h). Two passes and
// one or two more for each budget. Memory: some 250 KB per segment for five arms, 48 bytes per collected increment.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dfcl/allocate/path_scans.h"
#include "dfcl/allocate/segment_walker.h"

namespace dfcl::allocate {

// More segments would send too much.
inline constexpr std::size_t kMostSegmentsElsewhere = 256;

// Takes a pass for each segment to its units, "" where nothing is asked of it, and returns what they found, ""
// likewise.
using SegmentRunner = std::function<std::vector<std::string>(const std::vector<std::string>& passes)>;

class SegmentPaths {
 public:
  // runner: of a pass over all units.
  SegmentPaths(PassRunner runner, SegmentRunner segment_runner, std::size_t num_segments, std::size_t num_arms,
               const Rules& rules);

  // Of all units, and of a segment; the first call makes the passes that build the paths.
  const PathEnds& ends(core::RunContext& context);
  const PathEnds& ends_of(std::size_t segment, core::RunContext& context);

  // What the segments may spend; kNoBudget where there is no limit.
  void set_budgets(std::vector<double> budgets) { budgets_ = std::move(budgets); }

  // Throws Error of kind data where more increments are equally efficient at a cut than can be told apart here.
  SegmentPlan at_budget(double budget_total, core::RunContext& context);

 private:
  void build(core::RunContext& context);

  PassRunner runner_;
  SegmentRunner segment_runner_;
  std::size_t num_segments_;
  std::size_t num_arms_;
  const Rules rules_;
  const Prices prices_;
  PathEnds ends_;
  std::vector<SegmentPiece> pieces_;  // per segment; empty until built
  std::vector<double> budgets_;
};

}  // namespace dfcl::allocate
