// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/power_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {
namespace {

using launch::GainNeed;

Wording wording_of(const PowerFigures& figures) {
  data::ReportWords words;
  words.currency = figures.currency;
  words.unit = figures.unit;
  words.revenue_is_money = figures.revenue_is_money;
  return Wording(words);
}

std::string relative_text(const PowerFigures& figures, double gain) {
  return figures.pair.revenue_a > 0.0 ? fmt::format("{:.2f} %", 100.0 * gain / figures.pair.revenue_a) : "";
}

std::string units_text(double units) {
  constexpr double kMost = 1e15;  // counts are exact below it
  return units < kMost ? count_text(static_cast<std::size_t>(units)) : "more than " + count_text(1'000'000'000'000'000);
}

// What a gain of revenue is worth; "" where that is not known.
std::string worth_text(const PowerFigures& figures, double gain) {
  return figures.value_per_revenue ? wording_of(figures).money(*figures.value_per_revenue * gain) : "";
}

Table needs_table(const PowerFigures& figures) {
  Table table{"next_trial",
              fmt::format("Units that the next trial needs, for a gain to be found with {:.0f} % probability",
                          100.0 * figures.levels.power),
              "A trial like this one: every unit gets a random arm, and both plans are valued on the same rows.",
              {"gain per " + figures.unit, "relative", "rows looked at"},
              {}};
  if (figures.split_share < 1.0) table.columns.emplace_back("whole trial");
  if (figures.has_trial) table.columns.emplace_back("or a launch, half each");
  if (figures.value_per_revenue) table.columns.emplace_back("worth of the gain");
  for (const GainNeed& need : power_needs(figures)) {
    std::vector<std::string> row = {wording_of(figures).revenue(need.gain), relative_text(figures, need.gain),
                                    units_text(need.rows)};
    if (figures.split_share < 1.0) row.push_back(units_text(need.trial_units));
    if (figures.has_trial) row.push_back(units_text(need.launch_units));
    if (figures.value_per_revenue) row.push_back(worth_text(figures, need.gain));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table trial_table(const PowerFigures& figures) {
  const launch::PlanPair& pair = figures.pair;
  Table table{"this_trial", "What this trial can show", "", {"figure", "value"}, {}};
  table.rows.push_back({fmt::format("rows looked at ({})", figures.split), count_text(pair.units)});
  if (figures.budget_per_unit > 0.0)
    table.rows.push_back({"budget per " + figures.unit, wording_of(figures).money(figures.budget_per_unit)});
  table.rows.push_back({pair.plans_are_known ? wording_of(figures).units() + " that get other arms"
                                             : wording_of(figures).units() + " that get other arms (assumed)",
                        percent_text(pair.differing)});
  table.rows.push_back({"sd of the difference, per " + figures.unit, number_text(pair.sd)});
  if (pair.plans_are_known) {
    table.rows.push_back({fmt::format("{} over {}, per {}", figures.name_b, figures.name_a, figures.unit),
                          fmt::format("{} {}", number_text(pair.difference.value),
                                      interval_text(pair.difference.low, pair.difference.high))});
  }
  table.rows.push_back({"smallest gain it can show, per " + figures.unit,
                        fmt::format("{} ({})", wording_of(figures).revenue(smallest_gain_of(figures)),
                                    relative_text(figures, smallest_gain_of(figures)))});
  if (figures.value_per_revenue)
    table.rows.push_back({"what that gain is worth, before its cost", worth_text(figures, smallest_gain_of(figures))});
  return table;
}

Table arms_table(const PowerFigures& figures) {
  Table table{"arms",
              fmt::format("Each arm against control: the least effect found with {:.0f} % probability",
                          100.0 * figures.levels.power),
              "Of the mean revenue per unit, for each arm alone; no correction for their number.",
              {"arm", "rows", "least effect", "relative to control", "difference here", "interval"},
              {}};
  if (figures.value_per_revenue) {
    table.columns.insert(table.columns.end(), {"extra cost", "breaks even at", "ROI here, %"});
    table.note += " An arm that breaks even at less than the least effect may pay back without this trial showing it.";
  }
  for (const launch::ArmPower& arm : figures.arms) {
    table.rows.push_back({arm.arm, count_text(arm.units), number_text(arm.least_effect),
                          figures.control_revenue > 0.0
                              ? fmt::format("{:.2f} %", 100.0 * arm.least_effect / figures.control_revenue)
                              : "",
                          number_text(arm.difference.value), interval_text(arm.difference.low, arm.difference.high)});
    if (!figures.value_per_revenue) continue;
    const double worth = *figures.value_per_revenue;
    const bool costs = arm.extra_cost > 0.0;
    table.rows.back().push_back(number_text(arm.extra_cost));
    table.rows.back().push_back(number_text(arm.extra_cost / worth));
    table.rows.back().push_back(
        costs ? fmt::format("{:.1f}", 100.0 * (worth * arm.difference.value / arm.extra_cost - 1.0)) : "");
  }
  return table;
}

Table holdout_table(const PowerFigures& figures) {
  Table table{
      "holdout",
      fmt::format("How large a hold-out must be, in a launch of {} {}", units_text(figures.launch_units),
                  wording_of(figures).units()),
      figures.pair.plans_are_known
          ? "The hold-out gets control, the rest the first plan; their mean revenue is compared."
          : "The hold-out gets control, the rest a plan; revenue is taken to vary as in the arm where it varies "
            "most.",
      {"gain over control", "hold-out", wording_of(figures).units() + " held out", "or a launch of at least"},
      {}};
  for (const launch::HoldoutNeed& need : figures.holdouts) {
    const bool is_enough = !std::isnan(need.share);
    table.rows.push_back({number_text(need.gain), is_enough ? percent_text(need.share) : "none is enough",
                          is_enough ? units_text(need.units) : "", units_text(need.least_launch)});
  }
  return table;
}

Figure power_figure(const PowerFigures& figures) {
  Figure figure{"power",
                "Probability to find a gain, by the size of the trial",
                "Rows that are looked at; two-sided test.",
                "rows",
                "probability",
                "log",
                "line",
                {}};
  for (const double gain : figures.gains) {
    FigureSeries series{fmt::format("gain of {} per unit", number_text(gain)), {}};
    for (const launch::PowerPoint& point : launch::power_curve(figures.pair.sd, gain, figures.levels))
      series.points.push_back({point.rows, {point.power}});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace

double smallest_gain_of(const PowerFigures& figures) {
  return launch::smallest_gain(figures.pair.sd, static_cast<double>(figures.pair.units), figures.levels);
}

std::vector<GainNeed> power_needs(const PowerFigures& figures) {
  std::vector<GainNeed> needs;
  for (const double gain : figures.gains)
    needs.push_back(launch::gain_need(figures.pair, gain, figures.split_share, figures.levels));
  return needs;
}

Verdict power_verdict(const PowerFigures& figures) {
  Verdict verdict{"not_shown", "", {}};
  if (figures.has_trial) {
    verdict.sentence = fmt::format(
        "With its {} rows{} this trial finds a gain of {} of revenue per {} ({}) with {:.0f} % probability; smaller "
        "ones it mostly misses.",
        count_text(figures.pair.units), figures.split == "all" ? "" : fmt::format(" ({})", figures.split),
        wording_of(figures).revenue(smallest_gain_of(figures)), figures.unit,
        relative_text(figures, smallest_gain_of(figures)), 100.0 * figures.levels.power);
  }
  const std::vector<GainNeed> needs = power_needs(figures);
  if (!needs.empty()) {
    const std::string sentence =
        fmt::format("To find a gain of {} per {}, the next trial needs {} test rows.",
                    wording_of(figures).revenue(needs.front().gain), figures.unit, units_text(needs.front().rows));
    if (verdict.sentence.empty()) {
      verdict.sentence = sentence;
    } else {
      verdict.details.push_back(sentence);
    }
  }
  return verdict;
}

std::vector<Table> power_tables(const PowerFigures& figures) {
  if (!figures.has_trial) return {needs_table(figures)};
  std::vector<Table> tables = {trial_table(figures), needs_table(figures), arms_table(figures)};
  if (!figures.holdouts.empty()) tables.push_back(holdout_table(figures));
  return tables;
}

std::vector<Figure> power_figures(const PowerFigures& figures) { return {power_figure(figures)}; }

std::vector<std::string> power_sentences() {
  return {
      "A unit tells something about the difference of two plans only where they give it other arms; the standard "
      "deviation of the paired doubly robust difference per unit says how much.",
      "Rows needed are ((z of the level + z of the power) x sd / gain) squared: normal theory, good from a few "
      "thousand rows on.",
      "The launch compares two halves that get a plan each: nothing is paired, so it needs more units where plans "
      "agree on most of them.",
      "An arm against control compares their mean revenue; a hold-out of share h in a launch of N units finds a gain "
      "of z "
      "standard errors, the root of (variance under control / h + variance under the plan / (1 - h)) / N."};
}

}  // namespace dfcl::report
