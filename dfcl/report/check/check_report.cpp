// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/report/check/check_brief.h"
#include "dfcl/report/check/check_description.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using check::CheckResult;

constexpr std::size_t kWorstFeatures = 10;
constexpr std::size_t kWorstTimes = 3;
constexpr std::size_t kMissingColumns = 10;

std::string paragraph(std::string_view mark, const check::Finding& finding) {
  std::string text = fmt::format("  {} {}\n", mark, wrap(finding.text, mark.size() + 3));
  if (!finding.hint.empty()) text += fmt::format("    hint: {}\n", wrap(finding.hint, 10));
  return text;
}

std::string verdict_text(const CheckResult& result) {
  std::string text = check_verdict(result) + "\n";
  for (const check::Finding& problem : result.problems) text += paragraph("!", problem);
  for (const check::Finding& warning : result.warnings) text += paragraph("-", warning);
  return text;
}

std::string size_text(const CheckResult& result) {
  std::string text = fmt::format("{} units, {} features, {} arms", count_text(result.num_units),
                                 count_text(result.num_features), result.arms.size());
  if (result.num_clusters > 0) text += fmt::format(", {} clusters", count_text(result.num_clusters));
  if (result.num_times > 0) text += fmt::format(", {} times", count_text(result.num_times));
  return text + fmt::format("; control is '{}'; arms were drawn by {}\n", printable(result.control),
                            check::to_text(result.drawn));
}

