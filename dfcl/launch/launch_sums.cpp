// SPDX-License-Identifier: Apache-2.0
#include "dfcl/launch/launch_sums.h"

#include <algorithm>
#include <utility>

#include "dfcl/core/bytes.h"
#include "dfcl/launch/join_launch.h"

namespace dfcl::launch {
namespace {

using data::Role;

constexpr std::uint64_t kTotalLetters = 0x31746f7466636664u;  // "dfcftot1"
constexpr std::uint64_t kProductLetters = 0x31647270636664u;  // "dfcprd1"
constexpr std::size_t kBytesOfTotal = 545;

struct UnitValues {
  double weight, r, c, x;
};

// A plan without roles says of held-out and explored units what they did not get.
bool says_what_they_get(const Launch& launch, std::size_t unit) {
  return !launch.planned_per_role.empty() || launch.role[unit] == Role::plan;
}

// Calls body(group, values) for each group that the unit is in. With sample weights where there are any; what was spent
// is a fact.
template <class Body>
void for_each_group(const Launch& launch, std::size_t unit, Body&& body) {
  const Role role = launch.role[unit];
  UnitValues values{launch.weight.empty() ? 1.0 : launch.weight[unit], launch.revenue[unit], launch.cost[unit],
                    launch.control_revenue.empty() ? 0.0 : static_cast<double>(launch.control_revenue[unit])};
  body(static_cast<std::size_t>(role), values);
  body(LaunchGroups::kAll, values);
  if (says_what_they_get(launch, unit)) {
    body(LaunchGroups::kSpendDifferences,
         UnitValues{1.0, 0.0, launch.cost[unit] - static_cast<double>(launch.planned_cost[unit]), 0.0});
  }
  if (role == Role::explore) {
    const std::size_t arm = launch.planned_per_role.empty() ? launch.received_arm[unit] : launch.planned_arm[unit];
    body(LaunchGroups::kFirstExplored + arm, values);
  }
  for (std::size_t i = 0; i < launch.guardrails.size(); ++i) {
    const std::size_t first = LaunchGroups::guardrail(launch.arms.size(), i);
    values.r = launch.guardrails[i].value[unit];
    if (role == Role::holdout) body(first, values);
    if (role == Role::plan) body(first + 1, values);
    body(first + 2, values);
  }
}

void write_texts(const std::vector<std::string>& texts, core::ByteWriter& bytes) {
  bytes.write_count(texts.size());
  for (const std::string& text : texts) bytes.write_text(text);
}

std::vector<std::string> read_texts(core::ByteReader& bytes) {
  std::vector<std::string> texts(bytes.read_count(8));
  for (std::string& text : texts) text = bytes.read_text();
  return texts;
}

}  // namespace

LaunchTotals::LaunchTotals(std::vector<std::string> of_arms, std::vector<std::string> of_guardrails)
    : arms(std::move(of_arms)),
      guardrails(std::move(of_guardrails)),
      per_arm(arms.size()),
      crossings(arms.size() * arms.size()),
      groups_(LaunchGroups::guardrail(arms.size(), guardrails.size())) {}

void LaunchTotals::add(const Launch& launch) {
  plan_has_roles = plan_has_roles || !launch.planned_per_role.empty();
  has_control = has_control || !launch.control_revenue.empty();
  has_weights = has_weights || !launch.weight.empty();
  units += launch.num_units();
  units_in_plan += launch.units_in_plan;
  units_in_outcomes += launch.units_in_outcomes;
  joined += launch.units_joined;
  role_conflicts += launch.role_conflicts;
  planned_spend_of_all.add(launch.planned_spend_of_all);
  for (std::size_t role = 0; role < launch.planned_per_role.size(); ++role)
    planned_per_role[role] += launch.planned_per_role[role];
  for (std::size_t role = 0; role < launch.seen_per_role.size(); ++role)
    seen_per_role[role] += launch.seen_per_role[role];
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) {
    const Role role = launch.role[unit];
    const std::size_t planned = launch.planned_arm[unit], received = launch.received_arm[unit];
    const auto planned_r = static_cast<double>(launch.planned_revenue[unit]);
    const auto planned_c = static_cast<double>(launch.planned_cost[unit]);
    ++units_per_role[static_cast<std::size_t>(role)];
    if (says_what_they_get(launch, unit)) {
      planned_spend.add(planned_c);
      spend.add(launch.cost[unit]);
      if (planned != received) ++crossings[planned * arms.size() + received];
    }
    if (role == Role::holdout) ++per_arm[received].held;
    for_each_group(launch, unit, [&](std::size_t group, const UnitValues& values) {
      Group& sums = groups_[group];
      ++sums.units;
      sums.weight.add(values.weight);
      sums.r.add(values.weight * values.r);
      sums.c.add(values.weight * values.c);
      sums.x.add(values.weight * values.x);
    });
    if (role != Role::plan) continue;
    Arm& arm = per_arm[planned];
    ++arm.units;
    arm.received += planned == received ? 1 : 0;
    arm.planned_cost.add(planned_c);
    arm.planned_revenue.add(planned_r);
    arm.realised_cost.add(launch.cost[unit]);
    arm.realised_revenue.add(launch.revenue[unit]);
    if (launch.control_revenue.empty()) continue;
    planned_incremental.add(planned_r - static_cast<double>(launch.control_revenue[unit]));
    planned_incremental_cost.add(planned_c - static_cast<double>(launch.control_cost[unit]));
  }
}

