// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/launch_report.h"

#include <fmt/format.h>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

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

}  // namespace dfcl::report
