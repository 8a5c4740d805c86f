// SPDX-License-Identifier: Apache-2.0
//
// What a simulated trial is to be: the options of the Simulator, one aggregate, checked once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dfcl/core/words.h"

namespace dfcl::simulate {

enum class Preset : std::uint8_t { marketing, criteo, varied };
// The family of functions behind the effects, so that no kind of learner is favoured. marketing and criteo know smooth,
// tree and sparse; varied knows rules, few and smooth.
enum class Response : std::uint8_t { smooth, tree, sparse, rules, few };

}  // namespace dfcl::simulate

template <>
inline constexpr std::array<std::string_view, 3> dfcl::core::kWords<dfcl::simulate::Preset> = {"marketing", "criteo",
                                                                                               "varied"};
template <>
inline constexpr std::array<std::string_view, 5> dfcl::core::kWords<dfcl::simulate::Response> = {
    "smooth", "tree", "sparse", "rules", "few"};

namespace dfcl::simulate {

struct SimulatorOptions {
  Preset preset = Preset::marketing;
  Response response = Response::smooth;
  std::uint64_t num_rows = 0;  // 1 to 2^40
  std::uint64_t seed = 0;      // draws the units; the functions behind the effects are the same for every seed
  // marketing only: 0, or days on which every shop has one row; num_rows is then shops x days.
  std::uint64_t num_days = 0;
  // The number of days before the first: the same shops go on where a trial of that many days ended.
  std::uint64_t first_day = 0;
  // Probability of each arm; empty: the preset's own (marketing: equal, criteo: .15 and .85, varied: by response).
  std::vector<double> shares = {};
  // marketing only: the variance of the outcomes about their expectation is this times the natural one.
  double noise = 1.0;
  // Another number: the same units with other random outcomes. 0: that of the trial.
  std::uint64_t outcome_seed = 0;
  // marketing only, for worlds that change: every cost is this times the usual one, and shops are this many standard
  // deviations younger, keener on promotions and less affluent than usual.
  double cost_scale = 1.0;
  double population_shift = 0.0;
  // Breaks the randomisation: arms lean on a feature, and the shares are a point off.
  bool imbalance = false;
};

// Throws core::Error of kind usage, which names the field, the value and the bound.
void validate(const SimulatorOptions& options);

std::vector<std::string> arm_labels(const SimulatorOptions& options);  // control first
// The shares in force: the options' or the preset's own.
std::vector<double> arm_shares(const SimulatorOptions& options);

}  // namespace dfcl::simulate
