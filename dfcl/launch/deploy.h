// SPDX-License-Identifier: Apache-2.0
//
// The published online test, simulated: every day all units are split at random into equal groups, one for each method;
// every group gets its share of the daily budget and is allocated by its model's predictions at the multiplier that
// spends it; outcomes come from the simulator. Before the test there is a random trial, and every day a share of the
// units gets random arms: on these random data, as they accumulate, the models are trained anew each week. Every day
// is played twice, with and without a controller of spend, on the same luck. Time: about 10 microseconds a unit and
// day, and the trainings. Memory: the random data (430 bytes a row) and about 400 bytes a unit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dfcl/core/run_context.h"
#include "dfcl/data/study.h"
#include "dfcl/launch/moments.h"

namespace dfcl::launch {

inline constexpr std::size_t kDaysAWeek = 7;

struct DeployOptions {
  std::string checkpoint_folder;  // keeps the trained models, so that a stopped run goes on; "": none
  double level = 0.95;
};

// A group over some days.
struct GroupResult {
  std::string method;
  std::size_t unit_days = 0;
  double revenue = 0.0;  // total, as the next two
  double spend = 0.0;
  double budget = 0.0;
  Interval revenue_per_unit;  // and day
  Interval gain;              // revenue per unit over that of the reference group, relative; of no meaning for itself
};

struct WeekResult {
  std::size_t week = 0;  // from 1
  std::size_t days = 0;
  double cost_scale = 1.0;          // of the last day, against the trial before the test
  double population_shift = 0.0;    // of the last day
  std::size_t training_rows = 0;    // random rows that this week's models were trained on
  std::vector<GroupResult> groups;  // in the order of the methods
};

// All weeks under one way of controlling spend.
struct Campaign {
  std::vector<WeekResult> weeks;
  std::vector<GroupResult> total;
};

struct DeployResult {
  std::vector<std::string> methods;
  std::size_t reference = 0;  // tsm, else the first method
  double budget_per_unit = 0.0;
  std::size_t units = 0;
  std::size_t days = 0;
  Campaign with_controller;
  Campaign without_controller;
};

// The study's sections deploy, method, network, budgets (the first) and split are used. Throws Error of kind usage
// where a key is out of range.
DeployResult deploy(const data::Study& study, const DeployOptions& options, core::RunContext& context);

}  // namespace dfcl::launch
