// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/readout_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using core::Interval;
using launch::Readout;

std::string range_text(const Interval& interval) {
  if (!std::isfinite(interval.low)) return "";
  return fmt::format("[{}, {}]", amount_text(interval.low), amount_text(interval.high));
}

std::string signed_amount(double amount) { return (amount > 0.0 ? "+" : "") + amount_text(amount); }

std::string optional_amount(const std::optional<double>& amount) { return amount ? amount_text(*amount) : "not known"; }

Table summary_table(const Readout& readout) {
  Table table{"summary",
              "Promised against delivered, units of role plan",
              "What was earned and spent is a fact and has no interval.",
              {"", "promised", "delivered", "95 % interval"},
              {}};
  const auto add = [&](const char* name, const std::string& planned, const Interval& realised) {
    table.rows.push_back({name, planned, amount_text(realised.value), range_text(realised)});
  };
  add("revenue over the hold-out", optional_amount(readout.planned_incremental), readout.incremental_revenue);
  if (readout.evaluated_incremental)
    table.rows.push_back({"  by units the model had not seen",
                          fmt::format("{} {}", amount_text(readout.evaluated_incremental->value),
                                      range_text(*readout.evaluated_incremental)),
                          "", ""});
  add("cost over the hold-out", readout.planned_incremental_cost ? amount_text(*readout.planned_incremental_cost) : "",
      readout.incremental_cost);
  add("return: extra revenue per extra cost",
      readout.planned_return ? number_text(*readout.planned_return) : "not known", readout.per_unit.return_per_cost);
  if (readout.incremental_profit) add("profit over the hold-out", "", *readout.incremental_profit);
  if (readout.roi) add("ROI: profit per extra cost", "", *readout.roi);
  add("revenue", amount_text(readout.planned_revenue), readout.realised_revenue);
  add("spend", amount_text(readout.planned_spend), readout.realised_spend);
  add("spend, all roles; promised: the budget", optional_amount(readout.budget), readout.total_spend);
  return table;
}

Table arms_table(const Readout& readout) {
  using A = launch::ArmReadout;
  Table table = table_of<A>(
      readout.arms,
      {{"arm", [](const A& arm) { return arm.arm; }},
       {"units", [](const A& arm) { return count_text(arm.units); }},
       {"got it",
        [](const A& arm) { return percent_text(static_cast<double>(arm.received) / static_cast<double>(arm.units)); }},
       {"planned", [](const A& arm) { return amount_text(arm.planned_cost); }},
       {"realised", [](const A& arm) { return amount_text(arm.realised_cost); }},
       {"overspend", [](const A& arm) { return signed_amount(arm.overspend); }},
       {"relative", [](const A& arm) {
          const bool has_share = arm.planned_cost > 0.0;
          return has_share ? signed_percent_text(arm.overspend / arm.planned_cost) : "";
        }}});
  table.id = "arms";
  table.title = "Spend by planned arm, units of role plan";
  table.note = "Units count under the arm planned for them.";
  return table;
}

Table crossings_table(const Readout& readout) {
  using C = launch::Crossing;
  Table table =
      table_of<C>(readout.crossings, {{"planned", [](const C& crossing) { return crossing.planned; }},
                                      {"received", [](const C& crossing) { return crossing.received; }},
                                      {"units", [](const C& crossing) { return count_text(crossing.units); }}});
  table.id = "crossings";
  table.title = "Units that got another arm than planned";
  return table;
}

Table explored_table(const Readout& readout) {
  using A = launch::ExploredArm;
  Table table =
      table_of<A>(readout.explored,
                  {{"arm", [](const A& arm) { return arm.arm; }},
                   {"units", [](const A& arm) { return count_text(arm.units); }},
                   {"revenue", [](const A& arm) { return number_text(arm.revenue.value); }},
                   {"95 % interval", [](const A& arm) { return interval_text(arm.revenue.low, arm.revenue.high); }},
                   {"cost", [](const A& arm) { return number_text(arm.cost.value); }},
                   {"95 % interval", [](const A& arm) { return interval_text(arm.cost.low, arm.cost.high); }}});
  table.id = "explored";
  table.title = "Explored units: each arm over the hold-out, per unit";
  return table;
}

Figure spend_figure(const Readout& readout) {
  Figure figure{
      "spend_by_arm", "Spend by planned arm", "Units of role plan, in all.", "arm", "cost", "category", "bar", {}};
  FigureSeries planned{"planned", {}}, realised{"realised", {}};
  for (const launch::ArmReadout& arm : readout.arms) {
    planned.points.push_back({arm.arm, {arm.planned_cost}});
    realised.points.push_back({arm.arm, {arm.realised_cost}});
  }
  figure.series = {planned, realised};
  return figure;
}

}  // namespace

