// SPDX-License-Identifier: Apache-2.0
//
// Plans that stay as they are, whatever the budget: an arm per row, one arm for everyone, and mixes of those. Units
// drawn at random get each arm with equal probability, so what random earns, on average over all draws, is the mix of
// the arms for everyone by their shares: a sum without the luck of one draw. Internal to the room. Time: one walk over
// the rows for each plan or arm and 16 resamples. Memory: 88 bytes a row while a plan is walked; where intervals are
// analytic 16 bytes a row and arm.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/evaluate/curves/model_run.h"

namespace dfcl::evaluate {

// arm_of_row: the plan. Its series are kept, where intervals are analytic too.
PlanRun run_fixed_plan(const Setting& setting, std::span<const std::uint8_t> arm_of_row);

// Each arm for everyone, run when it is first asked for.
class ArmsForEveryone {
 public:
  explicit ArmsForEveryone(const Setting& setting) : setting_(setting), runs_(setting.input.rows.num_arms()) {}

  // Those that are judged already, each of them.
  ArmsForEveryone(const Setting& setting, std::vector<PlanRun> runs)
      : setting_(setting), runs_(std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end())) {}

  const PlanRun& run(std::size_t arm);
  // Judges a plan that gives random units each arm, by its shares: estimate, series, spread and truth. Analytic series
  // are not kept.
  void judge_mix(PlanRun& plan);

 private:
  const Setting& setting_;
  std::vector<std::optional<PlanRun>> runs_;
};

// How much each row moves the figures of such a mix, where intervals are analytic.
PlanSeries influence_of_mix(const Setting& setting, std::span<const double> share_per_arm);

}  // namespace dfcl::evaluate
