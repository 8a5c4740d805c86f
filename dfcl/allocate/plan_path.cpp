// SPDX-License-Identifier: Apache-2.0
#include "dfcl/allocate/plan_path.h"

#include <algorithm>
#include <cmath>

#include "dfcl/allocate/bucketed_form.h"
#include "dfcl/allocate/settle.h"
#include "dfcl/allocate/solve.h"
#include "dfcl/allocate/stream.h"
#include "dfcl/allocate/validate.h"
#include "dfcl/core/error.h"

namespace dfcl::allocate {
namespace {

// Below this the whole path is sorted: it costs less than finding out where to look.
constexpr std::size_t kFewUnits = 100'000;
constexpr std::size_t kFewForCurve = 20'000;

PathCut cut_of(const CutSolution& solution) {
  PathCut cut;
  cut.position = solution.next ? position_of(*solution.next) : kPathEnd;
  for (const Increment& increment : solution.filled) {
    const FilledArm arm{increment.arm_from, increment.arm_to};
    if (increment.unit == kUnitElsewhere) {
      cut.filled_by_key.try_emplace(increment.key, arm).first->second.to = increment.arm_to;
    } else {
      cut.filled.try_emplace(increment.unit, arm).first->second.to = increment.arm_to;
    }
  }
  return cut;
}

// What a cut says, without the plan itself.
void describe(const Prices& prices, std::size_t num_arms, const CutSolution& found, Solution& solution) {
  solution.revenue = found.total.revenue.value();
  solution.spend = found.total.spend(prices);
  solution.value = prices.value(solution.revenue, solution.spend);
  solution.units_per_arm = found.total.units_per_arm(num_arms);
  if (!found.next) {
    solution.bound = solution.value;
    solution.multiplier = 0.0;
    solution.binding = Binding::best_arms;
    solution.status = std::isinf(solution.budget) ? Status::no_budget : Status::not_binding;
  } else {
    // The LP optimum: the rest of the budget buys a part of the increment at the cut.
    const double efficiency = found.next->efficiency;
    const double left = solution.budget - found.at_cut.spend(prices);
    const double revenue = found.at_cut.revenue.value() + efficiency * left;
    solution.bound = std::max(solution.value, prices.value(revenue, solution.budget));
    solution.multiplier = prices.multiplier(efficiency);
    solution.binding = Binding::budget;
    solution.status = Status::optimal;
  }
  solution.gap = solution.bound - solution.value;
}

// The fast way for one budget, where it applies and the sample's bracket was right. Fills the arms.
std::optional<PathPlan> solve_directly(const Problem& problem, double budget, core::RunContext& context) {
  const Units units = all_units(problem);
  const Prices prices(problem.rules);
  const std::optional<Bracket> bracket = bracket_on_sample(units, problem.rules, budget, context);
  if (!bracket) return std::nullopt;
  PathPlan plan;
  Solution& solution = plan.summary;
  solution.arm.resize(units.size());
  Settled settled = settle(units, problem.rules, *bracket, solution.arm.data(), context);
  const CutSolution found = solve_settled(settled, prices, budget, solution.arm.data());
  if (found.outcome != CutOutcome::solved) return std::nullopt;
  plan.cut = cut_of(found);
  solution.budget = budget;
  solution.least_spend = settled.least.spend(prices);
  describe_control(settled.control, prices, solution);
  describe(prices, problem.num_arms(), found, solution);
  if (solution.status == Status::optimal) return plan;
  explain_unspent(
      problem.rules, [&] { return has_increment_below_least_return(units, prices, context); }, solution);
  return plan;
}

void check_num_points(std::size_t num_points) {
  if (num_points >= 2) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "number of points of the curve",
                     .found = std::to_string(num_points),
                     .expected = "2 or more"});
}

// Efficiencies above that of the multiplier: up to the first place of the path that could hold exactly it.
PathPosition position_at(const Prices& prices, double multiplier) {
  validate_budget(multiplier);
  const double efficiency = prices.efficiency(multiplier);
  if (!(efficiency > 0.0)) return kPathEnd;
  return std::isinf(efficiency) ? 0 : position_of(efficiency, 0);
}

}  // namespace

