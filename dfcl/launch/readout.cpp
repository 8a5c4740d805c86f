// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/readout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "dfcl/core/distributions.h"
#include "dfcl/core/error.h"
#include "dfcl/core/exact_total.h"

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

void check_holdout(const Launch& launch, const ReadoutOptions& options, Readout& result) {
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
  if (launch.planned_per_role.empty()) return;
  // Outcomes that go missing more often in one role than in another bend every comparison.
  const auto planned = static_cast<double>(launch.planned_per_role[role_index(Role::holdout)]);
  const auto others = static_cast<double>(launch.units_in_plan) - planned;
  const auto there = static_cast<double>(result.units_per_role[role_index(Role::holdout)]);
  const double all_there = static_cast<double>(launch.num_units());
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

// Sums are exact, so that no figure shows in which order the units came.
struct ArmSums {
  ArmReadout counts;  // units and received
  core::ExactTotal planned_cost, realised_cost, planned_revenue, realised_revenue;
};

struct Sums {
  std::vector<Moments> by_role = std::vector<Moments>(data::kNumRoles);  // outcomes, x = predicted under control
  Moments all;
  Moments spend_differences;      // of all roles, realised - planned
  std::vector<Moments> explored;  // outcomes, per received arm
  std::vector<ArmSums> arms;
  std::vector<std::vector<std::size_t>> crossings;
  core::ExactTotal planned_spend;  // of all roles, as the next
  core::ExactTotal spend;
  core::ExactTotal planned_incremental;
  core::ExactTotal planned_incremental_cost;
};

// A plan without roles says of held-out and explored units what they did not get.
bool says_what_they_get(const Launch& launch, std::size_t unit) {
  return !launch.planned_per_role.empty() || launch.role[unit] == Role::plan;
}

void add_planned(const Launch& launch, std::size_t unit, Sums& sums, Readout& result) {
  const std::size_t planned = launch.planned_arm[unit], received = launch.received_arm[unit];
  const auto planned_r = static_cast<double>(launch.planned_revenue[unit]);
  const auto planned_c = static_cast<double>(launch.planned_cost[unit]);
  ArmSums& arm = sums.arms[planned];
  ++arm.counts.units;
  arm.planned_cost.add(planned_c);
  arm.planned_revenue.add(planned_r);
  arm.realised_cost.add(launch.cost[unit]);
  arm.realised_revenue.add(launch.revenue[unit]);
  if (planned == received) ++arm.counts.received;
  if (planned != received) ++result.not_as_planned;
  if (launch.control_revenue.empty()) return;
  sums.planned_incremental.add(planned_r - static_cast<double>(launch.control_revenue[unit]));
  sums.planned_incremental_cost.add(planned_c - static_cast<double>(launch.control_cost[unit]));
}

Sums add_up(const Launch& launch, Readout& result) {
  Sums sums;
  const std::size_t num_arms = launch.arms.size();
  sums.arms.resize(num_arms);
  sums.crossings.assign(num_arms, std::vector<std::size_t>(num_arms));
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) {
    const Role role = launch.role[unit];
    const std::size_t planned = launch.planned_arm[unit], received = launch.received_arm[unit];
    if (says_what_they_get(launch, unit)) {
      sums.planned_spend.add(static_cast<double>(launch.planned_cost[unit]));
      sums.spend.add(launch.cost[unit]);
      if (planned != received) ++sums.crossings[planned][received];
    }
    if (role == Role::holdout && received != launch.control) ++result.holdout_treated;
    if (role == Role::plan) add_planned(launch, unit, sums, result);
  }
  core::ExactTotal planned_revenue, planned_spend, realised_revenue, realised_spend;
  for (const ArmSums& arm : sums.arms) {
    planned_revenue.add(arm.planned_revenue);
    planned_spend.add(arm.planned_cost);
    realised_revenue.add(arm.realised_revenue);
    realised_spend.add(arm.realised_cost);
  }
  result.planned_revenue = planned_revenue.value();
  result.planned_spend = planned_spend.value();
  result.realised_revenue = realised_revenue.value();
  result.realised_spend = realised_spend.value();
  return sums;
}

struct UnitValues {
  double weight, r, c, x;
};

