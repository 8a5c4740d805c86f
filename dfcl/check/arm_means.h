// SPDX-License-Identifier: Apache-2.0
//
// Mean revenue and cost of each arm and their differences from control, with intervals that hold when rows of a group
// (cluster, or id over time) go together. Means are weighted by 1 / propensity where one is given. Two passes over the
// rows.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "dfcl/check/check.h"
#include "dfcl/check/draws.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/trial.h"

namespace dfcl::check {

inline constexpr std::size_t kOutcomes = 2;  // revenue, cost

struct ArmTotals {
  std::size_t units = 0;
  std::size_t with_revenue = 0;
  double weight = 0.0;
  std::array<double, kOutcomes> outcome{};  // sum of weight x outcome
};

// Sums over groups of u_g, the group's part in the arm's mean (docs/check.md, eq. 2).
struct ArmSpread {
  std::size_t groups = 0;
  std::array<double, kOutcomes> square{};   // u_g^2
  std::array<double, kOutcomes> product{};  // u_g of this arm x u_g of control
};

// What is estimated of a unit's cost: all of it, or, where the study knows a price or a rate, what that is paid for:
// the revenue, or whether it was paid at all. The fact itself is a factor without an error.
double estimated_cost(const data::Trial& trial, std::size_t row);

// From sums over all units; of the trial only arms, known costs and whether there are clusters.
std::vector<ArmSummary> arm_summaries(const data::Trial& trial, std::vector<ArmTotals> totals,
                                      std::vector<ArmSpread> spreads);

// Everything of ArmSummary but the designed share.
std::vector<ArmSummary> arm_means(const data::Trial& trial, const RowGroups& groups, core::RunContext& context);

}  // namespace dfcl::check