PlanPath::PlanPath(const Problem& problem, Form form)
    : rules_(problem.rules),
      problem_(std::make_unique<Problem>(problem)),
      pieces_(std::make_unique<UnitsInMemory>(all_units(problem))),
      num_arms_(problem.num_arms()),
      wanted_(form) {
  validate(problem);
}

PlanPath::PlanPath(data::BatchSource& source, const std::vector<std::string>& arms, const Rules& rules,
                   core::RunContext& context)
    : rules_(rules), pieces_(std::make_unique<StreamedUnits>(source, arms, context)), num_arms_(arms.size()) {
  validate(rules, arms.size());
}

PlanPath::PlanPath(PassRunner runner, std::size_t num_arms, const Rules& rules)
    : rules_(rules), runner_(std::move(runner)), num_arms_(num_arms) {
  validate(rules, num_arms);
}

PlanPath::PlanPath(std::unique_ptr<SegmentPaths> segments, std::size_t num_arms, const Rules& rules)
    : rules_(rules), segments_(std::move(segments)), num_arms_(num_arms) {
  validate(rules, num_arms);
}

PlanPath::~PlanPath() = default;
PlanPath::PlanPath(PlanPath&&) noexcept = default;

bool PlanPath::is_coupled() const {
  return problem_ != nullptr &&
         (has_unit_limits(*problem_) || has_second_resource(*problem_) || has_segments(*problem_));
}

bool PlanPath::keeps_increments() const {
  if (wanted_ == Form::sorted || wanted_ == Form::bucketed) return wanted_ == Form::sorted;
  return problem_ != nullptr && problem_->num_units() <= kFewUnits;
}

PathForm& PlanPath::form(core::RunContext& context) {
  if (form_ != nullptr) return *form_;
  if (keeps_increments()) {
    form_ = std::make_unique<SortedForm>(*pieces_, rules_, context);
  } else {
    form_ = bucketed(wanted_ != Form::one_budget, context);
  }
  return *form_;
}

std::unique_ptr<PathForm> PlanPath::bucketed(bool keep_lists, core::RunContext& context) const {
  std::unique_ptr<PathScans> scans = problem_ != nullptr  ? scan_memory(all_units(*problem_), keep_lists, rules_)
                                     : pieces_ != nullptr ? scan_pieces(*pieces_, rules_)
                                                          : scan_elsewhere(runner_, num_arms_, rules_);
  return std::make_unique<BucketedForm>(std::move(scans), rules_, context);
}

PathPlan PlanPath::at_budget(double budget_total, core::RunContext& context) {
  validate_budget(budget_total);
  if (is_coupled()) return {solve_tied(*problem_, budget_total, context), {}, {}};
  if (segments_ != nullptr) {
    SegmentPlan plan = segments_->at_budget(budget_total, context);
    return {std::move(plan.summary), {}, std::move(plan.cuts)};
  }
  if (problem_ != nullptr && form_ == nullptr && !asked_ &&
      (wanted_ == Form::automatic || wanted_ == Form::one_budget)) {
    asked_ = true;
    if (auto plan = solve_directly(*problem_, budget_total, context)) return std::move(*plan);
  }
  const Prices prices(rules_);
  PathForm& path = form(context);
  const PathEnds& ends = path.ends();
  PathPlan plan;
  Solution& solution = plan.summary;
  solution.budget = budget_total;
  solution.least_spend = ends.least.spend(prices);
  describe_control(ends.control, prices, solution);
  if (solution.least_spend > budget_total) {
    solution.status = Status::cannot_be_met;
    return plan;
  }
  const CutSolution found = path.cut_at(std::span(&budget_total, 1), context)[0];
  if (found.outcome != CutOutcome::solved) throw core::Error({.what = "the path misses a budget"});
  plan.cut = cut_of(found);
  describe(prices, num_arms_, found, solution);
  explain_unspent(
      rules_, [&] { return ends.most_at_any_return().spend(prices) > solution.spend; }, solution);
  return plan;
}

