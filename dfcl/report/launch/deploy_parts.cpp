// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/launch/deploy_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "dfcl/report/launch/readout_parts.h"
#include "dfcl/report/text/text_table.h"

namespace dfcl::report {
namespace {

using core::Interval;
using launch::Campaign;
using launch::DeployResult;
using launch::GroupResult;
using launch::WeekResult;

std::string overspend_text(const GroupResult& group) { return signed_percent_text(group.spend / group.budget - 1.0); }

std::vector<std::string> week_titles(const Campaign& campaign, const char* first, const char* last) {
  std::vector<std::string> titles = {first};
  for (const WeekResult& week : campaign.weeks)
    titles.push_back(fmt::format("week {}{}", week.week, week.days < launch::kDaysAWeek ? "*" : ""));
  titles.emplace_back(last);
  return titles;
}

// Revenue per unit of the reference in the first week: what all else is shown against.
double base_of(const DeployResult& result, const Campaign& campaign) {
  return campaign.weeks.front().groups[result.reference].revenue_per_unit.value;
}

Figure revenue_figure(const DeployResult& result, bool with_controller) {
  const Campaign& campaign = campaign_of(result, with_controller);
  const double base = base_of(result, campaign);
  Figure figure{"weekly_revenue",
                "Revenue by week",
                "Relative to the first group's first week; 95 % intervals.",
                "week",
                "revenue per unit, relative",
                "category",
                "line",
                {}};
  for (std::size_t method = 0; method < result.methods.size(); ++method) {
    FigureSeries series{result.methods[method], {}};
    for (const WeekResult& week : campaign.weeks)
      series.points.push_back({std::to_string(week.week), week.groups[method].revenue_per_unit.scaled(1.0 / base)});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

Figure spend_figure(const DeployResult& result) {
  Figure figure{"weekly_spend",
                "Spend by week, against the budget",
                "With and without the controller.",
                "week",
                "spend / budget",
                "category",
                "line",
                {}};
  for (const bool with_controller : {true, false}) {
    for (std::size_t method = 0; method < result.methods.size(); ++method) {
      FigureSeries series{fmt::format("{}, {}", result.methods[method], with_controller ? "controller" : "none"), {}};
      for (const WeekResult& week : campaign_of(result, with_controller).weeks)
        series.points.push_back({std::to_string(week.week), {week.groups[method].spend / week.groups[method].budget}});
      figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

// Who spent more than a tenth beside the budget: a gain at another spend is another thing.
std::string overspend_sentence(const DeployResult& result, const Campaign& campaign) {
  constexpr double kMost = 0.1;
  std::string text;
  for (std::size_t method = 0; method < result.methods.size(); ++method) {
    const GroupResult& group = campaign.total[method];
    if (std::abs(group.spend / group.budget - 1.0) <= kMost) continue;
    text += fmt::format("{}{} spent {} against the budget", text.empty() ? " Not at equal spend: " : ", ",
                        result.methods[method], overspend_text(group));
  }
  return text.empty() ? "" : text + ".";
}

}  // namespace

const Campaign& campaign_of(const DeployResult& result, bool with_controller) {
  return with_controller ? result.with_controller : result.without_controller;
}

Verdict deploy_verdict(const DeployResult& result, bool with_controller) {
  const Campaign& campaign = campaign_of(result, with_controller);
  Verdict verdict{"not_shown", "", {}};
  const std::string reference = result.methods[result.reference];
  std::size_t best = result.reference;
  for (std::size_t method = 0; method < result.methods.size(); ++method) {
    if (method == result.reference) continue;
    const Interval& gain = campaign.total[method].gain;
    if (best == result.reference || gain.value > campaign.total[best].gain.value) best = method;
    const std::string judged = gain.low > 0.0    ? "more than"
                               : gain.high < 0.0 ? "less than"
                                                 : "not shown to differ from";
    verdict.details.push_back(fmt::format("{}: {} {}: {}, at a spend of {} against the budget.", result.methods[method],
                                          judged, reference, percent_change_text(gain),
                                          overspend_text(campaign.total[method])));
  }
  if (best == result.reference) {
    verdict.sentence =
        fmt::format("Only {} was deployed, to simulated shops: there is nothing to compare it with.", reference);
    return verdict;
  }
  const Interval& gain = campaign.total[best].gain;
  verdict.status = status_of(gain);
  const char* const judged = gain.low > 0.0    ? "earned more than"
                             : gain.high < 0.0 ? "earned less than"
                                               : "is not shown to differ from";
  verdict.sentence = fmt::format("In {} simulated days with {} units, {} {} {}: {}.{}", result.days,
                                 count_text(result.units), result.methods[best], judged, reference,
                                 percent_change_text(gain), overspend_sentence(result, campaign));
  return verdict;
}

Table weeks_table(const DeployResult& result, bool with_controller) {
  const Campaign& campaign = campaign_of(result, with_controller);
  const double base = base_of(result, campaign);
  const std::string reference = result.methods[result.reference];
  Table table{"weeks",
              fmt::format("Revenue per unit and day, relative to {} in the first week, controller {}", reference,
                          with_controller ? "on" : "off"),
              "95 % intervals; the gain is over all weeks, with its interval.",
              week_titles(campaign, "method", ""),
              {}};
  table.columns.back() = "gain over " + reference;
  for (std::size_t method = 0; method < result.methods.size(); ++method) {
    std::vector<std::string> row = {result.methods[method]};
    for (const WeekResult& week : campaign.weeks) {
      const Interval relative = week.groups[method].revenue_per_unit.scaled(1.0 / base);
      row.push_back(fmt::format("{:.4f} ({:.4f} to {:.4f})", relative.value, relative.low, relative.high));
    }
    row.push_back(method == result.reference ? "" : percent_change_text(campaign.total[method].gain));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gains_table(const DeployResult& result, bool with_controller) {
  const Campaign& campaign = campaign_of(result, with_controller);
  Table table{"gains",
              fmt::format("Gain over {}, week by week", result.methods[result.reference]),
              "95 % intervals over units; a unit's days are not independent of each other.",
              week_titles(campaign, "method", "all weeks"),
              {}};
  for (std::size_t method = 0; method < result.methods.size(); ++method) {
    if (method == result.reference) continue;
    std::vector<std::string> row = {result.methods[method]};
    for (const WeekResult& week : campaign.weeks) row.push_back(percent_change_text(week.groups[method].gain));
    row.push_back(percent_change_text(campaign.total[method].gain));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table spend_table(const DeployResult& result) {
  Table table{
      "spend", "Spend against budget", "", week_titles(result.with_controller, "method, controller", "all weeks"), {}};
  for (const bool with_controller : {true, false}) {
    const Campaign& campaign = campaign_of(result, with_controller);
    for (std::size_t method = 0; method < result.methods.size(); ++method) {
      std::vector<std::string> row = {fmt::format("{}, {}", result.methods[method], with_controller ? "on" : "off")};
      for (const WeekResult& week : campaign.weeks) row.push_back(overspend_text(week.groups[method]));
      row.push_back(overspend_text(campaign.total[method]));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::vector<Figure> deploy_figures(const DeployResult& result, bool with_controller) {
  return {revenue_figure(result, with_controller), spend_figure(result)};
}

std::vector<std::string> deploy_sentences(const DeployResult& result, const data::Study& study) {
  return {fmt::format("Simulated: {} shops for {} days (response {}). Each day all are split at random into equal "
                      "groups, one a method; {:.3g} % get a random arm instead.",
                      count_text(result.units), result.days, study.deploy.response, 100.0 * study.deploy.explore),
          fmt::format("Each group has {} a unit and day to spend. Its model's predictions are allocated at the "
                      "multiplier that spends it, as predicted; the controller corrects that by what earlier days cost "
                      "and by what is left of the week.",
                      number_text(result.budget_per_unit)),
          fmt::format("Models are trained on random rows only: those of a trial before the test ({} shops a day for {} "
                      "days){}.",
                      count_text(static_cast<std::size_t>(study.deploy.trial_units)), study.deploy.trial_days,
                      study.deploy.retrain ? " and, anew each week, all that came since" : ""),
          "Both ways of control are played on the same units, groups and luck.",
          "Intervals are t-intervals over shops; the groups of a day are of other shops, so a gain holds chance in who "
          "was drawn."};
}

}  // namespace dfcl::report
