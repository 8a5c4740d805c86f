// SPDX-License-Identifier: Apache-2.0
//
// Budgets of segments inside a total are nested, so walking the path and taking each increment that its segment and the
// total can still pay is the LP optimum up to the increments at the cuts. The bound is the dual value at the
// efficiencies where the segments and the total were cut. Of many units, only those whose arm is open near the cuts of
// a sample are walked; the others are settled in one pass.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dfcl/allocate/chosen_units.h"
#include "dfcl/allocate/price_box.h"
#include "dfcl/allocate/solve.h"

namespace dfcl::allocate {
namespace {

// A budget that is being spent. Far from its end float64 tells what fits; near it the exact sum does.
struct Purse {
  double budget = kNoBudget;
  Totals exact;
  double spend = 0.0;       // float64, a little off after many steps
  double slack = 0.0;       // how far off
  double cut = 0.0;         // efficiency of the first increment that did not fit; 0: none
  std::size_t offered = 0;  // increments since the cut

  void settle(const Prices& prices) {
    spend = exact.spend(prices);
    slack = 1e-9 * (std::abs(spend) + (std::isfinite(budget) ? std::abs(budget) : 0.0));
  }
  bool fits(const Increment& increment, const Prices& prices) {
    const double after = spend + increment.extra_cost(prices);
    if (after < budget - slack) return true;
    if (after > budget + slack) return false;
    Totals trial = exact;
    trial.take(increment);
    return trial.spend(prices) <= budget;
  }
  void pay(const Increment& increment, const Prices& prices) {
    exact.take(increment);
    spend += increment.extra_cost(prices);
  }
  // Notes an increment that did not fit, or that came after one.
  void pass(const Increment& increment) {
    if (cut == 0.0) cut = increment.efficiency;
  }
};

struct Walk {
  Purse total;
  std::vector<Purse> segments;
};

// Takes what both purses can pay, in path order.
void walk_path(std::span<const Increment> path, const Segments& segments, const Prices& prices,
               std::vector<std::uint8_t>& arm, Walk& walk) {
  std::vector<bool> passed(arm.size());
  for (const Increment& increment : path) {
    Purse& segment = walk.segments[segments.of_unit[increment.unit]];
    if (walk.total.cut > 0.0 && ++walk.total.offered > kFillIncrements) break;
    if (segment.cut > 0.0 && ++segment.offered > kFillIncrements) continue;
    if (passed[increment.unit]) continue;
    const bool segment_fits = segment.fits(increment, prices);
    if (segment_fits && walk.total.fits(increment, prices)) {
      segment.pay(increment, prices);
      walk.total.pay(increment, prices);
      arm[increment.unit] = increment.arm_to;
      continue;
    }
    (segment_fits ? walk.total : segment).pass(increment);
    passed[increment.unit] = true;
  }
}

// Some units with their plan, and what bounds it.
struct Walked {
  bool can_pay = false;
  Walk walk;
  std::vector<std::uint8_t> arm;
  std::vector<double> price;  // of cost, per segment: where the segment or the total was cut
  double dual = 0.0;          // of sum(r - f*c) over these and the other units at the prices, f the least efficiency
};

// The purses with the other units and the cheapest plan of these paid; false where one of them cannot pay it.
bool open_purses(const Problem& problem, double budget, const PlanSums& paid, Walk& walk) {
  const Prices prices(problem.rules);
  walk.total.budget = budget;
  walk.total.exact = paid.total();
  walk.total.settle(prices);
  walk.segments.resize(problem.segments.budgets.size());
  bool can_pay = walk.total.spend <= budget;
  for (std::size_t s = 0; s < walk.segments.size(); ++s) {
    Purse& segment = walk.segments[s];
    segment.budget = problem.segments.budgets[s];
    segment.exact = paid.segments[s];
    segment.settle(prices);
    can_pay &= segment.spend <= segment.budget;
  }
  return can_pay;
}

// The dual value at the prices of the cuts.
double dual_of(const Walked& walked, std::span<const Increment> path, const Problem& problem, const PlanSums& others,
               const std::vector<std::uint8_t>& least_arm) {
  const Prices prices(problem.rules);
  const Walk& walk = walked.walk;
  const double total_price = std::max(walk.total.cut, prices.least_efficiency);
  double dual = walk.total.cut > 0.0 ? (total_price - prices.least_efficiency) * walk.total.budget : 0.0;
  for (std::size_t s = 0; s < walk.segments.size(); ++s) {
    const double price = walked.price[s];
    if (price > total_price) dual += (price - total_price) * walk.segments[s].budget;
    dual += others.segments[s].revenue.value() - price * others.segments[s].spend(prices);
  }
  for (std::size_t unit = 0; unit < least_arm.size(); ++unit) {
    const std::uint8_t arm = least_arm[unit];
    const double cost = prices.known() != nullptr ? prices.price[arm] : static_cast<double>(problem.cost(unit, arm));
    dual += static_cast<double>(problem.revenue(unit, arm)) - walked.price[problem.segments.of_unit[unit]] * cost;
  }
  for (const Increment& increment : path) {
    const double price = walked.price[problem.segments.of_unit[increment.unit]];
    if (increment.efficiency > price) dual += increment.extra_revenue() - price * increment.extra_cost(prices);
  }
  return dual;
}

// problem: the units to walk, with the budgets of all. others: what the other units sum up to.
Walked walk_units(const Problem& problem, double budget, const PlanSums& others, core::RunContext& context) {
  UnitsInMemory pieces(all_units(problem));
  const Prices prices(problem.rules);
  const WholePath whole = sort_whole_path(pieces, problem.rules, context);
  const std::span<const Increment> path = whole.path.increments();
  std::vector<std::uint8_t> least_arm(problem.num_units());
  assign(all_units(problem), problem.rules, {0, {}}, least_arm.data(), context);
  PlanSums paid = others;
  paid.add(sum_plan(problem, least_arm, context));
  Walked walked;
  walked.can_pay = open_purses(problem, budget, paid, walked.walk);
  if (!walked.can_pay) return walked;
  walked.arm = least_arm;
  walk_path(path, problem.segments, prices, walked.arm, walked.walk);
  const double total_price = std::max(walked.walk.total.cut, prices.least_efficiency);
  for (const Purse& segment : walked.walk.segments) walked.price.push_back(std::max(segment.cut, total_price));
  walked.dual = dual_of(walked, path, problem, others, least_arm);
  return walked;
}

// Half the width of a price that some units of a sample were cut at: as far as opens a share of them that is several
// standard errors of the cut's place. factors: per unit, how far the price must move to open it.
double width_around_cut(std::vector<double>& factors) {
  constexpr double kStandardErrors = 8.0;
  const auto size = static_cast<double>(factors.size());
  const auto open = static_cast<std::size_t>(kStandardErrors * std::sqrt(size));
  if (2 * open >= factors.size()) return std::numeric_limits<double>::infinity();
  const auto place = factors.begin() + static_cast<std::ptrdiff_t>(open);
  std::nth_element(factors.begin(), place, factors.end());
  return *place;
}

// Where the prices of all units lie, as far as a sample says; none where it cannot say.
std::optional<PriceBox> box_on_sample(const Problem& problem, double budget, core::RunContext& context) {
  constexpr std::size_t kFewUnits = 200'000;  // walked without a sample
  constexpr std::size_t kLeastSample = 65'536;
  constexpr std::size_t kMostSample = 262'144;
  if (problem.num_units() <= kFewUnits) return std::nullopt;
  const std::size_t size = std::clamp(problem.num_units() / 16, kLeastSample, kMostSample);
  const ChosenUnits sample(problem, sample_units(problem, size, context), context);
  if (sample.size() == problem.num_units()) return std::nullopt;
  const double share = static_cast<double>(sample.size()) / static_cast<double>(problem.num_units());
  Problem scaled = sample.problem();
  for (double& segment_budget : scaled.segments.budgets) segment_budget *= share;
  const Walked walked = walk_units(scaled, budget * share, PlanSums(scaled), context);
  if (!walked.can_pay) return std::nullopt;
  const std::size_t num_segments = walked.price.size();
  PriceBox box;
  box.cost_price = walked.price;
  box.cost_width.assign(num_segments, 1.0);
  const std::vector<double> factors = opening_factors(scaled, box, context);
  // Segments that only the total cuts share its price.
  const double total_price = std::max(walked.walk.total.cut, Prices(problem.rules).least_efficiency);
  std::vector<std::vector<double>> of_cut(num_segments + 1);
  const auto cut_of = [&](std::size_t s) { return walked.price[s] > total_price ? s : num_segments; };
  for (std::size_t unit = 0; unit < factors.size(); ++unit)
    of_cut[cut_of(scaled.segments.of_unit[unit])].push_back(factors[unit]);
  for (std::size_t s = 0; s < num_segments; ++s)
    box.cost_width[s] = std::max(width_around_cut(of_cut[cut_of(s)]), 1e-9 * walked.price[s]);
  return box;
}

// Moves the box towards prices that lie outside of it, twice as wide there.
bool recentre(const std::vector<double>& prices, PriceBox& box) {
  bool outside = false;
  for (std::size_t s = 0; s < prices.size(); ++s) {
    double& middle = box.cost_price[s];
    double& width = box.cost_width[s];
    if (std::abs(prices[s] - middle) < width) continue;
    middle = std::clamp(prices[s], middle - 1.5 * width, middle + 1.5 * width);
    width *= 2.0;
    outside = true;
  }
  return outside;
}

struct SegmentPlan {
  Walked walked;                  // without its arms
  std::vector<std::uint8_t> arm;  // of all units
};

SegmentPlan walk_all_units(const Problem& problem, double budget, core::RunContext& context) {
  const ChosenUnits units(problem, every_unit(problem), context);
  SegmentPlan plan{walk_units(units.problem(), budget, PlanSums(problem), context), {}};
  plan.arm.resize(problem.num_units());
  for (std::size_t place = 0; place < units.size(); ++place) plan.arm[units.unit(place)] = plan.walked.arm[place];
  return plan;
}

std::optional<SegmentPlan> walk_open_units(const Problem& problem, double budget, core::RunContext& context) {
  constexpr int kMostRounds = 8;
  std::optional<PriceBox> box = box_on_sample(problem, budget, context);
  SegmentPlan plan;
  plan.arm.resize(box ? problem.num_units() : 0);
  for (int round = 0; box && round < kMostRounds; ++round) {
    const SettledUnits settled = settle_units(problem, *box, plan.arm.data(), context);
    const ChosenUnits units(problem, settled.open, context);
    plan.walked = walk_units(units.problem(), budget, settled.sums, context);
    if (!plan.walked.can_pay) {  // the settled units spend too much: prices are higher
      for (std::size_t s = 0; s < box->cost_price.size(); ++s) {
        if (!std::isfinite(box->cost_width[s])) continue;  // all prices are open already
        box->cost_price[s] += box->cost_width[s];
        box->cost_width[s] *= 2.0;
      }
      continue;
    }
    if (recentre(plan.walked.price, *box)) continue;
    for (std::size_t place = 0; place < units.size(); ++place) plan.arm[units.unit(place)] = plan.walked.arm[place];
    return plan;
  }
  return std::nullopt;
}

}  // namespace

Solution solve_segments(const Problem& problem, double budget, core::RunContext& context) {
  UnitsInMemory pieces(all_units(problem));
  const Prices prices(problem.rules);
  const PathEnds ends = path_ends(pieces, problem.rules, context);
  Solution solution;
  solution.budget = budget;
  solution.least_spend = ends.least.spend(prices);
  describe_control(ends.control, prices, solution);
  solution.arm.resize(problem.num_units());
  assign(all_units(problem), problem.rules, {0, {}}, solution.arm.data(), context);
  if (!keeps_limits(problem, budget, sum_plan(problem, solution.arm, context))) {
    solution.arm = {};
    solution.status = Status::cannot_be_met;
    return solution;
  }
  std::optional<SegmentPlan> found = walk_open_units(problem, budget, context);
  const SegmentPlan plan = found ? std::move(*found) : walk_all_units(problem, budget, context);
  const Walk& walk = plan.walked.walk;
  solution.arm = plan.arm;
  solution.spend = walk.total.exact.spend(prices);
  solution.revenue = walk.total.exact.revenue.value();
  solution.value = prices.value(solution.revenue, solution.spend);
  const double total_price = std::max(walk.total.cut, prices.least_efficiency);
  const double scale = prices.profit ? prices.margin : 1.0;
  const double own = solution.revenue - prices.least_efficiency * solution.spend;
  solution.gap = scale * std::max(0.0, plan.walked.dual - own);
  solution.bound = solution.value + solution.gap;
  solution.multiplier = walk.total.cut > 0.0 ? prices.multiplier(walk.total.cut) : 0.0;
  bool segment_binds = false;
  for (const Purse& segment : walk.segments) {
    solution.segment_spend.push_back(segment.exact.spend(prices));
    solution.segment_multiplier.push_back(scale * std::max(0.0, segment.cut - total_price));
    segment_binds |= segment.cut > 0.0;
  }
  solution.units_per_arm = walk.total.exact.units_per_arm(problem.num_arms());
  if (walk.total.cut > 0.0 || segment_binds) {
    solution.status = Status::optimal;
    solution.binding = walk.total.cut > 0.0 ? Binding::budget : Binding::segment_budgets;
  } else {
    solution.status = std::isinf(budget) ? Status::no_budget : Status::not_binding;
    solution.binding = Binding::best_arms;
    explain_unspent(
        problem.rules, [&] { return ends.most_at_any_return().spend(prices) > solution.spend; }, solution);
  }
  return solution;
}

}  // namespace dfcl::allocate
