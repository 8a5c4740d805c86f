// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/readout_report.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/evaluation/results_frame.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using core::Interval;
using launch::Readout;
using nlohmann::ordered_json;

std::string range_text(const Interval& interval) {
  if (!std::isfinite(interval.low)) return "";
  return fmt::format("[{}, {}]", amount_text(interval.low), amount_text(interval.high));
}

std::string signed_amount(double amount) { return (amount > 0.0 ? "+" : "") + amount_text(amount); }

std::string optional_amount(const std::optional<double>& amount) { return amount ? amount_text(*amount) : "not known"; }

Verdict verdict_of(const Readout& readout) {
  const Interval& gain = readout.incremental_revenue;
  Verdict verdict;
  verdict.status = gain.low > 0.0 ? "launch" : "not_shown";
  const std::string in_all = fmt::format("{} {}", signed_amount(gain.value), range_text(gain));
  if (gain.low > 0.0) {
    verdict.sentence = fmt::format("The plan earned more than the hold-out: {} of revenue in all.", in_all);
  } else if (gain.high < 0.0) {
    verdict.sentence = fmt::format("The plan earned less than the hold-out: {} of revenue in all.", in_all);
  } else {
    verdict.sentence =
        fmt::format("A gain over the hold-out is not shown: {} of revenue in all, which may be chance.", in_all);
  }
  const Interval& ratio = readout.per_unit.return_per_cost;
  if (std::isfinite(ratio.value)) {
    verdict.details.push_back(fmt::format("Each unit of extra cost returned {} {} of extra revenue.",
                                          number_text(ratio.value), interval_text(ratio.low, ratio.high)));
  }
  if (readout.budget) {
    verdict.details.push_back(fmt::format("Spend was {} {} against a budget of {} ({:+.1f} %).",
                                          amount_text(readout.total_spend.value), range_text(readout.total_spend),
                                          amount_text(*readout.budget),
                                          100.0 * (readout.total_spend.value / *readout.budget - 1.0)));
  }
  if (readout.next_multiplier) {
    verdict.details.push_back(fmt::format(
        "The multiplier to use next is {} {}; it was {}.{}", number_text(readout.next_multiplier->value),
        interval_text(readout.next_multiplier->low, readout.next_multiplier->high), number_text(*readout.multiplier),
        readout.elasticity_is_assumed ? " The plan does not say how spend answers to it: in proportion is assumed."
                                      : ""));
  }
  for (const std::string& warning : readout.warnings) verdict.details.push_back(warning + ".");
  return verdict;
}

PlainTable summary_table(const Readout& readout) {
  PlainTable table{
      "summary", "Planned against realised, units of role plan", "", {"", "planned", "realised", "95 % interval"}, {}};
  const auto add = [&](const char* name, const std::string& planned, const Interval& realised) {
    table.rows.push_back({name, planned, amount_text(realised.value), range_text(realised)});
  };
  add("revenue", amount_text(readout.planned_revenue), readout.realised_revenue);
  add("spend", amount_text(readout.planned_spend), readout.realised_spend);
  add("revenue over the hold-out", optional_amount(readout.planned_incremental), readout.incremental_revenue);
  add("cost over the hold-out", "", readout.incremental_cost);
  add("return: extra revenue per extra cost",
      readout.planned_return ? number_text(*readout.planned_return) : "not known", readout.per_unit.return_per_cost);
  add("spend, all roles", optional_amount(readout.budget), readout.total_spend);
  return table;
}

PlainTable arms_table(const Readout& readout) {
  PlainTable table{"arms",
                   "Spend by planned arm, units of role plan",
                   "Units count under the arm planned for them.",
                   {"arm", "units", "got it", "planned", "realised", "overspend", "95 % interval", "relative"},
                   {}};
  for (const launch::ArmReadout& arm : readout.arms) {
    const bool has_share = arm.planned_cost > 0.0;
    table.rows.push_back({arm.arm, count_text(arm.units),
                          percent_text(static_cast<double>(arm.received) / static_cast<double>(arm.units)),
                          amount_text(arm.planned_cost), amount_text(arm.realised_cost.value),
                          signed_amount(arm.overspend.value), range_text(arm.overspend),
                          has_share ? fmt::format("{:+.1f} %", 100.0 * arm.overspend.value / arm.planned_cost) : ""});
  }
  return table;
}

PlainTable crossings_table(const Readout& readout) {
  PlainTable table{"crossings", "Units that got another arm than planned", "", {"planned", "received", "units"}, {}};
  for (const launch::Crossing& crossing : readout.crossings)
    table.rows.push_back({crossing.planned, crossing.received, count_text(crossing.units)});
  return table;
}

PlainTable explored_table(const Readout& readout) {
  PlainTable table{"explored",
                   "Explored units: each arm over the hold-out, per unit",
                   "",
                   {"arm", "units", "revenue", "95 % interval", "cost", "95 % interval"},
                   {}};
  for (const launch::ExploredArm& arm : readout.explored) {
    table.rows.push_back({arm.arm, count_text(arm.units), number_text(arm.revenue.value),
                          interval_text(arm.revenue.low, arm.revenue.high), number_text(arm.cost.value),
                          interval_text(arm.cost.low, arm.cost.high)});
  }
  return table;
}

std::string holdout_sentence(const Readout& readout) {
  return fmt::format("Hold-out: {} of {} units, {} against {} as designed (p = {}).",
                     count_text(readout.units_per_role[1]), count_text(readout.units),
                     percent_text(readout.holdout_found), percent_text(readout.holdout_share),
                     p_value_text(readout.holdout_p_value));
}

