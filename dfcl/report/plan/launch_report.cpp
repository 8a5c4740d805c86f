// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/plan/launch_report.h"

#include <fmt/format.h>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {

Table roles_table(const LaunchFigures& launch, const Wording& wording) {
  Table table{.columns = {"role", "gets", wording.units(), "spend", "revenue"}, .num_text_columns = 2};
  constexpr const char* kGets[data::kNumRoles] = {"the best arm", "control", "an arm at random"};
  for (std::size_t role = 0; role < data::kNumRoles; ++role) {
    const launch::RoleTotals& totals = launch.roles[role];
    if (totals.units == 0) continue;
    table.rows.push_back({std::string(data::kRoleNames[role]), kGets[role], count_text(totals.units),
                          wording.money_total(totals.spend), wording.revenue_total(totals.revenue)});
  }
  return table;
}

Document change_blocks(const launch::PlanChange& change, const Wording& wording) {
  std::string text = fmt::format("Since the previous plan: {} of {} {} moved to another arm, {} came, {} went",
                                 count_text(change.units_moved), count_text(change.units_in_both), wording.units(),
                                 count_text(change.units_new), count_text(change.units_gone));
  if (change.holdout_changed > 0) {
    text += fmt::format("; {} entered or left the hold-out: was it drawn with another share or salt?",
                        wording.count(change.holdout_changed));
  }
  Table table{.columns = {"arm", wording.units() + " before", "now", "spend before", "now", "revenue before", "now"}};
  for (std::size_t arm = 0; arm < change.arms.size(); ++arm) {
    const launch::ArmTotals& before = change.before[arm];
    const launch::ArmTotals& now = change.now[arm];
    table.rows.push_back({change.arms[arm], count_text(before.units), count_text(now.units),
                          wording.money_total(before.spend), wording.money_total(now.spend),
                          wording.revenue_total(before.revenue), wording.revenue_total(now.revenue)});
  }
  return {Paragraph{text}, table};
}

}  // namespace dfcl::report
