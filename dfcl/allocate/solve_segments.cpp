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
#include "dfcl/allocate/segment_walk.h"
#include "dfcl/allocate/solve.h"

namespace dfcl::allocate {
namespace {

// Takes what both purses can pay, in path order.
void walk_path(std::span<const Increment> path, const Segments& segments, const Prices& prices,
               std::vector<std::uint8_t>& arm, SegmentWalk& walk) {
  std::vector<bool> passed(arm.size());
  for (const Increment& increment : path) {
    const std::size_t segment = segments.of_unit[increment.unit];
    if (walk.total_is_done()) break;
    if (walk.segment_is_done(segment) || passed[increment.unit]) continue;
    if (walk.take(increment, segment, prices)) {
      arm[increment.unit] = increment.arm_to;
    } else {
      passed[increment.unit] = true;
    }
  }
  walk.finish();
}

// Some units with their plan.
struct Walked {
  bool can_pay = false;
  SegmentWalk walk;
  std::vector<std::uint8_t> arm;
  std::vector<double> price;  // of cost, per segment: where the segment or the total was cut
};

// problem: the units to walk, with the budgets of all. others: what the other units sum up to.
Walked walk_units(const Problem& problem, double budget, const PlanSums& others, core::RunContext& context) {
  UnitsInMemory pieces(all_units(problem));
  const Prices prices(problem.rules);
  const WholePath whole = sort_whole_path(pieces, problem.rules, context);
  Walked walked;
  walked.arm.resize(problem.num_units());
  assign(all_units(problem), problem.rules, {0, {}}, walked.arm.data(), context);
  PlanSums paid = others;
  paid.add(sum_plan(problem, walked.arm, context));
  walked.walk.segments.resize(problem.segments.budgets.size());
  for (std::size_t s = 0; s < walked.walk.segments.size(); ++s) {
    walked.walk.segments[s].budget = problem.segments.budgets[s];
    walked.walk.segments[s].exact = paid.segments[s];
  }
  walked.can_pay = walked.walk.open(budget, prices);
  if (!walked.can_pay) return walked;
  walk_path(whole.path.increments(), problem.segments, prices, walked.arm, walked.walk);
  for (std::size_t s = 0; s < walked.walk.segments.size(); ++s) walked.price.push_back(walked.walk.price(s, prices));
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
  const double total_price = walked.walk.total_price(Prices(problem.rules));
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
  solution.arm = plan.arm;
  describe_walk(
      plan.walked.walk, problem.rules, problem.num_arms(),
      [&] { return ends.most_at_any_return().spend(prices) > solution.spend; }, solution);
  return solution;
}

}  // namespace dfcl::allocate