Figure spend_figure(const Readout& readout) {
  Figure figure{"spend_by_arm",
                "Spend by planned arm",
                "Units of role plan, in all; bars show 95 % intervals.",
                "arm",
                "cost",
                "category",
                "bar",
                {}};
  FigureSeries planned{"planned", {}}, realised{"realised", {}};
  for (const launch::ArmReadout& arm : readout.arms) {
    planned.points.push_back({arm.arm, {arm.planned_cost}});
    realised.points.push_back({arm.arm, arm.realised_cost});
  }
  figure.series = {planned, realised};
  return figure;
}

ordered_json readout_object(const Readout& readout) {
  const auto optional_json = [](const std::optional<double>& number) {
    return number ? number_json(*number) : ordered_json(nullptr);
  };
  ordered_json json = {
      {"units", readout.units},
      {"level", readout.level},
      {"holdout",
       {{"units", readout.units_per_role[1]},
        {"share", readout.holdout_found},
        {"designed_share", readout.holdout_share},
        {"p_value", readout.holdout_p_value},
        {"treated", readout.holdout_treated}}},
      {"planned",
       {{"revenue", readout.planned_revenue},
        {"spend", readout.planned_spend},
        {"incremental_revenue", optional_json(readout.planned_incremental)},
        {"return_per_cost", optional_json(readout.planned_return)}}},
      {"realised",
       {{"revenue", interval_json(readout.realised_revenue)},
        {"spend", interval_json(readout.realised_spend)},
        {"incremental_revenue", interval_json(readout.incremental_revenue)},
        {"incremental_cost", interval_json(readout.incremental_cost)},
        {"return_per_cost", interval_json(readout.per_unit.return_per_cost)}}},
      {"per_unit",
       {{"incremental_revenue", interval_json(readout.per_unit.revenue)},
        {"incremental_cost", interval_json(readout.per_unit.cost)},
        {"variance_removed", readout.per_unit.variance_removed}}},
      {"budget", optional_json(readout.budget)},
      {"spend", interval_json(readout.total_spend)},
      {"not_as_planned", readout.not_as_planned},
      {"multiplier", optional_json(readout.multiplier)},
      {"next_multiplier", readout.next_multiplier ? interval_json(*readout.next_multiplier) : ordered_json(nullptr)},
      {"warnings", readout.warnings}};
  for (std::size_t role = 0; role < data::kNumRoles; ++role)
    json["units_per_role"][std::string(data::kRoleNames[role])] = readout.units_per_role[role];
  json["arms"] = ordered_json::array();
  for (const launch::ArmReadout& arm : readout.arms) {
    json["arms"].push_back({{"arm", arm.arm},
                            {"units", arm.units},
                            {"received", arm.received},
                            {"planned_cost", arm.planned_cost},
                            {"realised_cost", interval_json(arm.realised_cost)},
                            {"overspend", interval_json(arm.overspend)},
                            {"planned_revenue", arm.planned_revenue},
                            {"realised_revenue", interval_json(arm.realised_revenue)}});
  }
  json["crossings"] = ordered_json::array();
  for (const launch::Crossing& crossing : readout.crossings)
    json["crossings"].push_back(
        {{"planned", crossing.planned}, {"received", crossing.received}, {"units", crossing.units}});
  json["explored"] = ordered_json::array();
  for (const launch::ExploredArm& arm : readout.explored)
    json["explored"].push_back({{"arm", arm.arm},
                                {"units", arm.units},
                                {"revenue", interval_json(arm.revenue)},
                                {"cost", interval_json(arm.cost)}});
  return json;
}

}  // namespace

std::string readout_text(const Readout& readout) {
  const Verdict verdict = verdict_of(readout);
  std::string text = wrap(verdict.sentence, 0) + "\n";
  for (const std::string& detail : verdict.details) text += "  " + wrap(detail, 2) + "\n";
  text += "\n" + table_text(summary_table(readout)) + "\n" + table_text(arms_table(readout));
  if (!readout.crossings.empty()) text += "\n" + table_text(crossings_table(readout));
  if (!readout.explored.empty()) text += "\n" + table_text(explored_table(readout));
  return text + "\n" + holdout_sentence(readout) + "\n";
}

std::string readout_json(const Readout& readout, const data::Provenance& provenance) {
  ordered_json results = results_frame(provenance, {"Readout of a launch", "", "revenue", "cost"}, verdict_of(readout));
  results["level"] = readout.level;
  results["readout"] = readout_object(readout);
  results["figures"] = {figure_json(spend_figure(readout))};
  results["tables"] = {table_json(summary_table(readout)), table_json(arms_table(readout))};
  if (!readout.crossings.empty()) results["tables"].push_back(table_json(crossings_table(readout)));
  if (!readout.explored.empty()) results["tables"].push_back(table_json(explored_table(readout)));
  results["how"] = {holdout_sentence(readout),
                    "Units count under the role and arm planned for them, whatever they got: intention to treat.",
                    "Realised totals are given what was predicted for these units: the interval is that of the mean of "
                    "realised minus planned. Gains over the hold-out are differences of means between units that were "
                    "drawn at random, adjusted by the revenue predicted under control where the plan holds it; returns "
                    "are by Fieller.",
                    fmt::format("That adjustment removed {} of the variance of the gain.",
                                percent_text(readout.per_unit.variance_removed))};
  return results.dump(2) + "\n";
}

}  // namespace dfcl::report
