// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/check/check_brief.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/report/text/screen.h"
#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {
namespace {

using check::CheckResult;

Document findings(const CheckResult& result) {
  Bullets bullets;
  for (const auto* list : {&result.problems, &result.warnings}) {
    for (const check::Finding& finding : *list) {
      const bool is_problem = list == &result.problems;
      bullets.items.push_back(finding.text + (is_problem && !finding.hint.empty() ? " Hint: " + finding.hint : ""));
    }
  }
  if (bullets.items.empty()) return {};
  return {bullets};
}

std::string difference_text(const std::optional<check::Difference>& difference, const Wording& wording) {
  return difference ? wording.interval(difference->interval) : "";
}

Table arms_table(const CheckResult& result, const Wording& wording) {
  using Arm = check::ArmSummary;
  std::vector<Column<Arm>> columns = {
      {"arm", [&](const Arm& arm) { return arm.label + (arm.label == result.control ? " (control)" : ""); }},
      {wording.units(), [](const Arm& arm) { return count_text(arm.num_units); }},
      {"share", [](const Arm& arm) { return percent_text(arm.share); }},
      {result.words.revenue_name, [&](const Arm& arm) { return wording.revenue(arm.revenue.value); }},
      {"over control (95 %)", [&](const Arm& arm) { return difference_text(arm.revenue_difference, wording); }},
      {result.words.cost_name, [&](const Arm& arm) { return wording.money(arm.cost.value); }}};
  Table table = without_empty_columns(table_of<Arm>(result.arms, columns));
  table.title = fmt::format("Means per {}{}", wording.unit(), result.weighted ? ", weighted by 1 / propensity" : "");
  return table;
}

std::string ratio_text(const CheckResult& result) {
  const check::SampleRatio& ratio = result.sample_ratio;
  if (!ratio.run) return "Sample ratio: not tested, " + ratio.why_not + ".";
  return fmt::format("Sample ratio: p {} against the designed shares.", p_value_text(ratio.p));
}

std::string balance_brief(const CheckResult& result) {
  const check::Balance& balance = result.balance;
  if (!balance.run) return "Balance: not tested, " + balance.why_not + ".";
  const auto worst =
      std::max_element(balance.features.begin(), balance.features.end(), [](const auto& a, const auto& b) {
        return std::abs(a.tested ? a.difference : 0.0) < std::abs(b.tested ? b.difference : 0.0);
      });
  std::string text =
      fmt::format("Balance of {} features: p {}", count_text(result.num_features), p_value_text(balance.p));
  if (worst != balance.features.end() && worst->tested)
    text += fmt::format("; the largest difference is {:+.3f} standard deviations, of {}", worst->difference,
                        core::printable_start(worst->name, 40));
  return text + ".";
}

}  // namespace

std::string check_brief(const CheckResult& result) {
  const Wording wording(result.words);
  Document document = {Paragraph{check_verdict(result)}};
  for (Block& block : findings(result)) document.push_back(std::move(block));
  document.push_back(
      Paragraph{fmt::format("{} in {} arms, {} features; arms were drawn by {}.", wording.count(result.num_units),
                            result.arms.size(), count_text(result.num_features), check::to_text(result.drawn))});
  document.push_back(arms_table(result, wording));
  document.push_back(Paragraph{ratio_text(result)});
  document.push_back(Paragraph{balance_brief(result)});
  return screen_text(document, "tests by arm and time, the least balanced features, missing values, hints");
}

}  // namespace dfcl::report