PathPlan PlanPath::at_multiplier(double multiplier, core::RunContext& context) {
  if (problem_ != nullptr) require_path_only(*problem_, "a plan at a multiplier");
  const Prices prices(rules_);
  PathPlan plan;
  plan.cut.position = position_at(prices, multiplier);
  PathForm& path = form(context);
  const Totals totals = path.totals_at(plan.cut.position, context);
  Solution& solution = plan.summary;
  describe_control(path.ends().control, prices, solution);
  solution.spend = totals.spend(prices);
  solution.revenue = totals.revenue.value();
  solution.value = prices.value(solution.revenue, solution.spend);
  solution.bound = solution.value;  // of every plan that spends as much
  solution.multiplier = multiplier;
  solution.least_spend = path.ends().least.spend(prices);
  solution.budget = solution.spend;
  solution.units_per_arm = totals.units_per_arm(num_arms_);
  solution.binding = Binding::budget;
  solution.status = Status::optimal;
  return plan;
}

Curve PlanPath::curve(std::size_t num_points, core::RunContext& context) {
  check_num_points(num_points);
  const Prices prices(rules_);
  // All points are found in one pass: lists of units would take longer to make than they save.
  std::unique_ptr<PathForm> passing;
  const bool many = problem_ == nullptr || problem_->num_units() > kFewForCurve;
  if (form_ == nullptr && many && wanted_ != Form::sorted) {
    passing = bucketed(false, context);
  }
  PathForm& path = passing != nullptr ? *passing : form(context);
  const PathEnds& path_ends = path.ends();
  const double least = path_ends.least.spend(prices);
  const double most = path_ends.most.spend(prices);
  Curve curve;
  curve.control_revenue = path_ends.control.revenue.value();
  curve.control_cost = path_ends.control.spend(prices);
  std::vector<double> budgets;
  for (std::size_t i = 0; i < num_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(num_points - 1);
    budgets.push_back(i + 1 == num_points ? most : std::min(most, least + share * (most - least)));
  }
  if (is_coupled()) {  // each on its own
    for (const double budget : budgets) {
      const Solution found = at_budget(budget, context).summary;
      curve.points.push_back({budget, found.spend, found.value, found.revenue, found.multiplier, found.units_per_arm});
    }
    return curve;
  }
  for (const CutSolution& found : path.cut_at(budgets, context)) {
    if (found.outcome != CutOutcome::solved) throw core::Error({.what = "the path misses a budget"});
    CurvePoint point{
        budgets[curve.points.size()],        found.total.spend(prices), 0.0, found.total.revenue.value(), 0.0,
        found.total.units_per_arm(num_arms_)};
    point.value = prices.value(point.revenue, point.spend);
    if (found.next) point.multiplier = prices.multiplier(found.next->efficiency);
    curve.points.push_back(std::move(point));
  }
  return curve;
}

const PathEnds& PlanPath::ends(core::RunContext& context) {
  return segments_ != nullptr ? segments_->ends(context) : form(context).ends();
}

std::span<const Increment> PlanPath::increments(core::RunContext& context) { return form(context).increments(); }

void PlanPath::deliver(const PathPlan& plan, const PlanSink& sink, core::RunContext& context) {
  constexpr std::size_t kPieceUnits = 65'536;
  std::vector<std::uint8_t> arm;
  if (problem_ != nullptr && plan.summary.arm.empty()) arm = arms(plan, context);
  pieces_->for_each([&](const Units& units, const data::Batch* batch) {
    if (batch != nullptr) {
      arm.resize(units.size());
      assign(units, rules_, plan.cut, arm.data(), context);
      sink({units, arm, batch});
      return;
    }
    const std::span<const std::uint8_t> all = plan.summary.arm.empty() ? arm : plan.summary.arm;
    for (std::size_t first = 0; first < units.size(); first += kPieceUnits) {
      const std::size_t count = std::min(kPieceUnits, units.size() - first);
      Units piece{units.revenue.slice(first, count), units.cost.slice(first, count), {}, first, {}};
      if (units.eligible.data != nullptr) piece.eligible = units.eligible.slice(first, count);
      if (!units.keys.empty()) piece.keys = units.keys.slice(first, count);
      sink({piece, all.subspan(first, count), nullptr});
    }
  });
}

std::vector<std::uint8_t> PlanPath::arms(const PathPlan& plan, core::RunContext& context) const {
  if (!plan.summary.has_plan()) return {};
  if (!plan.summary.arm.empty()) return plan.summary.arm;
  std::vector<std::uint8_t> arms(problem_->num_units());
  assign(all_units(*problem_), rules_, plan.cut, arms.data(), context);
  return arms;
}

}  // namespace dfcl::allocate
