// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/readout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfcl/core/distributions.h"
#include "dfcl/core/error.h"
#include "dfcl/core/exact_total.h"
#include "dfcl/launch/launch_sums.h"

namespace dfcl::launch {
namespace {

using data::Role;

// Below this a chance explanation of a broken hold-out is not believed. Small, for launches are read out often.
constexpr double kBrokenPValue = 1e-4;
constexpr double kMostTreatedHoldout = 0.1;
constexpr std::size_t kFewestUnits = 2;

std::size_t role_index(Role role) { return static_cast<std::size_t>(role); }

core::Error broken(const std::string& why, const std::string& found, const std::string& expected) {
  return core::Error({.kind = core::ErrorKind::unfit,
                      .what = "the hold-out is broken: " + why,
                      .found = found,
                      .expected = expected,
                      .hint = "nothing can be said about this launch; find out how units were assigned and logged"});
}

// Two-sided, of the number of units among `count` where each comes with probability `share`.
double share_p_value(std::size_t units, std::size_t count, double share) {
  const auto n = static_cast<double>(count);
  return core::normal_two_sided((static_cast<double>(units) - n * share) / std::sqrt(n * share * (1.0 - share)));
}

void check_holdout(const LaunchTotals& launch, const ReadoutOptions& options, Readout& result) {
  const std::size_t held = launch.seen_per_role[role_index(Role::holdout)];
  std::size_t seen = 0;
  for (const std::size_t units : launch.seen_per_role) seen += units;
  if (held < kFewestUnits || result.units_per_role[role_index(Role::holdout)] < kFewestUnits) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "there is no hold-out",
                       .found = fmt::format("{} units of role holdout", held),
                       .expected = "a share of the units that got control",
                       .hint = "plan with " + core::field_name("holdout", "0.05")});
  }
  result.holdout_found = static_cast<double>(held) / static_cast<double>(seen);
  result.holdout_p_value = share_p_value(held, seen, options.holdout_share);
  if (result.holdout_p_value < kBrokenPValue) {
    throw broken("its share is not the designed one",
                 fmt::format("{} of {} units, {:.3g} % (p = {:.2g})", held, seen, 100.0 * result.holdout_found,
                             result.holdout_p_value),
                 fmt::format("{:.3g} %", 100.0 * options.holdout_share));
  }
  if (!launch.plan_has_roles) return;
  // Outcomes that go missing more often in one role than in another bend every comparison.
  const auto planned = static_cast<double>(launch.planned_per_role[role_index(Role::holdout)]);
  const auto others = static_cast<double>(launch.units_in_plan) - planned;
  const auto there = static_cast<double>(result.units_per_role[role_index(Role::holdout)]);
  const double all_there = static_cast<double>(launch.units);
  const double rate = all_there / static_cast<double>(launch.units_in_plan);
  if (rate >= 1.0 || others == 0.0) return;
  const double gap = there / planned - (all_there - there) / others;
  const double p = core::normal_two_sided(gap / std::sqrt(rate * (1.0 - rate) * (1.0 / planned + 1.0 / others)));
  if (p < kBrokenPValue) {
    throw broken("outcomes are missing more often in one role than in the others",
                 fmt::format("outcomes for {:.3g} % of the hold-out and {:.3g} % of the others (p = {:.2g})",
                             100.0 * there / planned, 100.0 * (all_there - there) / others, p),
                 "the same share");
  }
}

void check_treated_holdout(Readout& result) {
  const auto held = static_cast<double>(result.units_per_role[role_index(Role::holdout)]);
  const double treated = static_cast<double>(result.holdout_treated) / held;
  if (treated > kMostTreatedHoldout) {
    throw broken("it was treated", fmt::format("{:.3g} % of it got another arm than control", 100.0 * treated),
                 fmt::format("at most {:.0f} %", 100.0 * kMostTreatedHoldout));
  }
  if (result.holdout_treated > 0) {
    result.warnings.push_back(
        fmt::format("{} units of the hold-out got another arm than control; they still count as "
                    "held out, so the plan's gain is understated a little",
                    result.holdout_treated));
  }
}

// What was earned and spent, in all.
void add_up(const LaunchTotals& launch, std::size_t control, Readout& result) {
  core::ExactTotal planned_revenue, planned_spend, realised_revenue, realised_spend;
  for (std::size_t arm = 0; arm < launch.per_arm.size(); ++arm) {
    const LaunchTotals::Arm& sums = launch.per_arm[arm];
    result.not_as_planned += sums.units - sums.received;
    if (arm != control) result.holdout_treated += sums.held;
    planned_revenue.add(sums.planned_revenue);
    planned_spend.add(sums.planned_cost);
    realised_revenue.add(sums.realised_revenue);
    realised_spend.add(sums.realised_cost);
  }
  result.planned_revenue = planned_revenue.value();
  result.planned_spend = planned_spend.value();
  result.realised_revenue = realised_revenue.value();
  result.realised_spend = realised_spend.value();
}