std::string outcome_table(const CheckResult& result, std::string_view outcome, check::Interval check::ArmSummary::*mean,
                          std::optional<check::Difference> check::ArmSummary::*difference) {
  TextTable table({{"arm", Align::left},
                   {fmt::format("mean {}", outcome)},
                   {"95 % interval"},
                   {"difference from control"},
                   {"95 % interval"},
                   {"p"}});
  for (const check::ArmSummary& arm : result.arms) {
    std::vector<std::string> row = {arm.label, number_text((arm.*mean).value),
                                    interval_text((arm.*mean).low, (arm.*mean).high)};
    if (const auto& from_control = arm.*difference) {
      row.push_back(number_text(from_control->interval.value));
      row.push_back(interval_text(from_control->interval.low, from_control->interval.high));
      row.push_back(p_value_text(from_control->p));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

// Their means by arm; what plans do to them is for `dfcl evaluate`.
std::string guardrails_text(const CheckResult& result) {
  if (result.guardrails.empty()) return "";
  std::vector<TableColumn> columns = {{"guardrail", Align::left}};
  for (const check::ArmSummary& arm : result.arms) columns.push_back({arm.label});
  TextTable table(columns);
  for (const check::GuardrailSummary& guardrail : result.guardrails) {
    std::vector<std::string> row = {printable(guardrail.name)};
    for (const double mean : guardrail.mean) row.push_back(number_text(mean));
    table.add_row(std::move(row));
  }
  return "\nGuardrails, mean by arm\n" + table.text();
}

std::string arms_text(const CheckResult& result) {
  std::vector<TableColumn> columns = {{"arm", Align::left}, {"units"}, {"share"}, {"designed"}};
  if (result.num_clusters > 0) columns.push_back({"clusters"});
  TextTable table(columns);
  for (const check::ArmSummary& arm : result.arms) {
    std::vector<std::string> row = {arm.label, count_text(arm.num_units), percent_text(arm.share),
                                    arm.designed_share ? percent_text(*arm.designed_share) : "-"};
    if (result.num_clusters > 0) row.push_back(count_text(arm.num_clusters));
    table.add_row(std::move(row));
  }
  const char* const weights =
      result.has_sample_weights ? result.weighted ? " (means and balance by sample weight / propensity, shares by rows)"
                                                  : " (means and balance by sample weight, shares by rows)"
      : result.weighted         ? " (means weighted by 1 / propensity)"
                                : "";
  std::string text = fmt::format("\nArms{}\n", weights);
  text += table.text() + "\n";
  text += outcome_table(result, "revenue", &check::ArmSummary::revenue, &check::ArmSummary::revenue_difference) + "\n";
  text += outcome_table(result, "cost", &check::ArmSummary::cost, &check::ArmSummary::cost_difference);
  return text + guardrails_text(result);
}

std::string sample_ratio_text(const CheckResult& result) {
  const check::SampleRatio& ratio = result.sample_ratio;
  if (!ratio.run) return fmt::format("\nSample ratio: not run, {}\n", ratio.why_not);
  std::string text = fmt::format("\nSample ratio: chi-square {:.2f} on {:.0f} degrees of freedom, p {} ({} draws)\n",
                                 ratio.chi_square, ratio.degrees, p_value_text(ratio.p), count_text(result.num_draws));
  if (ratio.times.empty()) return text;
  if (ratio.pooled_run) {
    text += fmt::format("  within times, pooled: chi-square {:.2f} on {:.0f}, p {}\n", ratio.pooled_chi_square,
                        ratio.pooled_degrees, p_value_text(ratio.pooled_p));
  }
  std::vector<check::SampleRatioTime> times = ratio.times;
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
  times.resize(std::min(kWorstTimes, times.size()));
  std::string worst;
  for (const auto& time : times) {
    worst += fmt::format("{}{} (p {})", worst.empty() ? "" : ", ", printable(time.time), p_value_text(time.p));
  }
  return text + fmt::format("  smallest p of {} times: {}\n", ratio.times.size(), worst);
}

std::string balance_text(const CheckResult& result) {
  const check::Balance& balance = result.balance;
  if (!balance.run) return fmt::format("\nBalance: not tested, {}\n", balance.why_not);
  std::string text;
  if (balance.method == check::BalanceMethod::joint) {
    text = fmt::format(
        "\nBalance of the features: joint test p {} (statistic {:.1f} on {:.0f} degrees of freedom)\n"
        "  smallest p of one feature, corrected for their number: {}\n",
        p_value_text(balance.p), balance.statistic, balance.degrees, p_value_text(balance.smallest_p));
  } else {
    text = fmt::format("\nBalance of the features: p {} (of the worst feature, corrected for their number)\n",
                       p_value_text(balance.p));
  }
  std::vector<const check::FeatureBalance*> worst;
  for (const check::FeatureBalance& feature : balance.features) {
    if (feature.tested) worst.push_back(&feature);
  }
  std::stable_sort(worst.begin(), worst.end(), [](const auto* a, const auto* b) {
    return a->p != b->p ? a->p < b->p : std::fabs(a->difference) > std::fabs(b->difference);
  });
  const std::size_t shown = std::min(kWorstFeatures, worst.size());
  TextTable table({{"feature", Align::left}, {"std. difference"}, {"in arm", Align::left}, {"of", Align::left}, {"p"}});
  for (std::size_t i = 0; i < shown; ++i) {
    table.add_row({worst[i]->name, fmt::format("{:+.3f}", worst[i]->difference), worst[i]->arm, worst[i]->what,
                   p_value_text(worst[i]->p)});
  }
  if (!table.empty()) text += fmt::format("  the {} least balanced of {}:\n{}", shown, worst.size(), table.text(4));
  return text;
}

std::string columns_text(const CheckResult& result) {
  std::vector<const check::ColumnSummary*> missing;
  std::string constant;
  for (const check::ColumnSummary& column : result.columns) {
    if (column.missing_share > 0.0) missing.push_back(&column);
    if (column.constant) constant += (constant.empty() ? "" : ", ") + printable(column.name);
  }
  std::stable_sort(missing.begin(), missing.end(),
                   [](const auto* a, const auto* b) { return a->missing_share > b->missing_share; });
  std::string text = fmt::format(
      "\nMissing values: {}\n",
      missing.empty() ? "none" : fmt::format("in {} of {} features", missing.size(), result.columns.size()));
  TextTable table({{"feature", Align::left}, {"missing"}, {"lowest arm"}, {"highest arm"}});
  for (std::size_t i = 0; i < std::min(kMissingColumns, missing.size()); ++i) {
    const auto [low, high] =
        std::minmax_element(missing[i]->missing_share_per_arm.begin(), missing[i]->missing_share_per_arm.end());
    table.add_row({missing[i]->name, percent_text(missing[i]->missing_share), percent_text(*low), percent_text(*high)});
  }
  if (!table.empty()) text += table.text(4);
  text += fmt::format("Constant features: {}\n", constant.empty() ? "none" : wrap(constant, 19));
  const check::Duplicates& duplicates = result.duplicates;
  if (duplicates.key.empty()) {
    text += "Duplicated ids: no id column, so not looked for\n";
  } else if (duplicates.num_rows == 0) {
    text += fmt::format("Duplicated ids: none (by {})\n", duplicates.key);
  } else {
    std::string examples;
    for (const std::string& id : duplicates.examples) examples += (examples.empty() ? "" : ", ") + printable(id);
    text += fmt::format("Duplicated ids: {} rows repeat one of {} (by {}), for example {}\n",
                        count_text(duplicates.num_rows), count_text(duplicates.num_ids), duplicates.key, examples);
  }
  if (result.suspects.empty()) text += "Features that tell the arm or the revenue: none\n";
  return text;
}

std::string notes_text(const CheckResult& result) {
  if (result.notes.empty()) return "";
  std::string text = "\nNotes from reading\n";
  for (const std::string& note : result.notes) text += fmt::format("  - {}\n", wrap(note, 4));
  return text;
}

}  // namespace

std::string check_json(const CheckResult& result) { return dump_json(description(Of<CheckResult>{}).write(result)); }

std::string check_verdict(const CheckResult& result) {
  const auto plural = [](std::size_t count) { return count == 1 ? "" : "s"; };
  if (result.grade == check::Grade::adjustable) return "FIT to learn from with care: imbalanced, but adjustable.";
  if (!result.fit)
    return fmt::format("UNFIT to learn from: {} problem{}.", result.problems.size(), plural(result.problems.size()));
  if (result.warnings.empty()) return "FIT to learn from.";
  return fmt::format("FIT to learn from, with {} warning{}.", result.warnings.size(), plural(result.warnings.size()));
}

std::string check_text(const CheckResult& result, Length length) {
  if (length == Length::brief) return check_brief(result);
  return verdict_text(result) + "\n" + size_text(result) + arms_text(result) + sample_ratio_text(result) +
         balance_text(result) + columns_text(result) + notes_text(result);
}

}  // namespace dfcl::report