LaunchTotals LaunchTotals::with_arms(const std::vector<std::string>& all) const {
  LaunchTotals wider(all, guardrails);
  wider.plan_has_roles = plan_has_roles;
  wider.has_control = has_control;
  wider.has_weights = has_weights;
  wider.units = units;
  wider.units_in_plan = units_in_plan;
  wider.units_in_outcomes = units_in_outcomes;
  wider.joined = joined;
  wider.role_conflicts = role_conflicts;
  wider.units_per_role = units_per_role;
  wider.planned_per_role = planned_per_role;
  wider.seen_per_role = seen_per_role;
  wider.planned_spend_of_all = planned_spend_of_all;
  wider.planned_spend = planned_spend;
  wider.spend = spend;
  wider.planned_incremental = planned_incremental;
  wider.planned_incremental_cost = planned_incremental_cost;
  std::vector<std::size_t> place;
  for (const std::string& label : arms)
    place.push_back(static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin()));
  for (std::size_t group = 0; group < LaunchGroups::kFirstExplored; ++group) wider.groups_[group] = groups_[group];
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    wider.per_arm[place[arm]] = per_arm[arm];
    wider.groups_[LaunchGroups::kFirstExplored + place[arm]] = groups_[LaunchGroups::kFirstExplored + arm];
    for (std::size_t received = 0; received < arms.size(); ++received)
      wider.crossings[place[arm] * all.size() + place[received]] = crossings[arm * arms.size() + received];
  }
  for (std::size_t i = 0; i < 3 * guardrails.size(); ++i)
    wider.groups_[LaunchGroups::guardrail(all.size(), 0) + i] = groups_[LaunchGroups::guardrail(arms.size(), 0) + i];
  return wider;
}

