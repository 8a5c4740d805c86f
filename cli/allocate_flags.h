// SPDX-License-Identifier: Apache-2.0
//
// The flags of `dfcl allocate`: declared, checked, and turned into the words of the solver.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/experiment/launch_design.h"

namespace dfcl::cli {

struct AllocateFlags {
  std::string predictions;  // or a model
  std::string units;        // for a model
  std::string output;
  std::vector<double> totals;
  std::vector<double> per_unit;
  std::vector<double> share_of_max;
  std::optional<double> multiplier;
  std::size_t curve_points = 0;
  std::string control;
  std::string objective = "revenue";
  std::optional<double> margin;
  std::optional<double> min_roi;
  std::string eligible;
  std::string segment;
  std::string segment_budgets;
  std::string second_cost;
  std::optional<double> second_budget;
  std::vector<std::string> min_units;
  std::vector<std::string> max_units;
  bool stream = false;
  double holdout = 0.0;
  double explore = 0.0;
  std::string holdout_salt;
  std::string launch;  // the time of the launch
  std::string previous;

  bool has_roles() const { return holdout > 0.0 || explore > 0.0; }
};

void add_allocate_options(CLI::App& verb, const std::shared_ptr<AllocateFlags>& flags);

// Throws Error of kind usage where flags contradict each other.
void check_flags(const AllocateFlags& flags);

allocate::Rules rules_of(const AllocateFlags& flags, const std::vector<std::string>& arms);

experiment::LaunchDesign design_of(const AllocateFlags& flags, const allocate::Rules& rules, std::uint64_t seed);

// From "ARM=N" entries to a limit for each arm.
std::vector<std::int64_t> limits_of(const std::vector<std::string>& entries, std::int64_t unset,
                                    const std::vector<std::string>& arms, const std::string& flag);

}  // namespace dfcl::cli
