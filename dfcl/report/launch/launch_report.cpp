// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/launch_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

using nlohmann::ordered_json;

std::string roles_text(const LaunchFigures& launch) {
  TextTable table({{"role", Align::left}, {"units"}, {"spend"}, {"revenue"}, {"gets", Align::left}});
  constexpr const char* kGets[data::kNumRoles] = {"the best arm", "control", "an arm at random"};
  for (std::size_t role = 0; role < data::kNumRoles; ++role) {
    const launch::RoleTotals& totals = launch.roles[role];
    if (totals.units == 0) continue;
    table.add_row({std::string(data::kRoleNames[role]), count_text(totals.units), amount_text(totals.spend),
                   amount_text(totals.revenue), kGets[role]});
  }
  return table.text();
}

void add_roles(const LaunchFigures& launch, ordered_json& plan) {
  plan["holdout"] = launch.design.holdout;
  plan["explore"] = launch.design.explore;
  for (std::size_t role = 0; role < data::kNumRoles; ++role) {
    const launch::RoleTotals& totals = launch.roles[role];
    plan["roles"][std::string(data::kRoleNames[role])] = {
        {"units", totals.units}, {"spend", totals.spend}, {"revenue", totals.revenue}};
  }
  if (std::isfinite(launch.spend_elasticity)) {
    plan["spend_elasticity"] = launch.spend_elasticity;
  } else {
    plan["spend_elasticity"] = nullptr;
  }
}

std::string change_text(const launch::PlanChange& change) {
  std::string text = fmt::format("Since the previous plan: {} of {} units moved to another arm, {} came, {} went\n",
                                 count_text(change.units_moved), count_text(change.units_in_both),
                                 count_text(change.units_new), count_text(change.units_gone));
  if (change.holdout_changed > 0) {
    text += fmt::format("  {} units entered or left the hold-out: was it drawn with another share or salt?\n",
                        count_text(change.holdout_changed));
  }
  text += "\n";
  TextTable table(
      {{"arm", Align::left}, {"units before"}, {"now"}, {"spend before"}, {"now"}, {"revenue before"}, {"now"}});
  for (std::size_t arm = 0; arm < change.arms.size(); ++arm) {
    const launch::ArmTotals& before = change.before[arm];
    const launch::ArmTotals& now = change.now[arm];
    table.add_row({change.arms[arm], count_text(before.units), count_text(now.units), amount_text(before.spend),
                   amount_text(now.spend), amount_text(before.revenue), amount_text(now.revenue)});
  }
  return text + table.text();
}

ordered_json change_json(const launch::PlanChange& change) {
  ordered_json arms = ordered_json::object();
  ordered_json moves = ordered_json::array();
  const auto totals_json = [](const launch::ArmTotals& totals) {
    return ordered_json{{"units", totals.units}, {"spend", totals.spend}, {"revenue", totals.revenue}};
  };
  const auto sum = [](const std::vector<launch::ArmTotals>& totals, double launch::ArmTotals::*field) {
    return std::accumulate(totals.begin(), totals.end(), 0.0,
                           [&](double total, const launch::ArmTotals& arm) { return total + arm.*field; });
  };
  using launch::ArmTotals;
  for (std::size_t arm = 0; arm < change.arms.size(); ++arm) {
    arms[change.arms[arm]] = {{"before", totals_json(change.before[arm])}, {"now", totals_json(change.now[arm])}};
    for (std::size_t to = 0; to < change.arms.size(); ++to) {
      if (to == arm || change.moves[arm][to] == 0) continue;
      moves.push_back({{"from", change.arms[arm]}, {"to", change.arms[to]}, {"units", change.moves[arm][to]}});
    }
  }
  return {{"units_in_both", change.units_in_both},
          {"units_new", change.units_new},
          {"units_gone", change.units_gone},
          {"units_moved", change.units_moved},
          {"holdout_changed", change.roles_known ? ordered_json(change.holdout_changed) : ordered_json(nullptr)},
          {"spend_before", sum(change.before, &ArmTotals::spend)},
          {"spend_now", sum(change.now, &ArmTotals::spend)},
          {"revenue_before", sum(change.before, &ArmTotals::revenue)},
          {"revenue_now", sum(change.now, &ArmTotals::revenue)},
          {"arms", arms},
          {"moves", moves}};
}

}  // namespace dfcl::report