// Weighted moments of some units: their means first, then the products around them.
template <class IsChosen, class ValuesOf>
Moments exact_moments(std::size_t num_units, IsChosen&& is_chosen, ValuesOf&& values_of) {
  core::ExactTotal total, sum_r, sum_c, sum_x;
  double units = 0.0;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    if (!is_chosen(unit)) continue;
    const UnitValues value = values_of(unit);
    units += 1.0;
    total.add(value.weight);
    sum_r.add(value.weight * value.r);
    sum_c.add(value.weight * value.c);
    sum_x.add(value.weight * value.x);
  }
  Moments moments;
  if (units == 0.0) return moments;
  const double weight = total.value();
  moments.set_means(units, sum_r.value() / weight, sum_c.value() / weight, sum_x.value() / weight);
  core::ExactTotal rr, cc, rc, xx, xr, xc;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    if (!is_chosen(unit)) continue;
    const UnitValues value = values_of(unit);
    Moments one;
    one.set_means(1.0, moments.mean_r, moments.mean_c, moments.mean_x);
    one.add_centred(value.weight * units / weight, value.r, value.c, value.x);
    rr.add(one.rr);
    cc.add(one.cc);
    rc.add(one.rc);
    xx.add(one.xx);
    xr.add(one.xr);
    xc.add(one.xc);
  }
  moments.rr = rr.value();
  moments.cc = cc.value();
  moments.rc = rc.value();
  moments.xx = xx.value();
  moments.xr = xr.value();
  moments.xc = xc.value();
  return moments;
}

// With sample weights where there are any. r: the outcome in the place of revenue.
template <class IsChosen>
Moments weighed(const Launch& launch, std::span<const double> r, IsChosen&& is_chosen) {
  return exact_moments(launch.num_units(), is_chosen, [&](std::size_t unit) {
    return UnitValues{launch.weight.empty() ? 1.0 : launch.weight[unit], r[unit], launch.cost[unit],
                      launch.control_revenue.empty() ? 0.0 : static_cast<double>(launch.control_revenue[unit])};
  });
}

Moments weighed_role(const Launch& launch, std::span<const double> r, Role role) {
  return weighed(launch, r, [&](std::size_t unit) { return launch.role[unit] == role; });
}

// What gains are made of. With sample weights they are differences of weighted means; what was spent is a fact.
void weigh(const Launch& launch, Sums& sums) {
  sums.explored.resize(launch.arms.size());
  sums.spend_differences = exact_moments(
      launch.num_units(), [&](std::size_t unit) { return says_what_they_get(launch, unit); },
      [&](std::size_t unit) {
        return UnitValues{1.0, 0.0, launch.cost[unit] - static_cast<double>(launch.planned_cost[unit]), 0.0};
      });
  const bool plan_has_roles = !launch.planned_per_role.empty();
  for (std::size_t role = 0; role < data::kNumRoles; ++role)
    sums.by_role[role] = weighed_role(launch, launch.revenue, static_cast<Role>(role));
  sums.all = weighed(launch, launch.revenue, [](std::size_t) { return true; });
  for (std::size_t arm = 0; arm < launch.arms.size(); ++arm) {
    sums.explored[arm] = weighed(launch, launch.revenue, [&](std::size_t unit) {
      return launch.role[unit] == Role::explore &&
             (plan_has_roles ? launch.planned_arm[unit] : launch.received_arm[unit]) == arm;
    });
  }
}

void judge_guardrails(const Launch& launch, Readout& result) {
  const double level =
      1.0 - (1.0 - result.level) / static_cast<double>(std::max<std::size_t>(1, launch.guardrails.size()));
  for (const GuardedColumn& guardrail : launch.guardrails) {
    const Moments held = weighed_role(launch, guardrail.value, Role::holdout);
    const Interval increment =
        adjusted_difference(weighed_role(launch, guardrail.value, Role::plan), held,
                            weighed(launch, guardrail.value, [](std::size_t) { return true; }), level)
            .revenue;
    result.guardrails.push_back({guardrail.name, held.mean_r, increment,
                                 increment.low > 0.0     ? "yes"
                                 : increment.high <= 0.0 ? "no"
                                                         : "not_shown"});
  }
}

bool is_free(const Moments& group) { return group.mean_c == 0.0 && group.cc == 0.0; }

// Control cost nothing, so what these units were given beyond it is what was paid for them: a fact.
void state_cost(Readout& result) {
  const double spent = result.realised_spend;
  if (result.incremental_profit)
    result.incremental_profit = result.incremental_profit->plus(result.incremental_cost.value - spent);
  result.incremental_cost = {spent, spent, spent};
}

