// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/power_report.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/evaluation/results_frame.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using nlohmann::ordered_json;

double smallest(const PowerFigures& figures) {
  return launch::smallest_gain(figures.pair.sd, static_cast<double>(figures.pair.units), figures.levels);
}

std::string relative_text(const PowerFigures& figures, double gain) {
  return figures.pair.revenue_a > 0.0 ? fmt::format("{:.2f} %", 100.0 * gain / figures.pair.revenue_a) : "";
}

std::string units_text(double units) { return count_text(static_cast<std::size_t>(units)); }

// One gain that the next trial is to show.
struct Need {
  double gain = 0.0;
  double rows = 0.0;    // that are looked at
  double trial = 0.0;   // whole trial, with the rows that train
  double launch = 0.0;  // 0: not known
};

std::vector<Need> needs_of(const PowerFigures& figures) {
  std::vector<Need> needs;
  for (const double gain : figures.gains) {
    Need need{gain, launch::units_needed(figures.pair.sd, gain, figures.levels), 0.0, 0.0};
    need.trial = std::ceil(need.rows / figures.split_share);
    if (figures.has_trial) need.launch = launch::launch_units_needed(figures.pair, gain, figures.levels);
    needs.push_back(need);
  }
  return needs;
}

PlainTable needs_table(const PowerFigures& figures) {
  PlainTable table{"next_trial",
                   fmt::format("Units that the next trial needs, for a gain to be found with {:.0f} % probability",
                               100.0 * figures.levels.power),
                   "A trial like this one: every unit gets a random arm, and both plans are valued on the same rows.",
                   {"gain per unit", "relative", "rows looked at"},
                   {}};
  if (figures.split_share < 1.0) table.columns.emplace_back("whole trial");
  if (figures.has_trial) table.columns.emplace_back("or a launch, half each");
  for (const Need& need : needs_of(figures)) {
    std::vector<std::string> row = {number_text(need.gain), relative_text(figures, need.gain), units_text(need.rows)};
    if (figures.split_share < 1.0) row.push_back(units_text(need.trial));
    if (figures.has_trial) row.push_back(units_text(need.launch));
    table.rows.push_back(std::move(row));
  }
  return table;
}

PlainTable trial_table(const PowerFigures& figures) {
  const launch::PlanPair& pair = figures.pair;
  PlainTable table{"this_trial", "What this trial can show", "", {"figure", "value"}, {}};
  table.rows.push_back({fmt::format("rows looked at ({})", figures.split), count_text(pair.units)});
  if (figures.budget_per_unit > 0.0) table.rows.push_back({"budget per unit", number_text(figures.budget_per_unit)});
  table.rows.push_back({pair.plans_are_known ? "units to which the plans give other arms"
                                             : "units to which plans give other arms, assumed",
                        percent_text(pair.differing)});
  table.rows.push_back({"sd of the paired difference, per unit", number_text(pair.sd)});
  if (pair.plans_are_known) {
    table.rows.push_back({fmt::format("{} over {}, per unit", figures.name_b, figures.name_a),
                          fmt::format("{} {}", number_text(pair.difference.value),
                                      interval_text(pair.difference.low, pair.difference.high))});
  }
  table.rows.push_back({"smallest gain it can show, per unit", fmt::format("{} ({})", number_text(smallest(figures)),
                                                                           relative_text(figures, smallest(figures)))});
  return table;
}

Verdict verdict_of(const PowerFigures& figures) {
  Verdict verdict{"not_shown", "", {}};
  if (figures.has_trial) {
    verdict.sentence = fmt::format(
        "With its {} rows{} this trial finds a gain of {} of revenue per unit ({}) with {:.0f} % probability; smaller "
        "ones it mostly misses.",
        count_text(figures.pair.units), figures.split == "all" ? "" : fmt::format(" ({})", figures.split),
        number_text(smallest(figures)), relative_text(figures, smallest(figures)), 100.0 * figures.levels.power);
  }
  const std::vector<Need> needs = needs_of(figures);
  if (!needs.empty()) {
    const std::string sentence = fmt::format("To find a gain of {} per unit, the next trial needs {} rows to look at.",
                                             number_text(needs.front().gain), units_text(needs.front().rows));
    if (verdict.sentence.empty()) {
      verdict.sentence = sentence;
    } else {
      verdict.details.push_back(sentence);
    }
  }
  return verdict;
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
    const double needed = launch::units_needed(figures.pair.sd, gain, figures.levels);
    for (int step = -8; step <= 8; ++step) {
      const double rows = std::round(needed * std::pow(10.0, 0.15 * step));
      series.points.push_back({rows, {launch::power_of(figures.pair.sd, rows, gain, figures.levels.level)}});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

ordered_json power_object(const PowerFigures& figures) {
  const launch::PlanPair& pair = figures.pair;
  ordered_json json = {{"power", figures.levels.power},
                       {"level", figures.levels.level},
                       {"sd", pair.sd},
                       {"next_trial", ordered_json::array()}};
  for (const Need& need : needs_of(figures)) {
    ordered_json row = {
        {"gain", need.gain},
        {"relative_gain", number_json(pair.revenue_a > 0.0 ? need.gain / pair.revenue_a : std::nan(""))},
        {"rows", need.rows},
        {"trial_units", need.trial}};
    if (figures.has_trial) row["launch_units"] = need.launch;
    json["next_trial"].push_back(std::move(row));
  }
  if (!figures.has_trial) return json;
  json["this_trial"] = {{"rows", pair.units},
                        {"split", figures.split},
                        {"plans_are_known", pair.plans_are_known},
                        {"differing", pair.differing},
                        {"revenue_per_unit", pair.revenue_a},
                        {"difference", interval_json(pair.difference)},
                        {"smallest_gain", smallest(figures)},
                        {"smallest_relative_gain",
                         number_json(pair.revenue_a > 0.0 ? smallest(figures) / pair.revenue_a : std::nan(""))}};
  return json;
}

}  // namespace

std::string power_text(const PowerFigures& figures) {
  const Verdict verdict = verdict_of(figures);
  std::string text = wrap(verdict.sentence, 0) + "\n";
  for (const std::string& detail : verdict.details) text += "  " + wrap(detail, 2) + "\n";
  if (figures.has_trial) text += "\n" + table_text(trial_table(figures));
  return text + "\n" + table_text(needs_table(figures));
}

std::string power_json(const PowerFigures& figures, const data::Provenance& provenance) {
  const Headings headings{figures.title.empty() ? "How large must a trial be?" : figures.title, figures.currency,
                          figures.revenue_name, figures.cost_name};
  ordered_json results = results_frame(provenance, headings, verdict_of(figures));
  results["level"] = figures.levels.level;
  results["power"] = power_object(figures);
  results["figures"] = {figure_json(power_figure(figures))};
  results["tables"] = ordered_json::array();
  if (figures.has_trial) results["tables"].push_back(table_json(trial_table(figures)));
  results["tables"].push_back(table_json(needs_table(figures)));
  results["how"] = {
      "A unit tells something about the difference of two plans only where they give it other arms; the standard "
      "deviation of the paired doubly robust difference per unit says how much.",
      "Rows needed are ((z of the level + z of the power) x sd / gain) squared: normal theory, good from a few "
      "thousand "
      "rows on.",
      "The launch compares two halves that get a plan each: nothing is paired, so it needs more units where plans "
      "agree "
      "on most of them."};
  return results.dump(2) + "\n";
}

}  // namespace dfcl::report
