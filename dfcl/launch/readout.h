// SPDX-License-Identifier: Apache-2.0
//
// What came of a launch: what was planned, what happened, and what the hold-out says would have happened anyway. Units
// count under the role and arm that were planned for them, whatever they got (intention to treat). Sums are exact, so
// that the order of the units does not show. Time: two passes over the units for each role and arm. Memory: nothing
// beside the launch, about 60 bytes a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dfcl/core/exact_total.h"
#include "dfcl/data/plan.h"
#include "dfcl/data/report_words.h"
#include "dfcl/launch/launch_history.h"
#include "dfcl/launch/moments.h"

namespace dfcl::launch {

struct GuardedColumn {
  std::string name;
  std::vector<double> value;  // per unit
};

// A plan joined with its outcomes: the units that have both.
struct Launch {
  std::vector<std::string> arms;  // labels of either table
  std::size_t control = 0;
  std::vector<data::Role> role;            // as planned
  std::vector<std::uint8_t> planned_arm;   // index into arms
  std::vector<std::uint8_t> received_arm;  // index into arms
  std::vector<float> planned_revenue;
  std::vector<float> planned_cost;
  std::vector<float> control_revenue;  // predicted; empty where the plan does not say, as the next
  std::vector<float> control_cost;
  std::vector<double> revenue;  // realised
  std::vector<double> cost;
  std::vector<double> weight = {};  // sample weights; empty: all alike
  std::vector<GuardedColumn> guardrails = {};

  std::size_t units_in_plan = 0;
  std::size_t units_in_outcomes = 0;
  std::size_t units_joined = 0;               // units of the plan that have an outcome, of no weight too
  core::ExactTotal planned_spend_of_all;      // also of units without an outcome
  std::size_t role_conflicts = 0;             // units whose role is another in the outcomes
  std::vector<std::size_t> planned_per_role;  // units in the plan, per role; empty where only the outcomes say roles
  std::vector<std::size_t> seen_per_role;     // per role as the outcomes say it

  std::size_t num_units() const { return role.size(); }
};

// What the plan did to a further outcome of which more is worse, per unit.
struct GuardrailReadout {
  std::string name;
  double holdout = 0.0;  // its mean in the hold-out
  Interval increment;    // over that; with ends that hold for all guardrails at once
  std::string harmed;    // yes: it rose; no: it did not; not_shown
};

struct ReadoutOptions {
  double holdout_share = 0.0;                    // as designed
  double level = 0.95;                           // of the intervals
  std::optional<double> budget = {};             // of the plan, in all
  std::optional<double> multiplier = {};         // of the plan
  std::optional<double> spend_elasticity = {};   // of the plan; see launch_design.h
  std::optional<double> value_per_revenue = {};  // of one unit of revenue, in the currency of cost; none: not known
  // Incremental revenue per unit of role plan that units which the model had not seen promised; none: not known.
  std::optional<Interval> evaluated_per_unit = {};
};

// What was earned and spent is a fact: it has no interval.
struct ArmReadout {
  std::string arm;                // planned
  std::size_t units = 0;          // of role plan
  std::size_t received = 0;       // of them, got it
  double planned_cost = 0.0;      // total
  double realised_cost = 0.0;     // total
  double overspend = 0.0;         // total, realised - planned
  double planned_revenue = 0.0;   // total
  double realised_revenue = 0.0;  // total
};

struct ExploredArm {
  std::string arm;
  std::size_t units = 0;
  Interval revenue;  // per unit, over the hold-out
  Interval cost;
};

struct Crossing {
  std::string planned;
  std::string received;
  std::size_t units = 0;
};

struct Readout {
  std::size_t units = 0;
  std::vector<std::size_t> units_per_role;
  double level = 0.95;
  double holdout_share = 0.0;    // designed
  double holdout_found = 0.0;    // share of the units in the outcomes
  double holdout_p_value = 1.0;  // of the sample ratio

  // Units of role plan, in all.
  double planned_revenue = 0.0;
  double realised_revenue = 0.0;
  double planned_spend = 0.0;
  double realised_spend = 0.0;
  std::optional<double> planned_incremental;       // over control, as predicted
  std::optional<Interval> evaluated_incremental;   // over control, on units that the model had not seen
  std::optional<double> planned_incremental_cost;  // over control, as predicted
  std::optional<double> planned_return;            // incremental revenue a unit of incremental cost
  // Over the hold-out.
  Difference per_unit;
  Interval incremental_revenue;  // in all, for the units of role plan
  Interval incremental_cost;  // where the hold-out cost nothing it is what was spent, a fact: both ends are its value
  std::optional<double> value_per_revenue = {};
  std::optional<Interval> incremental_profit = {};  // in all; where it is known what revenue is worth
  std::optional<Interval> roi = {};                 // that per incremental cost
  // All roles (role plan alone where the plan does not know roles): what was paid against the budget.
  std::optional<double> budget;         // for the units that are counted here
  std::optional<double> budget_of_all;  // the plan's, of which that is the part planned for these units
  double total_spend = 0.0;

  std::vector<GuardrailReadout> guardrails = {};
  bool has_sample_weights = false;  // gains are weighted by them; what was earned and spent is not
  std::vector<ArmReadout> arms;
  std::vector<ExploredArm> explored;
  std::vector<Crossing> crossings;        // units that got another arm than planned
  std::size_t not_as_planned = 0;         // of role plan
  std::size_t holdout_treated = 0;        // of the hold-out, got another arm than control
  std::optional<double> multiplier = {};  // of the plan
  std::optional<Interval> next_multiplier;
  bool elasticity_is_assumed = false;  // the plan did not say it
  std::vector<std::string> warnings;
  std::vector<LaunchLine> launches = {};  // those before and, last, this one; the caller says them
  data::ReportWords words;                // of the plan: currency, what a unit is called
};

// Throws Error of kind data where the launch has no hold-out or no planned units, of kind unfit where the hold-out is
// broken: its share is not the designed one, outcomes are missing more often in it than elsewhere, or more than a
// tenth of it was treated.
Readout read_out(const Launch& launch, const ReadoutOptions& options);

}  // namespace dfcl::launch
