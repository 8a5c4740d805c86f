// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/readout_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {
namespace {

using core::Interval;
using launch::Readout;

// "" where there is none: of a fact both ends are its value.
std::string range_text(const Interval& interval) {
  if (!std::isfinite(interval.low) || interval.low == interval.high) return "";
  // Cents mean nothing beside millions.
  const auto end = [](double amount) {
    if (std::abs(amount) < 1e6) return amount_text(amount);
    const std::string text = amount_text(std::round(amount));
    return text.substr(0, text.size() - 3);
  };
  return fmt::format("({} to {})", end(interval.low), end(interval.high));
}

// With its sign, and the currency where it is money.
std::string signed_text(double amount, bool is_money, const Wording& wording) {
  const std::string text = is_money ? wording.money_total(amount) : wording.revenue_total(amount);
  return (amount > 0.0 ? "+" : "") + text;
}

std::string optional_money(const std::optional<double>& amount, const Wording& wording) {
  return amount ? wording.money_total(*amount) : "not known";
}

Table summary_table(const Readout& readout) {
  Table table{"summary",
              "Promised against delivered, units of role plan",
              "What was earned and spent is a fact and has no interval.",
              {"", "promised", "delivered", "95 % interval"},
              {}};
  const Wording wording(readout.words);
  const auto add_figure = [&](const char* name, const std::string& planned, const std::string& value,
                              const Interval& realised) {
    table.rows.push_back({name, planned, value, range_text(realised)});
  };
  const auto add = [&](const char* name, const std::string& planned, const Interval& realised) {
    add_figure(name, planned, wording.money_total(realised.value), realised);
  };
  add_figure("revenue over the hold-out",
             readout.planned_incremental ? wording.revenue_total(*readout.planned_incremental) : "not known",
             wording.revenue_total(readout.incremental_revenue.value), readout.incremental_revenue);
  if (readout.evaluated_incremental)
    table.rows.push_back({"  promised by unseen units", wording.revenue_total(readout.evaluated_incremental->value), "",
                          range_text(*readout.evaluated_incremental)});
  add("cost over the hold-out",
      readout.planned_incremental_cost ? wording.money_total(*readout.planned_incremental_cost) : "",
      readout.incremental_cost);
  add_figure("return: revenue per cost", readout.planned_return ? number_text(*readout.planned_return) : "not known",
             number_text(readout.per_unit.return_per_cost.value), readout.per_unit.return_per_cost);
  if (readout.incremental_profit) add("profit over the hold-out", "", *readout.incremental_profit);
  if (readout.roi) {
    const auto percent = [&](double ratio) { return wording.format().roi(ratio); };
    const std::string range =
        readout.roi->has_ends() ? fmt::format("({} to {})", percent(readout.roi->low), percent(readout.roi->high)) : "";
    table.rows.push_back({"ROI: profit per cost", "", percent(readout.roi->value), range});
  }
  add_figure("revenue", wording.revenue_total(readout.planned_revenue), wording.revenue_total(readout.realised_revenue),
             {readout.realised_revenue});
  add("spend", wording.money_total(readout.planned_spend), {readout.realised_spend});
  add("spend of all roles, budget", optional_money(readout.budget, wording), {readout.total_spend});
  return table;
}

Table arms_table(const Readout& readout) {
  using A = launch::ArmReadout;
  const Wording wording(readout.words);
  std::vector<A> arms = readout.arms;  // those on which something was spent first
  std::stable_partition(arms.begin(), arms.end(),
                        [](const A& arm) { return arm.planned_cost != 0.0 || arm.realised_cost != 0.0; });
  Table table = table_of<A>(
      arms,
      {{"arm", [](const A& arm) { return arm.arm; }},
       {"units", [](const A& arm) { return count_text(arm.units); }},
       {"got it",
        [](const A& arm) { return percent_text(static_cast<double>(arm.received) / static_cast<double>(arm.units)); }},
       {"planned", [&](const A& arm) { return wording.money_total(arm.planned_cost); }},
       {"realised", [&](const A& arm) { return wording.money_total(arm.realised_cost); }},
       {"overspend", [&](const A& arm) { return signed_text(arm.overspend, true, wording); }},
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

Table launches_table(const Readout& readout) {
  const Wording wording(readout.words);
  const launch::LaunchLine total = launch::total_of(readout.launches, readout.launches.size());
  Table table{"launches",
              "All launches so far",
              "Over the hold-out. The ends of sums are sums of ends: they hold whatever the launches have in common.",
              {"launch", "units", "spend", "extra revenue", "95 % interval", "extra cost"},
              {}};
  if (total.profit) table.columns.insert(table.columns.end(), {"profit", "95 % interval", "ROI"});
  const auto add = [&](const launch::LaunchLine& line, const std::string& name) {
    std::vector<std::string> row = {name,
                                    count_text(line.units),
                                    wording.money_total(line.spend),
                                    wording.revenue_total(line.revenue.value),
                                    range_text(line.revenue),
                                    wording.money_total(line.cost.value)};
    if (total.profit) {
      const std::optional<double> roi = line.roi();
      row.insert(row.end(), {wording.money_total(line.profit->value), range_text(*line.profit),
                             roi ? wording.format().roi(*roi) : ""});
    }
    table.rows.push_back(std::move(row));
  };
  for (const launch::LaunchLine& line : readout.launches) add(line, line.name);
  add(total, "in all");
  return table;
}

Figure launches_figure(const Readout& readout) {
  Figure figure{"launches",
                "Extra revenue, launch by launch and so far",
                "Over the hold-out, in all. The ends of sums are sums of ends.",
                "launch",
                "extra revenue",
                "category",
                "points",
                {}};
  FigureSeries each{"launch", {}}, so_far{"so far", {}};
  for (std::size_t i = 0; i < readout.launches.size(); ++i) {
    const std::string name = fmt::format("{}. {}", i + 1, readout.launches[i].name);
    each.points.push_back({name, readout.launches[i].revenue});
    so_far.points.push_back({name, launch::total_of(readout.launches, i + 1).revenue});
  }
  figure.series = {each, so_far};
  return figure;
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
  const Wording wording(readout.words);
  const char* const answer = profit.low > 0.0    ? "It paid back"
                             : profit.high < 0.0 ? "It did not pay back"
                                                 : "Whether it paid back is not shown";
  std::string text = fmt::format("{}: {} {} of profit over the hold-out, at {} for one unit of revenue", answer,
                                 signed_text(profit.value, true, wording), range_text(profit),
                                 number_text(*readout.value_per_revenue));
  if (std::isfinite(readout.roi->value)) text += fmt::format("; ROI {}", wording.format().roi(readout.roi->value));
  return text + ".";
}

// What was promised, twice where the plan knows both, against what was delivered.
std::string promised_sentence(const Readout& readout) {
  const Interval& gain = readout.incremental_revenue;
  const Wording wording(readout.words);
  std::string promised;
  if (readout.planned_incremental)
    promised = signed_text(*readout.planned_incremental, false, wording) + " by the predictions";
  if (readout.evaluated_incremental)
    promised += fmt::format("{}{} {} by units the model had not seen", promised.empty() ? "" : ", ",
                            signed_text(readout.evaluated_incremental->value, false, wording),
                            range_text(*readout.evaluated_incremental));
  std::string text = fmt::format("Promised: {}. Delivered: {} {}", promised, signed_text(gain.value, false, wording),
                                 range_text(gain));
  if (!readout.planned_incremental || !gain.has_ends()) return text + ".";
  const double predicted = *readout.planned_incremental;
  return text + (predicted > gain.high  ? ": less than predicted."
                 : predicted < gain.low ? ": more than predicted."
                                        : "; what was predicted lies within.");
}

std::string guardrail_sentence(const launch::GuardrailReadout& guardrail) {
  const char* const answer = guardrail.harmed == "yes"  ? "harmed"
                             : guardrail.harmed == "no" ? "not harmed"
                                                        : "harm not shown, nor ruled out";
  const double base = guardrail.holdout;
  if (!(base > 0.0))
    return fmt::format("{}: {}{} {} per unit over the hold-out: {}", guardrail.name,
                       guardrail.increment.value > 0.0 ? "+" : "", amount_text(guardrail.increment.value),
                       range_text(guardrail.increment), answer);
  return fmt::format("{}: {:+.3g} % ({:.3g} to {:.3g} %) of the hold-out's: {}", guardrail.name,
                     100.0 * guardrail.increment.value / base, 100.0 * guardrail.increment.low / base,
                     100.0 * guardrail.increment.high / base, answer);
}

std::string launches_sentence(const Readout& readout) {
  const Wording wording(readout.words);
  const launch::LaunchLine total = launch::total_of(readout.launches, readout.launches.size());
  std::string text = fmt::format("All {} launches so far: {} {} of revenue over the hold-out", readout.launches.size(),
                                 signed_text(total.revenue.value, false, wording), range_text(total.revenue));
  if (total.profit)
    text +=
        fmt::format(", {} {} of profit", signed_text(total.profit->value, true, wording), range_text(*total.profit));
  return fmt::format("{}, at a spend of {}.", text, wording.money_total(total.spend));
}

// Where not all that was planned is counted: which part of the budget was for what is.
std::string budget_part(const Readout& readout) {
  if (!readout.budget_of_all || std::abs(*readout.budget / *readout.budget_of_all - 1.0) < 1e-9) return "";
  return fmt::format(", the part of {} that was planned for the units counted here,",
                     Wording(readout.words).money_total(*readout.budget_of_all));
}

}  // namespace

std::string status_of(const Interval& gain) {
  if (gain.low > 0.0) return "launch";
  return gain.high < 0.0 ? "loses" : "not_shown";
}

Verdict readout_verdict(const Readout& readout) {
  const Interval& gain = readout.incremental_revenue;
  Verdict verdict;
  const Wording wording(readout.words);
  verdict.status = status_of(readout.incremental_profit.value_or(gain));
  const std::string in_all = fmt::format("{} {}", signed_text(gain.value, false, wording), range_text(gain));
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
  if (readout.launches.size() > 1) verdict.details.push_back(launches_sentence(readout));
  const Interval& ratio = readout.per_unit.return_per_cost;
  if (!std::isfinite(ratio.value)) {
    verdict.details.emplace_back("A return is not defined: no more was spent than on the hold-out.");
  } else {
    const std::string range = ratio.has_ends() ? " " + interval_text(ratio.low, ratio.high) : "";
    verdict.details.push_back(fmt::format("Each unit of extra cost returned {}{} of extra revenue{}.",
                                          number_text(ratio.value), range,
                                          ratio.has_ends() ? "" : "; no interval: the extra cost may be zero"));
  }
  if (readout.planned_incremental || readout.evaluated_incremental)
    verdict.details.push_back(promised_sentence(readout));
  if (readout.budget) {
    const double share = readout.total_spend / *readout.budget - 1.0;
    verdict.details.push_back(
        fmt::format("Spend was {} against a budget of {}{}{}.", wording.money_total(readout.total_spend),
                    wording.money_total(*readout.budget), budget_part(readout),
                    std::isfinite(share) ? fmt::format(" ({})", signed_percent_text(share)) : ""));
  }
  if (readout.next_multiplier) {
    const Interval& next = *readout.next_multiplier;
    const std::string was = number_text(*readout.multiplier);
    const bool stays = number_text(next.low) == was && number_text(next.high) == was;
    verdict.details.push_back(fmt::format(
        "{}{}",
        stays ? fmt::format("The multiplier to use next is the same, {}.", was)
              : fmt::format("The multiplier to use next is {} {}; it was {}.", number_text(next.value),
                            interval_text(next.low, next.high), was),
        readout.elasticity_is_assumed ? " The plan does not say how spend answers to it: in proportion is assumed."
                                      : ""));
  }
  for (const std::string& warning : readout.warnings) verdict.details.push_back(warning + ".");
  return verdict;
}

std::string holdout_sentence(const Readout& readout) {
  return fmt::format("Hold-out: {} of {}, {} against {} as designed (p = {}).", count_text(readout.units_per_role[1]),
                     Wording(readout.words).count(readout.units), percent_text(readout.holdout_found),
                     percent_text(readout.holdout_share), p_value_text(readout.holdout_p_value));
}

std::vector<Table> readout_tables(const Readout& readout) {
  std::vector<Table> tables = {summary_table(readout)};
  if (readout.launches.size() > 1) tables.push_back(launches_table(readout));
  tables.push_back(arms_table(readout));
  if (!readout.crossings.empty()) tables.push_back(crossings_table(readout));
  if (!readout.explored.empty()) tables.push_back(explored_table(readout));
  return tables;
}

std::vector<Figure> readout_figures(const Readout& readout) {
  std::vector<Figure> figures;
  if (readout.launches.size() > 1) figures.push_back(launches_figure(readout));
  figures.push_back(spend_figure(readout));
  return figures;
}

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