void describe_arms(const Launch& launch, const Sums& sums, Readout& result) {
  const Moments& held = sums.by_role[role_index(Role::holdout)];
  for (std::size_t arm = 0; arm < launch.arms.size(); ++arm) {
    ArmReadout row = sums.arms[arm].counts;
    if (row.units > 0) {
      row.arm = launch.arms[arm];
      row.planned_cost = sums.arms[arm].planned_cost.value();
      row.planned_revenue = sums.arms[arm].planned_revenue.value();
      row.realised_cost = sums.arms[arm].realised_cost.value();
      row.realised_revenue = sums.arms[arm].realised_revenue.value();
      row.overspend = row.realised_cost - row.planned_cost;
      result.arms.push_back(row);
    }
    const Moments& explored = sums.explored[arm];
    if (explored.count >= static_cast<double>(kFewestUnits)) {
      const Difference over = adjusted_difference(explored, held, sums.all, result.level);
      result.explored.push_back({launch.arms[arm], static_cast<std::size_t>(explored.count), over.revenue, over.cost});
    }
    for (std::size_t received = 0; received < launch.arms.size(); ++received) {
      if (sums.crossings[arm][received] == 0) continue;
      result.crossings.push_back({launch.arms[arm], launch.arms[received], sums.crossings[arm][received]});
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

void warn(const Launch& launch, Readout& result) {
  if (result.not_as_planned > 0) {
    result.warnings.push_back(fmt::format(
        "{} of {} planned units ({:.3g} %) did not get their planned arm. All figures are by intention to treat: each "
        "unit counts under the arm planned for it",
        result.not_as_planned, result.units_per_role[0],
        100.0 * static_cast<double>(result.not_as_planned) / static_cast<double>(result.units_per_role[0])));
  }
  if (launch.units_in_plan > launch.num_units()) {
    result.warnings.push_back(fmt::format("{} of {} planned units have no outcome and are left out",
                                          launch.units_in_plan - launch.num_units(), launch.units_in_plan));
  }
  if (launch.units_in_outcomes > launch.num_units()) {
    result.warnings.push_back(fmt::format("{} units of the outcomes are not in the plan and are left out",
                                          launch.units_in_outcomes - launch.num_units()));
  }
  if (launch.role_conflicts > 0) {
    result.warnings.push_back(fmt::format(
        "{} units have another role in the outcomes than in the plan; the plan's counts", launch.role_conflicts));
  }
}

}  // namespace

Readout read_out(const Launch& launch, const ReadoutOptions& options) {
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
  result.units = launch.num_units();
  result.units_per_role.resize(data::kNumRoles);
  for (const Role role : launch.role) ++result.units_per_role[role_index(role)];
  check_holdout(launch, options, result);
  if (result.units_per_role[role_index(Role::plan)] < kFewestUnits) {
    throw core::Error({.kind = core::ErrorKind::data,
                       .what = "no planned units",
                       .found = fmt::format("{} units of role plan", result.units_per_role[role_index(Role::plan)]),
                       .expected = "units that got the plan's arms"});
  }
  Sums sums = add_up(launch, result);
  weigh(launch, sums);
  result.has_sample_weights = !launch.weight.empty();
  judge_guardrails(launch, result);
  check_treated_holdout(result);

  const Moments& planned = sums.by_role[role_index(Role::plan)];
  if (!launch.control_revenue.empty()) {
    result.planned_incremental = sums.planned_incremental.value();
    result.planned_incremental_cost = sums.planned_incremental_cost.value();
    if (*result.planned_incremental_cost != 0.0)
      result.planned_return = *result.planned_incremental / *result.planned_incremental_cost;
  }
  result.per_unit = adjusted_difference(planned, sums.by_role[role_index(Role::holdout)], sums.all, options.level,
                                        options.value_per_revenue.value_or(1.0));
  result.value_per_revenue = options.value_per_revenue;
  if (options.value_per_revenue) {
    result.incremental_profit = result.per_unit.profit.scaled(planned.count);
    result.roi = result.per_unit.return_per_cost.scaled(*options.value_per_revenue).plus(-1.0);
  }
  result.incremental_revenue = result.per_unit.revenue.scaled(planned.count);
  result.incremental_cost = result.per_unit.cost.scaled(planned.count);
  if (is_free(sums.by_role[role_index(Role::holdout)]) && !result.has_sample_weights) state_cost(result);
  if (options.evaluated_per_unit) result.evaluated_incremental = options.evaluated_per_unit->scaled(planned.count);
  const Moments& missed = sums.spend_differences;
  const Interval spend = mean_of_c(missed, options.level).scaled(missed.count).plus(sums.planned_spend.value());
  result.total_spend = sums.spend.value();
  double target = sums.planned_spend.value();
  if (options.budget && std::isfinite(*options.budget)) {
    // The part of the budget that was meant for the units with outcomes.
    const double part =
        launch.planned_spend_of_all > 0.0 ? sums.planned_spend.value() / launch.planned_spend_of_all : 1.0;
    target = *options.budget * part;
    result.budget = target;
    result.budget_of_all = options.budget;
  }
  describe_arms(launch, sums, result);
  propose_multiplier(options, spend, target, result);
  warn(launch, result);
  return result;
}

}  // namespace dfcl::launch
