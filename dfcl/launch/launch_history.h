// SPDX-License-Identifier: Apache-2.0
//
// Launches one after the other: what each brought, and what they brought in all. The same units may be held out every
// time, so launches are not independent; the ends of the total are the sums of the launches' ends, which hold whatever
// the launches have in common, and are wider than needed where they have nothing in common. A few bytes per launch.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/interval.h"

namespace dfcl::launch {

struct Readout;

struct LaunchLine {
  std::string name;        // when it started, else its place in the list
  std::size_t units = 0;   // of role plan
  double spend = 0.0;      // of all roles
  core::Interval revenue;  // over the hold-out, in all; so the next two
  core::Interval cost;
  std::optional<core::Interval> profit;  // where it is known what revenue is worth

  std::optional<double> roi() const;  // profit per cost; none where either is not known or nothing was spent
};

LaunchLine line_of(const Readout& readout, std::string name);

// Of the first so many launches; profit where all of them know it.
LaunchLine total_of(const std::vector<LaunchLine>& launches, std::size_t count);

// Throws Error of kind data where the launch is among the earlier ones already.
std::vector<LaunchLine> with_launch(std::vector<LaunchLine> earlier, LaunchLine launch, const std::string& where);

}  // namespace dfcl::launch
