// SPDX-License-Identifier: Apache-2.0
//
// Plans that can be measured: a random share of the units is held out (gets control), another gets an arm at random,
// the rest gets what is best. Who is what follows from a hash of the id, so it depends on nothing but the unit: the
// hold-out is the same every day, and that of 5 % lies within that of 10 %. Use mask_launch() before solving and
// set_roles() after; the solver then plans with what the hold-out and the explored units will spend. Time: a few
// hashes a unit. Memory: a byte for each unit and arm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/allocate/allocate.h"
#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/data/plan.h"

namespace dfcl::launch {

struct LaunchDesign {
  double holdout = 0.0;    // share of the units that get control
  double explore = 0.0;    // share that get an arm at random, each arm that is open to the unit with equal chance
  std::string salt = {};   // another text, another hold-out
  std::uint64_t seed = 0;  // another number, other explored units and arms; the hold-out stays
  std::size_t control = 0;

  bool is_on() const { return holdout > 0.0 || explore > 0.0; }
};

// Throws Error of kind usage: shares of 0 to below 1 that leave some units to the plan.
void validate(const LaunchDesign& design);

// What the draw says of a unit. `arm` is the one it gets; of no meaning for role plan.
struct DrawnRole {
  data::Role role = data::Role::plan;
  std::uint8_t arm = 0;
};

// open: a byte an arm, 0 where the unit may not get it; empty: all may. Throws Error of kind data where a unit is to be
// held out that may not get control.
DrawnRole draw_role(const LaunchDesign& design, const data::Ids& ids, std::size_t unit,
                    std::span<const std::uint8_t> open, std::size_t num_arms);

// Takes from each held-out or explored unit every arm but its own. eligible: units x arms.
void mask_launch(const LaunchDesign& design, const data::Ids& ids, core::MatrixView<std::uint8_t> eligible,
                 core::RunContext& context);

// The prices of a solution, at which every unit's best arm is known, also that of units that do not get it.
struct UnitPrices {
  double multiplier = 0.0;                  // of the budget, that of the unit's segment included
  std::span<const double> arm = {};         // per arm, of limits on units; empty: none
  double second = 0.0;                      // of the second budget
  std::span<const float> second_cost = {};  // per arm; empty: none
};

// A unit under every arm.
struct UnitRow {
  std::span<const float> revenue;
  std::span<const float> cost;
  std::span<const std::uint8_t> open;  // empty: all
};

// The arm of the best score, ties to the cheaper.
std::uint8_t arm_at_prices(const UnitRow& row, const allocate::Rules& rules, const UnitPrices& prices);

// The probability that the unit gets `arm`, over the draw of the roles; best: the arm it gets under role plan.
double arm_propensity(const LaunchDesign& design, std::uint8_t arm, std::uint8_t best,
                      std::span<const std::uint8_t> open, std::size_t num_arms);

// Adds role, propensity and control's predictions of one more unit to a plan whose arms are known.
void append_role(const LaunchDesign& design, std::size_t unit, const UnitRow& row, const allocate::Rules& rules,
                 const UnitPrices& prices, data::Plan& plan);

// Per cent by which spend falls where the multiplier rises by one: from the spends at two prices of a given ratio. NaN
// where it cannot be told.
double spend_elasticity(double spend_at_low, double spend_at_high, double price_ratio);

// Units, spend and revenue of one role, as predicted (role_sums.h adds them up).
struct RoleTotals {
  std::size_t units = 0;
  double revenue = 0.0;
  double spend = 0.0;
  double control_revenue = 0.0;  // of the same units, were they in control
  double control_spend = 0.0;
};

}  // namespace dfcl::launch