// Moments of groups of units, once all are summed.
struct Sums {
  const LaunchTotals& totals;
  const LaunchProducts& products;

  Moments of(std::size_t group) const { return products.moments(totals, group); }
  Moments of(Role role) const { return of(role_index(role)); }
};

void judge_guardrails(const Sums& sums, Readout& result) {
  const std::vector<std::string>& names = sums.totals.guardrails;
  const double level = 1.0 - (1.0 - result.level) / static_cast<double>(std::max<std::size_t>(1, names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t first = LaunchGroups::guardrail(sums.totals.arms.size(), i);
    const Moments held = sums.of(first);
    const Interval increment = adjusted_difference(sums.of(first + 1), held, sums.of(first + 2), level).revenue;
    result.guardrails.push_back({names[i], held.mean_r, increment,
                                 increment.low > 0.0     ? "yes"
                                 : increment.high <= 0.0 ? "no"
                                                         : "not_shown"});
  }
}

bool is_free(const Moments& group) { return group.mean_c == 0.0 && group.cc == 0.0; }

// Control cost nothing, so what these units were given beyond it is what was paid for them: a fact. What is made of it,
// return, profit and ROI, adds up to the cent.
void state_cost(Readout& result) {
  const double spent = result.realised_spend;
  result.incremental_cost = {spent, spent, spent};
  if (spent > 0.0) result.per_unit.return_per_cost = result.incremental_revenue.scaled(1.0 / spent);
  if (!result.value_per_revenue) return;
  result.incremental_profit = result.incremental_revenue.scaled(*result.value_per_revenue).plus(-spent);
  if (spent > 0.0) result.roi = result.incremental_profit->scaled(1.0 / spent);
}

void describe_arms(const Sums& sums, Readout& result) {
  const LaunchTotals& launch = sums.totals;
  const Moments held = sums.of(Role::holdout);
  const Moments all = sums.of(LaunchGroups::kAll);
  const std::size_t num_arms = launch.arms.size();
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const LaunchTotals::Arm& own = launch.per_arm[arm];
    if (own.units > 0) {
      ArmReadout row;
      row.arm = launch.arms[arm];
      row.units = own.units;
      row.received = own.received;
      row.planned_cost = own.planned_cost.value();
      row.planned_revenue = own.planned_revenue.value();
      row.realised_cost = own.realised_cost.value();
      row.realised_revenue = own.realised_revenue.value();
      row.overspend = row.realised_cost - row.planned_cost;
      result.arms.push_back(row);
    }
    const Moments explored = sums.of(LaunchGroups::kFirstExplored + arm);
    if (explored.count >= static_cast<double>(kFewestUnits)) {
      const Difference over = adjusted_difference(explored, held, all, result.level);
      result.explored.push_back({launch.arms[arm], static_cast<std::size_t>(explored.count), over.revenue, over.cost});
    }
    for (std::size_t received = 0; received < num_arms; ++received) {
      const std::uint64_t crossed = launch.crossings[arm * num_arms + received];
      if (crossed > 0) result.crossings.push_back({launch.arms[arm], launch.arms[received], crossed});
    }
  }
}

// Spend goes with the multiplier to the power of -elasticity, so the multiplier that would have met the target is
// multiplier x (spend / target)^(1 / elasticity). spend: what was spent, with the interval of what the same plan would
// spend on other such units.
void propose_multiplier(const ReadoutOptions& options, const Interval& spend, double target, Readout& result) {
  result.multiplier = options.multiplier;
  if (!options.multiplier || !(*options.multiplier > 0.0) || !(target > 0.0)) return;
  result.elasticity_is_assumed = !options.spend_elasticity || !(*options.spend_elasticity > 0.0);
  const double elasticity = result.elasticity_is_assumed ? 1.0 : *options.spend_elasticity;
  const auto next = [&](double spent) {
    return *options.multiplier * std::pow(std::max(spent, 0.0) / target, 1.0 / elasticity);
  };
  result.next_multiplier = Interval{next(spend.value), next(spend.low), next(spend.high)};
}

