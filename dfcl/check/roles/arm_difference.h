// SPDX-License-Identifier: Apache-2.0
//
// Does a column differ between the arms, given that arms were drawn at random? A score test: under no difference the
// spread is the same everywhere, so that it also holds where a column is constant in one arm. With groups (rows that
// share their draw) the spread is that of group sums. Time: two passes over the column. Memory: a number per group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfcl/data/table_sample.h"

namespace dfcl::check {

// Who got which arm.
struct ArmCodes {
  std::vector<std::uint32_t> arm;  // per row; kMissing where there is none
  std::size_t num_arms = 0;
  std::size_t control = 0;
  std::vector<std::uint32_t> group;  // per row; empty: each row is a group of its own
  std::size_t num_groups = 0;
};

struct ArmDifference {
  bool tested = false;              // false where the column never varies, or is made of too many levels
  double p = 1.0;                   // of no difference between any arms, or between control and the rest; not corrected
  double effect = 0.0;              // largest difference from control in standard deviations; of labels, Cramer's V
  std::vector<double> mean;         // per arm; of numbers only
  std::vector<double> non_zero;     // share per arm; of numbers only
  std::vector<double> count;        // rows with a value, per arm
  bool zero_in_control = false;     // and not elsewhere; of numbers only
  double zero_by_chance = 1.0;      // how likely control would be all zero if it were like the rest
  bool is_function_of_arm = false;  // one value in each arm, and not the same in all
};

ArmDifference arm_difference(const data::SampledColumn& column, const ArmCodes& arms);

// Do these numbers look like the probability of the arm that each row got? Then 1 / p is the number of arms on average,
// within chance, whatever the design was.
bool is_propensity(const data::SampledColumn& column, const ArmCodes& arms);

// How much of a column a candidate for the arm explains beyond chance: 0 nothing, 1 all of it.
double explained_share(const data::SampledColumn& column, const ArmCodes& arms);

}  // namespace dfcl::check