void LaunchTotals::merge(const LaunchTotals& given) {
  if (given.guardrails != guardrails) throw core::data_error("sums of a launch", "parts that do not fit together");
  const std::vector<std::string> all = launch_arms(arms, given.arms);
  if (all != arms) *this = with_arms(all);
  const LaunchTotals& other = given.arms == all ? given : given.with_arms(all);
  plan_has_roles = plan_has_roles || other.plan_has_roles;
  has_control = has_control || other.has_control;
  has_weights = has_weights || other.has_weights;
  units += other.units;
  units_in_plan += other.units_in_plan;
  units_in_outcomes += other.units_in_outcomes;
  joined += other.joined;
  role_conflicts += other.role_conflicts;
  for (std::size_t role = 0; role < data::kNumRoles; ++role) {
    units_per_role[role] += other.units_per_role[role];
    planned_per_role[role] += other.planned_per_role[role];
    seen_per_role[role] += other.seen_per_role[role];
  }
  for (std::size_t arm = 0; arm < per_arm.size(); ++arm) {
    Arm& own = per_arm[arm];
    const Arm& more = other.per_arm[arm];
    own.units += more.units;
    own.received += more.received;
    own.held += more.held;
    own.planned_cost.add(more.planned_cost);
    own.realised_cost.add(more.realised_cost);
    own.planned_revenue.add(more.planned_revenue);
    own.realised_revenue.add(more.realised_revenue);
  }
  for (std::size_t i = 0; i < crossings.size(); ++i) crossings[i] += other.crossings[i];
  planned_spend_of_all.add(other.planned_spend_of_all);
  planned_spend.add(other.planned_spend);
  spend.add(other.spend);
  planned_incremental.add(other.planned_incremental);
  planned_incremental_cost.add(other.planned_incremental_cost);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].units += other.groups_[i].units;
    groups_[i].weight.add(other.groups_[i].weight);
    groups_[i].r.add(other.groups_[i].r);
    groups_[i].c.add(other.groups_[i].c);
    groups_[i].x.add(other.groups_[i].x);
  }
}

std::string LaunchTotals::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kTotalLetters);
  write_texts(arms, bytes);
  write_texts(guardrails, bytes);
  for (const bool flag : {plan_has_roles, has_control, has_weights})
    bytes.write(static_cast<std::uint8_t>(flag ? 1 : 0));
  for (const std::uint64_t count : {units, units_in_plan, units_in_outcomes, joined, role_conflicts})
    bytes.write(count);
  bytes.write(units_per_role);
  bytes.write(planned_per_role);
  bytes.write(seen_per_role);
  bytes.write_all(crossings);
  for (const Arm& arm : per_arm) {
    for (const std::uint64_t count : {arm.units, arm.received, arm.held}) bytes.write(count);
    for (const auto* sum : {&arm.planned_cost, &arm.realised_cost, &arm.planned_revenue, &arm.realised_revenue})
      sum->save(bytes);
  }
  for (const auto* sum :
       {&planned_spend_of_all, &planned_spend, &spend, &planned_incremental, &planned_incremental_cost})
    sum->save(bytes);
  for (const Group& group : groups_) {
    bytes.write(group.units);
    for (const auto* sum : {&group.weight, &group.r, &group.c, &group.x}) sum->save(bytes);
  }
  return std::move(bytes).seal();
}

LaunchTotals LaunchTotals::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "sums of a launch");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kTotalLetters, "these bytes are no sums of a launch");
  std::vector<std::string> of_arms = read_texts(bytes);
  std::vector<std::string> of_guardrails = read_texts(bytes);
  bytes.require(of_arms.size() <= 256 && of_guardrails.size() <= 10'000, "too many arms or guardrails");
  LaunchTotals totals(std::move(of_arms), std::move(of_guardrails));
  for (bool* flag : {&totals.plan_has_roles, &totals.has_control, &totals.has_weights})
    *flag = bytes.read<std::uint8_t>() == 1;
  constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 40;
  const auto count_of = [&] {
    const auto count = bytes.read<std::uint64_t>();
    bytes.require(count < kMostUnits, "a number of units that cannot be");
    return count;
  };
  for (std::uint64_t* count :
       {&totals.units, &totals.units_in_plan, &totals.units_in_outcomes, &totals.joined, &totals.role_conflicts})
    *count = count_of();
  for (PerRole* per_role : {&totals.units_per_role, &totals.planned_per_role, &totals.seen_per_role}) {
    for (std::uint64_t& count : *per_role) count = count_of();
  }
  const std::vector<std::uint64_t> crossings = bytes.read_all<std::uint64_t>();
  bytes.require(crossings.size() == totals.crossings.size(), "sums of other arms");
  totals.crossings = crossings;
  for (Arm& arm : totals.per_arm) {
    for (std::uint64_t* count : {&arm.units, &arm.received, &arm.held}) *count = count_of();
    for (auto* sum : {&arm.planned_cost, &arm.realised_cost, &arm.planned_revenue, &arm.realised_revenue})
      *sum = core::ExactTotal::load(bytes);
  }
  for (auto* sum : {&totals.planned_spend_of_all, &totals.planned_spend, &totals.spend, &totals.planned_incremental,
                    &totals.planned_incremental_cost})
    *sum = core::ExactTotal::load(bytes);
  for (Group& group : totals.groups_) {
    group.units = count_of();
    for (auto* sum : {&group.weight, &group.r, &group.c, &group.x}) *sum = core::ExactTotal::load(bytes);
  }
  bytes.end();
  return totals;
}