void warn(const LaunchTotals& launch, Readout& result) {
  if (result.not_as_planned > 0) {
    result.warnings.push_back(fmt::format(
        "{} of {} planned units ({:.3g} %) did not get their planned arm. All figures are by intention to treat: each "
        "unit counts under the arm planned for it",
        result.not_as_planned, result.units_per_role[0],
        100.0 * static_cast<double>(result.not_as_planned) / static_cast<double>(result.units_per_role[0])));
  }
  if (launch.units_in_plan > launch.units) {
    result.warnings.push_back(fmt::format("{} of {} planned units have no outcome and are left out",
                                          launch.units_in_plan - launch.units, launch.units_in_plan));
  }
  if (launch.units_in_outcomes > launch.units) {
    result.warnings.push_back(fmt::format("{} units of the outcomes are not in the plan and are left out",
                                          launch.units_in_outcomes - launch.units));
  }
  if (launch.role_conflicts > 0) {
    result.warnings.push_back(fmt::format(
        "{} units have another role in the outcomes than in the plan; the plan's counts", launch.role_conflicts));
  }
}

}  // namespace

Readout read_out(const Launch& launch, const ReadoutOptions& options) {
  std::vector<std::string> guardrails;
  for (const GuardedColumn& guardrail : launch.guardrails) guardrails.push_back(guardrail.name);
  LaunchTotals totals(launch.arms, std::move(guardrails));
  totals.add(launch);
  LaunchProducts products(totals.num_groups());
  products.add(launch, totals);
  return read_out_sums(totals, products, launch.control, options);
}

Readout read_out_sums(const LaunchTotals& launch, const LaunchProducts& products, std::size_t control,
                      const ReadoutOptions& options) {
  if (!(options.holdout_share > 0.0 && options.holdout_share < 1.0)) {
    throw core::Error({.kind = core::ErrorKind::usage,
                       .field = "holdout_share",
                       .what = "out of range",
                       .found = fmt::format("{}", options.holdout_share),
                       .expected = "the designed share of the hold-out, above 0 and below 1"});
  }
  Readout result;
  result.level = options.level;
  result.holdout_share = options.holdout_share;
  result.units = launch.units;
  result.units_per_role.assign(launch.units_per_role.begin(), launch.units_per_role.end());
  check_holdout(launch, options, result);
  if (result.units_per_role[role_index(Role::plan)] < kFewestUnits) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "no planned units",
                       .found = fmt::format("{} units of role plan", result.units_per_role[role_index(Role::plan)]),
                       .expected = "units that got the plan's arms"});
  }
  add_up(launch, control, result);
  const Sums sums{launch, products};
  result.has_sample_weights = launch.has_weights;
  judge_guardrails(sums, result);
  check_treated_holdout(result);

  const Moments planned = sums.of(Role::plan);
  if (launch.has_control) {
    result.planned_incremental = launch.planned_incremental.value();
    result.planned_incremental_cost = launch.planned_incremental_cost.value();
    if (*result.planned_incremental_cost != 0.0)
      result.planned_return = *result.planned_incremental / *result.planned_incremental_cost;
  }
  result.per_unit = adjusted_difference(planned, sums.of(Role::holdout), sums.of(LaunchGroups::kAll), options.level,
                                        options.value_per_revenue.value_or(1.0));
  result.value_per_revenue = options.value_per_revenue;
  if (options.value_per_revenue) {
    result.incremental_profit = result.per_unit.profit.scaled(planned.count);
    result.roi = result.per_unit.return_per_cost.scaled(*options.value_per_revenue).plus(-1.0);
  }
  result.incremental_revenue = result.per_unit.revenue.scaled(planned.count);
  result.incremental_cost = result.per_unit.cost.scaled(planned.count);
  if (is_free(sums.of(Role::holdout)) && !result.has_sample_weights) state_cost(result);
  if (options.evaluated_per_unit) result.evaluated_incremental = options.evaluated_per_unit->scaled(planned.count);
  const Moments missed = sums.of(LaunchGroups::kSpendDifferences);
  const Interval spend = mean_of_c(missed, options.level).scaled(missed.count).plus(launch.planned_spend.value());
  result.total_spend = launch.spend.value();
  double target = launch.planned_spend.value();
  if (options.budget && std::isfinite(*options.budget)) {
    // The part of the budget that was meant for the units with outcomes.
    const double all = launch.planned_spend_of_all.value();
    const double part = all > 0.0 ? launch.planned_spend.value() / all : 1.0;
    target = *options.budget * part;
    result.budget = target;
    result.budget_of_all = options.budget;
  }
  describe_arms(sums, result);
  propose_multiplier(options, spend, target, result);
  warn(launch, result);
  return result;
}

}  // namespace dfcl::launch