namespace {

std::string profit_sentence(const Readout& readout) {
  const Interval& profit = *readout.incremental_profit;
  const char* const answer = profit.low > 0.0    ? "It paid back"
                             : profit.high < 0.0 ? "It did not pay back"
                                                 : "Whether it paid back is not shown";
  std::string text =
      fmt::format("{}: {} {} of profit over the hold-out, at {} for one unit of revenue", answer,
                  signed_amount(profit.value), range_text(profit), number_text(*readout.value_per_revenue));
  if (std::isfinite(readout.roi->value)) text += fmt::format("; ROI {}", percent_text(readout.roi->value));
  return text + ".";
}

// What was promised, twice where the plan knows both, against what was delivered.
std::string promise_sentence(const Readout& readout) {
  const Interval& gain = readout.incremental_revenue;
  std::string promised;
  if (readout.planned_incremental) promised = signed_amount(*readout.planned_incremental) + " by the predictions";
  if (readout.evaluated_incremental)
    promised +=
        fmt::format("{}{} {} by units the model had not seen", promised.empty() ? "" : ", ",
                    signed_amount(readout.evaluated_incremental->value), range_text(*readout.evaluated_incremental));
  std::string text =
      fmt::format("Promised: {}. Delivered: {} {}", promised, signed_amount(gain.value), range_text(gain));
  if (!readout.planned_incremental || !gain.has_ends()) return text + ".";
  const double predicted = *readout.planned_incremental;
  return text + (predicted > gain.high  ? ": less than predicted."
                 : predicted < gain.low ? ": more than predicted."
                                        : ", which holds what was predicted.");
}

std::string guardrail_sentence(const launch::GuardrailReadout& guardrail) {
  const char* const answer = guardrail.harmed == "yes"  ? "harmed"
                             : guardrail.harmed == "no" ? "not harmed"
                                                        : "harm not shown, nor ruled out";
  const double base = guardrail.holdout;
  if (!(base > 0.0))
    return fmt::format("{}: {} {} per unit over the hold-out: {}", guardrail.name,
                       signed_amount(guardrail.increment.value), range_text(guardrail.increment), answer);
  return fmt::format("{}: {:+.3g} % [{:.3g} %, {:.3g} %] of the hold-out's: {}", guardrail.name,
                     100.0 * guardrail.increment.value / base, 100.0 * guardrail.increment.low / base,
                     100.0 * guardrail.increment.high / base, answer);
}

// Where not all that was planned is counted: which part of the budget was for what is.
std::string budget_part(const Readout& readout) {
  if (!readout.budget_of_all || std::abs(*readout.budget / *readout.budget_of_all - 1.0) < 1e-9) return "";
  return fmt::format(", the part of {} that was planned for the units counted here,",
                     amount_text(*readout.budget_of_all));
}

}  // namespace

std::string status_of(const Interval& gain) {
  if (gain.low > 0.0) return "launch";
  return gain.high < 0.0 ? "loses" : "not_shown";
}

Verdict readout_verdict(const Readout& readout) {
  const Interval& gain = readout.incremental_revenue;
  Verdict verdict;
  verdict.status = status_of(readout.incremental_profit.value_or(gain));
  const std::string in_all = fmt::format("{} {}", signed_amount(gain.value), range_text(gain));
  if (gain.low > 0.0) {
    verdict.sentence = fmt::format("The plan earned more than the hold-out: {} of revenue in all.", in_all);
  } else if (gain.high < 0.0) {
    verdict.sentence = fmt::format("The plan earned less than the hold-out: {} of revenue in all.", in_all);
  } else {
    verdict.sentence =
        fmt::format("A gain over the hold-out is not shown: {} of revenue in all, which may be chance.", in_all);
  }
  if (readout.incremental_profit) verdict.sentence += " " + profit_sentence(readout);
  for (std::size_t i = 0; i < readout.guardrails.size(); ++i)
    verdict.sentence += (i == 0 ? " Guardrails: " : "; ") + guardrail_sentence(readout.guardrails[i]);
  if (!readout.guardrails.empty()) verdict.sentence += ".";
  const Interval& ratio = readout.per_unit.return_per_cost;
  if (!std::isfinite(ratio.value)) {
    verdict.details.emplace_back("A return is not defined: no more was spent than on the hold-out.");
  } else {
    verdict.details.push_back(fmt::format("Each unit of extra cost returned {} {} of extra revenue.",
                                          number_text(ratio.value), interval_text(ratio.low, ratio.high)));
  }
  if (readout.planned_incremental || readout.evaluated_incremental)
    verdict.details.push_back(promise_sentence(readout));
  if (readout.budget) {
    const double share = readout.total_spend / *readout.budget - 1.0;
    verdict.details.push_back(fmt::format("Spend was {} against a budget of {}{}{}.", amount_text(readout.total_spend),
                                          amount_text(*readout.budget), budget_part(readout),
                                          std::isfinite(share) ? fmt::format(" ({:+.1f} %)", 100.0 * share) : ""));
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

std::string holdout_sentence(const Readout& readout) {
  return fmt::format("Hold-out: {} of {} units, {} against {} as designed (p = {}).",
                     count_text(readout.units_per_role[1]), count_text(readout.units),
                     percent_text(readout.holdout_found), percent_text(readout.holdout_share),
                     p_value_text(readout.holdout_p_value));
}

std::vector<Table> readout_tables(const Readout& readout) {
  std::vector<Table> tables = {summary_table(readout), arms_table(readout)};
  if (!readout.crossings.empty()) tables.push_back(crossings_table(readout));
  if (!readout.explored.empty()) tables.push_back(explored_table(readout));
  return tables;
}

std::vector<Figure> readout_figures(const Readout& readout) { return {spend_figure(readout)}; }

std::vector<std::string> readout_sentences(const Readout& readout) {
  const char* const weights = readout.has_sample_weights
                                  ? " Gains count units by their sample weights; what was earned and spent does not."
                                  : "";
  return {holdout_sentence(readout) + weights,
          "Units count under the role and arm planned for them, whatever they got: intention to treat.",
          "What was earned and spent is counted, not estimated: it has no interval. Gains over the hold-out are "
          "differences of means between units that were drawn at random, adjusted by the revenue predicted under "
          "control where the plan holds it; returns are by Fieller. The interval of the next multiplier is that of "
          "what the same plan would spend on other such units.",
          fmt::format("That adjustment removed {} of the variance of the gain.",
                      percent_text(readout.per_unit.variance_removed))};
}

}  // namespace dfcl::report
