// SPDX-License-Identifier: Apache-2.0
//
// A small trial to train on within a second: graded arms, orders that follow two numbers and a category, costs that are
// a share of the orders. Outcomes are multiples of a quarter, so that sums over units are exact in any order.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "dfcl/core/random.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/data/trial.h"

namespace dfcl::train {

inline constexpr std::uint64_t kTrialSeed = 20240611;

inline void draw_unit(data::Trial& trial, std::size_t unit) {
  core::RandomStream random(kTrialSeed, core::stream_purpose("small trial"), unit);
  const double size = random.normal();
  const double taste = random.normal();
  const auto level = static_cast<double>(random.below(3));
  const std::uint32_t arm = random.below(static_cast<std::uint32_t>(trial.arms.size()));
  trial.features.values(unit, 0) = static_cast<float>(size);
  trial.features.values(unit, 1) =
      random.bernoulli(0.05) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(taste);
  trial.features.values(unit, 2) = static_cast<float>(level);
  const double lift = static_cast<double>(arm) * (0.15 + 0.1 * std::tanh(taste) + (level == 2.0 ? 0.1 : 0.0));
  const auto orders = static_cast<double>(random.poisson(std::exp(0.7 + 0.5 * size + lift)));
  trial.arm.push_back(static_cast<std::uint8_t>(arm));
  trial.revenue.push_back(static_cast<float>(orders));
  trial.cost.push_back(static_cast<float>(0.25 * arm * orders));
  trial.split.push_back(unit % 10 < 6   ? data::Split::train
                        : unit % 10 < 8 ? data::Split::validation
                                        : data::Split::test);
}

inline data::Trial small_trial(std::size_t num_units = 2000, std::size_t num_arms = 3) {
  data::Trial trial;
  for (std::size_t arm = 0; arm < num_arms; ++arm) trial.arms.labels.push_back(fmt::format("{}", arm));
  trial.arms.ordered = true;
  trial.features.columns = {{.name = "size", .categorical = false, .levels = {}},
                            {.name = "taste", .categorical = false, .levels = {}},
                            {.name = "kind", .categorical = true, .levels = {data::kPooledLevel, "a", "b"}}};
  trial.features.values = core::Matrix<float>(num_units, 3);
  for (std::size_t unit = 0; unit < num_units; ++unit) draw_unit(trial, unit);
  trial.ids = data::RowNumbers{1, num_units};
  core::RunContext context(1);
  trial.fingerprint = data::fingerprint_of(trial, context);
  return trial;
}

inline data::Study small_study(const std::string& method) {
  data::Study study;
  study.cost = {.control_is_free = true, .non_negative = true, .rises_with_arm = true};
  study.budgets.share_of_max = {0.1, 0.3};
  study.split = {.by = "hash", .train = 0.6, .validation = 0.2, .test = 0.2, .seed = 0};
  study.method.name = method;
  study.method.epochs = 4;
  study.method.batch = 128;
  study.method.learning_rate = 5e-3;
  study.network.hidden = {16, 8};
  return study;
}

}  // namespace dfcl::train
