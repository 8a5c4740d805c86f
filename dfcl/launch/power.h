// SPDX-License-Identifier: Apache-2.0
//
// How large must a trial be to tell two plans apart, and how small a gain can this one show? A unit tells something
// about the difference of two plans only where they give it other arms and it got one of the two, so most of a trial
// is silent; what counts is the standard deviation of the paired difference per unit. Time: one pass over the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dfcl/evaluate/estimators/estimators.h"
#include "dfcl/evaluate/estimators/trial_rows.h"
#include "dfcl/launch/moments.h"

namespace dfcl::launch {

struct PowerLevels {
  double power = 0.8;   // the probability with which a gain of the stated size is to be found
  double level = 0.95;  // of the two-sided interval that must leave out zero
};
// Throws Error of kind usage where they are no probabilities in (0, 1).
void validate(const PowerLevels& levels);

// sd: of the paired difference, per unit, in revenue; units: rows of the trial that are looked at.
double smallest_gain(double sd, double units, const PowerLevels& levels);
// Rounded up; gain > 0 in revenue per unit.
double units_needed(double sd, double gain, const PowerLevels& levels);
// The probability with which a gain is found.
double power_of(double sd, double units, double gain, double level);

// Two plans on the rows of a trial.
struct PlanPair {
  std::size_t units = 0;
  double revenue_a = 0.0;       // per unit, estimated
  Interval difference;          // revenue of b minus a, per unit
  double sd = 0.0;              // of the paired difference, per unit (units of a cluster taken together)
  double differing = 0.0;       // share of the units to which the plans give other arms
  double launch_sd = 0.0;       // root of the summed variances of revenue under a and b: half of the units get each
  double variance_a = 0.0;      // of a unit's revenue under a; 0 where no plan is known
  bool plans_are_known = true;  // else the pair stands for plans that differ on a share of the units
};

// arms: per row, of each plan. nuisance: predictions that were not fitted on these rows; empty: the arms' means.
PlanPair compare_plans(const evaluate::TrialRows& rows, evaluate::Outcomes nuisance,
                       std::span<const std::uint8_t> arms_a, std::span<const std::uint8_t> arms_b, double level);

// Plans that nobody has made yet, which give other arms to a share of the units, any two arms equally often.
PlanPair assume_plans(const evaluate::TrialRows& rows, evaluate::Outcomes nuisance, double differing);

// A launch in which half of the units get each plan: units in all.
double launch_units_needed(const PlanPair& pair, double gain, const PowerLevels& levels);

// What it takes to find a gain.
struct GainNeed {
  double gain = 0.0;          // revenue per unit
  double rows = 0.0;          // that are looked at
  double trial_units = 0.0;   // of the whole trial, with the rows that train
  double launch_units = 0.0;  // of a launch, half of them with each plan; 0 where launch_sd is not known
};
// split_share: the rows that are looked at, of the trial.
GainNeed gain_need(const PlanPair& pair, double gain, double split_share, const PowerLevels& levels);

// One arm against control: what the difference of their means can show.
struct ArmPower {
  std::string arm;            // label
  std::size_t units = 0;      // rows of the arm that are looked at
  Interval difference;        // mean revenue of the arm minus control's, per unit
  double sd = 0.0;            // of the difference, per row looked at (rows of a cluster taken together)
  double least_effect = 0.0;  // revenue per unit that is found with the stated probability
  double extra_cost = 0.0;    // mean cost of the arm minus control's, per unit
};
// Every arm but control. Throws Error of kind data where an arm has fewer than two rows.
std::vector<ArmPower> arms_against_control(const evaluate::TrialRows& rows, const PowerLevels& levels);

// How large a hold-out must be for a gain of a plan over control to be found.
struct HoldoutNeed {
  double gain = 0.0;          // revenue per unit
  double share = 0.0;         // smallest share of the launch; NaN where none is large enough
  double units = 0.0;         // that share of the launch; NaN likewise
  double least_launch = 0.0;  // units below which no hold-out suffices, however large
};
// Variances of revenue of a unit under control and under the plan. (z se)^2 = z^2 (v_c / h + v_p / (1 - h)) / N.
HoldoutNeed holdout_need(double control_variance, double plan_variance, double launch_units, double gain,
                         const PowerLevels& levels);

// Variances of a unit's revenue, per arm, from the rows.
std::vector<double> arm_variances(const evaluate::TrialRows& rows);

struct PowerPoint {
  double rows = 0.0;
  double power = 0.0;  // the probability with which the gain is found
};
// From about a sixteenth to sixteen times the rows needed.
std::vector<PowerPoint> power_curve(double sd, double gain, const PowerLevels& levels);

}  // namespace dfcl::launch
