// SPDX-License-Identifier: Apache-2.0
//
// Plans that need no model, at every budget: the arms' mean effects for units drawn at random, the best single arm for
// everyone, everyone in control, and today's rule. Made from rows that are not evaluated, so that they promise nothing
// they cannot keep. Random is judged on average over all draws (fixed_plans.h); by one draw, by a hash of the id, where
// units may not get every arm. Time: about that of one model. Memory: one prediction, and while intervals are analytic
// one byte a row, budget and baseline. Internal to the room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/core/hash.h"
#include "dfcl/core/random.h"
#include "dfcl/evaluate/curves/model_run.h"
#include "dfcl/evaluate/effects/fixed_plans.h"

namespace dfcl::evaluate {

struct BaselineRun {
  std::string kind;                                  // random, single_arm, control, rule
  std::vector<std::string> names;                    // per budget, rising
  std::vector<PlanRun> plans;                        // per budget, rising
  std::vector<PlanRun> curve;                        // of random
  std::vector<std::vector<std::uint8_t>> plan_arms;  // arm per row, per budget: for analytic
                                                     // intervals; empty: a mix of arms
};

struct Baselines {
  // Per budget, rising: what one more unit of cost would earn at random, or more where it must earn more to pay back.
  // Differences in spend are charged at it (eq. 20).
  std::vector<double> price;
  std::vector<BaselineRun> runs;  // random first
};

Baselines run_baselines(const Setting& setting);

// The same of what is judged already. random: its deployed plans as they are cut and judged as mixes of the arms, and
// its curve. rule: run_baselines adds it.
Baselines baselines_of(const Setting& setting, const ArmMeans& means, ModelRun random, ArmsForEveryone& arms);

// What draws a unit into random's plans.
inline std::uint64_t random_key(std::uint64_t key) {
  constexpr std::uint64_t kSalt = core::stream_purpose("random baseline");
  return core::combine_hashes(key, kSalt);
}

// How much each row moves the figures of a baseline at a budget, where intervals are analytic.
PlanSeries baseline_influence(const Setting& setting, const BaselineRun& run, std::size_t budget);

}  // namespace dfcl::evaluate
