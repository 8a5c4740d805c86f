// SPDX-License-Identifier: Apache-2.0
//
// What a plan earned: what `dfcl readout` does, for every caller. Memory: the plan and the outcomes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/provenance.h"
#include "dfcl/launch/readout.h"

namespace dfcl::verbs {

struct ReadoutRequest {
  std::string plan;                   // path
  std::string outcomes;               // path
  std::optional<std::string> output;  // path of the results, .json; none: nothing is written
  // Without a value, what the plan says.
  std::optional<double> holdout_share;
  std::optional<std::string> control;
  std::optional<std::string> launch;  // time
  std::optional<double> budget;
  std::optional<double> multiplier;
  // What revenue is worth, in one of two ways; with it profit is shown.
  std::optional<double> margin;
  std::optional<double> per_revenue;
  std::optional<std::string> previous;  // path of the results of the readout before: launches are added up
  // Columns of the outcomes: sample weights, and further outcomes of which more is worse.
  std::optional<std::string> weight;
  std::vector<std::string> guardrails;
};

struct ReadoutResult {
  launch::Readout readout;
  data::Provenance provenance;
};

ReadoutResult read_out(const ReadoutRequest& request, core::RunContext& context);

// Where the units are on many machines, plan and outcomes of a unit in one place. Asked with "" first, a runner returns
// the sums of all parts (sum_launch_part, merge_launch_parts), then, asked with those, the products around their means.
// The readout is that of one machine, to the byte; `plan` and `outcomes` of the request are what messages call them.
using LaunchRunner = std::function<std::string(const std::string& totals)>;
ReadoutResult read_out_elsewhere(const ReadoutRequest& request, const LaunchRunner& runner, core::RunContext& context);
// One part; `plan` and `outcomes` of the request are its tables, "" where it has no rows of one. totals: as the runner
// was asked with. Throws Error.
std::string sum_launch_part(const ReadoutRequest& request, const std::string& totals, core::RunContext& context);
std::string merge_launch_parts(const std::string& totals, const std::vector<std::string>& parts);

}  // namespace dfcl::verbs
