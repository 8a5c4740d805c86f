// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "dfcl/allocate/settle.h"
#include "dfcl/allocate/solve.h"
#include "dfcl/core/parallel.h"

namespace dfcl::allocate {
namespace {

// Below this the whole path is sorted: it costs less than finding out where to look.
constexpr std::size_t kFewUnits = 100'000;

CutSearch sort_whole_path(UnitPieces& pieces, const Problem& problem, double budget, core::RunContext& context) {
  Gathered gathered = gather(pieces, problem.rules, {0, problem.num_units() * problem.num_arms()}, context);
  CutSearch search;
  search.control = gathered.control;
  search.least_spend = gathered.window.before.cost.value();
  search.window = std::move(gathered.window);
  search.solution = solve_window(search.window, Prices(problem.rules), budget);
  return search;
}

}  // namespace

std::vector<std::int64_t> count_arms(const std::vector<std::uint8_t>& arm, std::size_t num_arms,
                                     core::RunContext& context) {
  constexpr std::size_t kChunkUnits = 65'536;
  return core::sum_chunks(
      context, arm.size(), kChunkUnits, std::vector<std::int64_t>(num_arms),
      [&](std::size_t begin, std::size_t end) {
        // Four tables in turn, so that equal neighbours do not wait for each other.
        std::array<std::array<std::uint32_t, kMaxArms>, 4> tables{};
        std::size_t unit = begin;
        for (; unit + 4 <= end; unit += 4) {
          for (std::size_t table = 0; table < 4; ++table) ++tables[table][arm[unit + table]];
        }
        for (; unit < end; ++unit) ++tables[0][arm[unit]];
        std::vector<std::int64_t> counts(num_arms);
        for (const auto& table : tables) {
          for (std::size_t i = 0; i < num_arms; ++i) counts[i] += table[i];
        }
        return counts;
      },
      [](std::vector<std::int64_t>& total, const std::vector<std::int64_t>& part) {
        for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
      });
}

void describe_control(const Totals& control, Solution& solution) {
  solution.control_revenue = control.revenue.value();
  solution.control_cost = control.cost.value();
}

void explain_unspent(UnitPieces& pieces, const Rules& rules, core::RunContext& context, Solution& solution) {
  if (solution.status != Status::not_binding) return;
  const double control_value = Prices(rules).value(solution.control_revenue, solution.control_cost);
  if (solution.spend == solution.least_spend && solution.value <= control_value) solution.status = Status::no_gain;
  if (rules.min_roi <= 0.0) return;
  Rules any_return = rules;
  any_return.min_roi = 0.0;
  const Gathered end = gather(pieces, any_return, {PathPosition{1} << kPositionBits, 0}, context);
  solution.binding = end.window.before.cost.value() > solution.spend ? Binding::min_roi : Binding::best_arms;
}

Solution cannot_be_met(const Totals& control, double budget, double least_spend) {
  Solution solution;
  solution.status = Status::cannot_be_met;
  solution.budget = budget;
  solution.least_spend = least_spend;
  describe_control(control, solution);
  return solution;
}

namespace {

// The fast way where it applies and the sample's bracket was right.
std::optional<Solution> solve_by_bracket(const Problem& problem, double budget, core::RunContext& context) {
  const Units units = all_units(problem);
  const std::optional<Bracket> bracket = bracket_on_sample(units, problem.rules, budget, context);
  if (!bracket) return std::nullopt;
  Solution solution;
  solution.arm.resize(units.size());
  const Settled settled = settle(units, problem.rules, *bracket, solution.arm.data(), context);
  const WindowSolution window_solution = solve_window(settled.window, Prices(problem.rules), budget);
  if (window_solution.outcome != WindowOutcome::solved) return std::nullopt;
  for (std::size_t i = 0; i < window_solution.cut; ++i) {
    solution.arm[settled.window.increments[i].unit] = settled.window.increments[i].arm_to;
  }
  for (const std::size_t i : window_solution.filled) {
    solution.arm[settled.window.increments[i].unit] = settled.window.increments[i].arm_to;
  }
  solution.budget = budget;
  solution.least_spend = settled.least_cost.value();
  describe_control(settled.control, solution);
  describe(problem.rules, settled.window, window_solution, solution);
  return solution;
}

Solution solve_by_search(UnitPieces& pieces, const Problem& problem, double budget, core::RunContext& context) {
  const CutSearch search = problem.num_units() <= kFewUnits ? sort_whole_path(pieces, problem, budget, context)
                                                            : search_cut(pieces, problem.rules, budget, context);
  if (search.solution.outcome == WindowOutcome::too_late) {
    return cannot_be_met(search.control, budget, search.least_spend);
  }
  Solution solution;
  solution.budget = budget;
  solution.least_spend = search.least_spend;
  describe_control(search.control, solution);
  describe(problem.rules, search.window, search.solution, solution);
  solution.arm.resize(problem.num_units());
  assign(all_units(problem), problem.rules, search.plan(), solution.arm.data(), context);
  return solution;
}

}  // namespace

Solution solve_path(const Problem& problem, double budget, core::RunContext& context) {
  UnitsInMemory pieces(all_units(problem));
  std::optional<Solution> fast = solve_by_bracket(problem, budget, context);
  Solution solution = fast ? std::move(*fast) : solve_by_search(pieces, problem, budget, context);
  if (!solution.has_plan()) return solution;
  solution.units_per_arm = count_arms(solution.arm, problem.num_arms(), context);
  explain_unspent(pieces, problem.rules, context, solution);
  return solution;
}

}  // namespace dfcl::allocate
