// SPDX-License-Identifier: Apache-2.0
//
// The budget solver: units x arms of revenue and cost, and a budget, to one arm per unit with proof of how good the
// answer is (eq. 1-3 of docs/method.md). It knows nothing of models. One budget over 10 million units x 5 arms takes
// one read of the matrices and about a byte a unit of memory; for several budgets of one problem, and for streams, see
// plan_path.h; docs/allocate.md has the mathematics and the guarantees. Answers do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "dfcl/allocate/unit_keys.h"
#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"

namespace dfcl::allocate {

inline constexpr std::size_t kMaxArms = 256;
inline constexpr double kNoBudget = std::numeric_limits<double>::infinity();
// What the cut leaves over is offered to this many increments after it, in path order.
inline constexpr std::size_t kFillIncrements = 65'536;

enum class Objective : std::uint8_t {
  revenue,
  profit,  // margin x revenue - cost
};

// What is maximised, and which increments are worth their cost.
struct Rules {
  std::size_t control = 0;  // the arm against which gains are counted
  Objective objective = Objective::revenue;
  double margin = 1.0;   // profit only, > 0
  double min_roi = 0.0;  // no increment that earns less revenue per cost than this
  // Known costs, per arm and the same for all units; empty: costs are predicted. The cost matrix then holds these
  // prices as float32, and the solver counts in float64: a plan spends exactly sum of units x price.
  std::vector<double> price = {};
};

// Budgets of parts of the units, beside the total.
struct Segments {
  std::span<const std::uint32_t> of_unit = {};  // segment index per unit; empty: none
  std::vector<double> budgets = {};             // per segment; kNoBudget where there is none
};

// Another thing that arms use up, with its own budget.
struct SecondResource {
  core::MatrixView<const float> cost = {};  // units x arms; empty: none
  double budget = kNoBudget;
};

// All views must outlive the call they are passed to.
struct Problem {
  core::MatrixView<const float> revenue;               // units x arms
  core::MatrixView<const float> cost;                  // units x arms
  core::MatrixView<const std::uint8_t> eligible = {};  // units x arms, 0: the unit may not get the arm; empty: all may
  UnitKeys keys = {};  // decide between units that are equally efficient; empty: the row number decides
  Rules rules = {};
  std::vector<std::int64_t> min_units = {};  // per arm; empty: none
  std::vector<std::int64_t> max_units = {};  // per arm; empty: none
  Segments segments = {};
  SecondResource second = {};

  std::size_t num_units() const { return revenue.rows; }
  std::size_t num_arms() const { return revenue.cols; }
};

enum class Status : std::uint8_t {
  not_run,
  optimal,        // within the gap
  not_binding,    // the budget is larger than what is worth spending
  no_budget,      // there is none: everything that is worth its cost is bought
  no_gain,        // no arm earns more than control at a price that is accepted
  cannot_be_met,  // proven: no plan keeps to the budget and the other constraints
  none_found,     // constraints are coupled, and neither a plan nor a proof was found
};
std::string_view to_text(Status status);

// What stopped the spending.
enum class Binding : std::uint8_t {
  nothing,          // there is no plan
  budget,           // the next increment costs more than what is left
  best_arms,        // every unit has the arm that earns most
  min_roi,          // further increments earn too little per cost
  segment_budgets,  // of the segments that could still earn more
  unit_limits,
  second_budget,
};
std::string_view to_text(Binding binding);

struct Solution {
  Status status = Status::not_run;
  std::vector<std::uint8_t> arm;  // per unit; empty where there is no plan
  double budget = kNoBudget;
  double value = 0.0;       // of the objective
  double revenue = 0.0;     // sum over the plan, correctly rounded
  double spend = 0.0;       // sum over the plan, correctly rounded; never above the budget
  double bound = 0.0;       // no plan within the constraints has a higher value
  double gap = 0.0;         // bound - value
  double multiplier = 0.0;  // value of one more unit of budget (L of eq. 2); 0 where the budget does not bind
  // Of any plan. Where the budget cannot be met: of any plan within the other limits; infinite where these alone cannot
  // be met.
  double least_spend = 0.0;
  double control_revenue = 0.0;  // all units under control
  double control_cost = 0.0;
  Binding binding = Binding::nothing;
  std::vector<std::int64_t> units_per_arm;
  std::vector<double> segment_spend;       // empty without segments, as the next
  std::vector<double> segment_multiplier;  // on top of the total's multiplier
  double second_spend = 0.0;
  double second_multiplier = 0.0;
  // Per arm: value lost by one unit less (> 0, an upper limit) or more (< 0, a lower limit); empty without limits.
  std::vector<double> arm_multiplier;

  bool has_plan() const { return status != Status::not_run && status < Status::cannot_be_met; }
};

// The best plan that spends at most budget_total (kNoBudget: no limit). A budget that cannot be met is a status.
// Throws core::Error of kind data where a number is not finite or a unit may get no arm (details().where is
// "unit 17", counted from 0), and of kind usage where the problem itself is malformed.
Solution allocate(const Problem& problem, double budget_total, core::RunContext& context);

// The plan at a known price: every unit takes its increments of more than `multiplier` value per cost. With the
// multiplier of a Solution it never spends more than that solution's budget. Only rules and eligibility are allowed.
Solution apply_multiplier(const Problem& problem, double multiplier, core::RunContext& context);

// The range of spends over which the path runs. Only rules and eligibility are allowed, here and below.
struct SpendRange {
  double least = 0.0;      // the cheapest plan
  double most = 0.0;       // beyond this, money earns nothing (or less than min_roi)
  double costliest = 0.0;  // every unit in its costliest arm, useful or not
};
SpendRange spend_range(const Problem& problem, core::RunContext& context);

// The plans at num_points budgets, evenly spaced from the least to the most that is worth spending; each is that of
// allocate() at its budget.
struct CurvePoint {
  double budget = 0.0;
  double spend = 0.0;
  double value = 0.0;  // of the objective
  double revenue = 0.0;
  double multiplier = 0.0;  // 0 at the end
  std::vector<std::int64_t> units_per_arm;
};
struct Curve {
  std::vector<CurvePoint> points;
  double control_revenue = 0.0;
  double control_cost = 0.0;
};
Curve allocate_curve(const Problem& problem, std::size_t num_points, core::RunContext& context);

}  // namespace dfcl::allocate
