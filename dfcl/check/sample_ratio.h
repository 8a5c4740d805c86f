// SPDX-License-Identifier: Apache-2.0
//
// The sample-ratio test: did each arm get its designed share of the draws? Pearson's chi-square over all draws and at
// each time. One pass over the draws; memory: times x arms counts a chunk.
#pragma once

#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

struct DrawCounts {
  std::vector<std::size_t> per_arm;
  std::vector<std::vector<std::size_t>> per_time;  // times x arms; a draw counts at every time it has rows at
};

DrawCounts count_draws(const data::Trial& trial, const Draws& draws, core::RunContext& context);

SampleRatio sample_ratio(const DrawCounts& counts, const data::Trial& trial, const data::Study& study, Drawn drawn);

// Do the shares of the arms stay the same over time? The p-value of the table times x arms; 1 for a single time.
double share_drift_p(const DrawCounts& counts);

}  // namespace dfcl::check