Moments LaunchTotals::means(std::size_t group) const {
  const Group& sums = groups_[group];
  Moments moments;
  if (sums.units == 0) return moments;
  const double weight = sums.weight.value();
  moments.set_means(static_cast<double>(sums.units), sums.r.value() / weight, sums.c.value() / weight,
                    sums.x.value() / weight);
  return moments;
}

void LaunchProducts::add(const Launch& launch, const LaunchTotals& totals) {
  std::vector<Moments> means;
  std::vector<double> weights;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    means.push_back(totals.means(group));
    weights.push_back(totals.weight(group));
  }
  for (std::size_t unit = 0; unit < launch.num_units(); ++unit) {
    for_each_group(launch, unit, [&](std::size_t group, const UnitValues& values) {
      Moments one;
      one.set_means(1.0, means[group].mean_r, means[group].mean_c, means[group].mean_x);
      one.add_centred(values.weight * means[group].count / weights[group], values.r, values.c, values.x);
      Group& sums = groups_[group];
      sums.rr.add(one.rr);
      sums.cc.add(one.cc);
      sums.rc.add(one.rc);
      sums.xx.add(one.xx);
      sums.xr.add(one.xr);
      sums.xc.add(one.xc);
    });
  }
}

void LaunchProducts::merge(const LaunchProducts& other) {
  if (other.groups_.size() != groups_.size())
    throw core::data_error("sums of a launch", "parts that do not fit together");
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].rr.add(other.groups_[i].rr);
    groups_[i].cc.add(other.groups_[i].cc);
    groups_[i].rc.add(other.groups_[i].rc);
    groups_[i].xx.add(other.groups_[i].xx);
    groups_[i].xr.add(other.groups_[i].xr);
    groups_[i].xc.add(other.groups_[i].xc);
  }
}

std::string LaunchProducts::to_bytes() const {
  core::ByteWriter bytes;
  bytes.write(kProductLetters);
  bytes.write_count(groups_.size());
  for (const Group& group : groups_) {
    for (const auto* sum : {&group.rr, &group.cc, &group.rc, &group.xx, &group.xr, &group.xc}) sum->save(bytes);
  }
  return std::move(bytes).seal();
}

LaunchProducts LaunchProducts::from_bytes(std::string_view text) {
  core::ByteReader bytes(text, "sums of a launch");
  bytes.unseal();
  bytes.require(bytes.read<std::uint64_t>() == kProductLetters, "these bytes are no sums of a launch");
  LaunchProducts products(bytes.read_count(6 * kBytesOfTotal));
  for (Group& group : products.groups_) {
    for (auto* sum : {&group.rr, &group.cc, &group.rc, &group.xx, &group.xr, &group.xc})
      *sum = core::ExactTotal::load(bytes);
  }
  bytes.end();
  return products;
}

Moments LaunchProducts::moments(const LaunchTotals& totals, std::size_t group) const {
  Moments moments = totals.means(group);
  if (moments.count == 0.0) return moments;
  const Group& sums = groups_[group];
  moments.rr = sums.rr.value();
  moments.cc = sums.cc.value();
  moments.rc = sums.rc.value();
  moments.xx = sums.xx.value();
  moments.xr = sums.xr.value();
  moments.xc = sums.xc.value();
  return moments;
}

}  // namespace dfcl::launch
