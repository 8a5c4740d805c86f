// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/segment_paths.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dfcl/allocate/solve.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {

SegmentPaths::SegmentPaths(PassRunner runner, SegmentRunner segment_runner, std::size_t num_segments,
                           std::size_t num_arms, const Rules& rules)
    : runner_(std::move(runner)),
      segment_runner_(std::move(segment_runner)),
      num_segments_(num_segments),
      num_arms_(num_arms),
      rules_(rules),
      prices_(rules_) {
  if (num_segments < 1 || num_segments > kMostSegmentsElsewhere) {
    throw core::Error(
        {.kind = core::ErrorKind::usage,
         .what = "number of segments",
         .found = std::to_string(num_segments),
         .expected = "1 to " + std::to_string(kMostSegmentsElsewhere) + " where units are on many machines"});
  }
}

void SegmentPaths::build(core::RunContext& context) {
  if (!pieces_.empty()) return;
  context.check_cancelled();
  const PassPart sample = run_elsewhere(runner_, PathPass::sample(), rules_, prices_, num_arms_);
  // The more segments, the fewer buckets: what a part sends stays below twice that of one path.
  const int log2_buckets = std::max(3, 7 - std::max(0, static_cast<int>(std::bit_width(num_segments_)) - 2));
  const PathPass pass = PathPass::build(layout_of(sample.sample(), log2_buckets));
  const std::vector<std::string> found = segment_runner_(std::vector<std::string>(num_segments_, pass.to_bytes()));
  for (const std::string& bytes : found) {
    PassPart part(pass, rules_, prices_, num_arms_);
    part.merge_bytes(bytes);
    ends_.add(part.ends());
    pieces_.push_back({part.ends(), part.take_buckets()});
  }
}

const PathEnds& SegmentPaths::ends(core::RunContext& context) {
  build(context);
  return ends_;
}

const PathEnds& SegmentPaths::ends_of(std::size_t segment, core::RunContext& context) {
  build(context);
  return pieces_[segment].ends;
}

SegmentPlan SegmentPaths::at_budget(double budget_total, core::RunContext& context) {
  build(context);
  SegmentPlan plan;
  plan.summary.budget = budget_total;
  plan.summary.least_spend = ends_.least.spend(prices_);
  describe_control(ends_.control, prices_, plan.summary);
  bool keeps = plan.summary.least_spend <= budget_total;
  for (std::size_t s = 0; s < num_segments_; ++s) keeps &= pieces_[s].ends.least.spend(prices_) <= budgets_[s];
  if (keeps) {
    SegmentWalker({pieces_, budgets_, ends_, rules_, prices_, num_arms_, segment_runner_}, budget_total)
        .solve(plan, context);
  } else {
    plan.summary.status = Status::cannot_be_met;
  }
  return plan;
}

}  // namespace dfcl::allocate
