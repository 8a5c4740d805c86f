// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/comparison/comparison_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "dfcl/report/text/text_table.h"
#include "dfcl/report/text/wording.h"

namespace dfcl::report {
namespace {

using compare::ComparisonEntry;
using compare::SeedEntry;
using compare::SeedFigure;
using core::Interval;

// Null where the entry has no such figure. budget NaN: the one over all budgets.
const SeedFigure* find(const SeedEntry& entry, const std::string& figure, double budget, const std::string& arm = "") {
  for (const SeedFigure& one : entry.figures) {
    const bool same_budget = one.budget_per_unit == budget || (std::isnan(one.budget_per_unit) && std::isnan(budget));
    if (one.figure == figure && same_budget && one.arm == arm) return &one;
  }
  return nullptr;
}

constexpr double kOverall = std::numeric_limits<double>::quiet_NaN();

std::string mean_text(const SeedFigure* figure, double scale, int digits) {
  if (figure == nullptr) return "";
  std::string text = fmt::format("{:.{}f}", figure->mean * scale, digits);
  if (std::isfinite(figure->sd)) text += fmt::format(" ({:.{}f})", figure->sd * scale, digits);
  return text;
}

std::string points_difference(const Interval& difference) {
  if (!std::isfinite(difference.value)) return "";
  std::string text = fmt::format("{:+.2f}", 100.0 * difference.value);
  if (std::isfinite(difference.low))
    text += fmt::format(" ({:+.2f} to {:+.2f})", 100.0 * difference.low, 100.0 * difference.high);
  return text;
}

const std::string& reference_of(const ComparisonReport& report) { return report.comparison.entries.front().name; }

// What stands in brackets, in words.
std::string seeds_note(const ComparisonReport& report) {
  const std::size_t seeds = report.comparison.seeds.size();
  if (seeds < 2) return "One training seed: no interval over training seeds.";
  return fmt::format(
      "One number in brackets is the standard deviation over {} training seeds; (a to b) is the {:.0f} % t-interval of "
      "the paired difference over training seeds, all on the same test units.",
      seeds, 100.0 * report.evaluation.evaluation.level);
}

// What the figures of a table or chart vary over, as its title begins.
std::string over_seeds(const ComparisonReport& report) {
  const std::size_t seeds = report.comparison.seeds.size();
  return seeds < 2 ? "One training seed" : fmt::format("Over training seeds (mean of {})", seeds);
}

std::string at_budgets(const ComparisonReport& report) {
  const std::vector<double>& budgets = report.evaluation.evaluation.budgets_per_unit;
  return budgets.size() == 1
             ? fmt::format("at a budget of {} per unit, relative to {}", number_text(budgets[0]), reference_of(report))
             : fmt::format("at each budget, relative to {} at the first", reference_of(report));
}

// Whether a share of the arm's gain means something for the model of the first seed: else it has no interval.
bool has_share(const ComparisonReport& report, const std::string& name, const std::string& arm) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  for (const evaluate::ModelFigures& model : evaluation.models) {
    for (const evaluate::AuccFigures& area : model.aucc) {
      if (model.name == name && area.arm == arm) return evaluation.num_resamples == 0 || std::isfinite(area.area.low);
    }
  }
  return true;
}

// Revenue of the reference's matched plan at the first budget: what published tables show all else against.
double base_of(const ComparisonReport& report) {
  const SeedFigure* first = find(report.comparison.over_seeds.front(), "matched_revenue",
                                 report.evaluation.evaluation.budgets_per_unit.front());
  return first == nullptr ? 1.0 : first->mean;
}

}  // namespace

Table deployed_table(const ComparisonReport& report) {
  const evaluate::Evaluation& evaluation = report.mean ? *report.mean : report.evaluation.evaluation;
  const Wording wording(report.evaluation.words);
  const bool shows_profit = evaluation.models.front().deployed.front().incremental_profit.has_value();
  const std::string what =
      shows_profit ? "profit" + wording.in_money() : report.evaluation.words.revenue_name + wording.in_revenue();
  Table table{
      "deployed",
      fmt::format("{} over control per {}, {}; 95 % intervals, each alone (the answers hold for all at once)", what,
                  wording.unit(),
                  report.mean ? fmt::format("{} seeds", report.comparison.seeds.size()) : std::string("one seed")),
      "",
      {"method"},
      {}};
  for (const double budget : evaluation.budgets_per_unit) table.columns.push_back("budget " + number_text(budget));
  for (const evaluate::ModelFigures& model : evaluation.models) {
    std::vector<std::string> row = {model.name};
    for (const evaluate::JudgedPlan& plan : model.deployed)
      row.push_back(wording.interval(shows_profit ? *plan.incremental_profit : plan.incremental_revenue));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string methods_sentence(const ComparisonReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  if (evaluation.models.size() < 2) return "";
  // At once over all models and budgets for units, and each difference for seeds.
  const auto sign_of = [](double low, double high) { return low > 0.0 ? 1 : high < 0.0 ? -1 : 0; };
  std::string shown;
  for (const evaluate::DifferenceFigures& difference : evaluation.differences) {
    int sign = sign_of(difference.simultaneous_low, difference.simultaneous_high);
    for (const SeedEntry& entry : report.comparison.over_seeds) {
      if (entry.name != difference.model || report.comparison.seeds.size() < 2) continue;
      const SeedFigure* figure = find(entry, "revenue", difference.budget_per_unit);
      if (figure == nullptr || sign_of(figure->difference.low, figure->difference.high) != sign) sign = 0;
    }
    if (sign == 0) continue;
    shown += fmt::format("{}{} earns {} than {} at {}", shown.empty() ? "" : "; ", difference.model,
                         sign > 0 ? "more" : "less", difference.reference, number_text(difference.budget_per_unit));
  }
  return shown.empty() ? fmt::format("No method is shown to earn more or less than {} at any of these budgets.",
                                     reference_of(report))
                       : fmt::format("Shown, over units{}: {}.",
                                     report.comparison.seeds.size() < 2 ? "" : " and training seeds", shown);
}

Table seeds_revenue_table(const ComparisonReport& report) {
  const std::vector<double>& budgets = report.evaluation.evaluation.budgets_per_unit;
  const std::string& reference = reference_of(report);
  Table table{"seeds-revenue",
              fmt::format("{}: {} {}", over_seeds(report), report.evaluation.words.revenue_name, at_budgets(report)),
              "Plans are cut where their evaluated cost meets the budget, as published. " + seeds_note(report),
              {"method"},
              {}};
  for (const double budget : budgets) table.columns.push_back("budget " + number_text(budget));
  table.columns.push_back("gain over " + reference);
  const double base = base_of(report);
  for (const SeedEntry& entry : report.comparison.over_seeds) {
    if (entry.figures.empty()) continue;
    std::vector<std::string> row = {entry.name};
    for (const double budget : budgets) row.push_back(mean_text(find(entry, "matched_revenue", budget), 1.0 / base, 4));
    const SeedFigure* gain = find(entry, "gain", kOverall);
    row.push_back(gain == nullptr ? "" : percent_change_text(gain->difference));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table seeds_quality_table(const ComparisonReport& report) {
  const std::vector<SeedEntry>& entries = report.comparison.over_seeds;
  Table table{"seeds-quality", over_seeds(report) + ": ranking and fit", seeds_note(report), {"method"}, {}};
  struct Column {
    std::string title, figure, arm;
    double scale;
    int digits;
  };
  const std::string& revenue = report.evaluation.words.revenue_name;
  const std::string& cost = report.evaluation.words.cost_name;
  std::vector<Column> columns = {{"of the best possible, %", "share_of_oracle", "", 100.0, 2}};
  for (const SeedFigure& figure : entries.front().figures) {
    if (figure.figure == "aucc") columns.push_back({"AUCC " + figure.arm, "aucc", figure.arm, 1.0, 4});
  }
  columns.push_back({"log loss of " + revenue, "revenue_log_loss", "", 1.0, 4});
  columns.push_back({"log loss of " + cost, "cost_log_loss", "", 1.0, 4});
  columns.push_back({"MSE of " + revenue, "revenue_mse", "", 1.0, 4});
  columns.push_back({"MSE of " + cost, "cost_mse", "", 1.0, 4});
  std::erase_if(columns, [&](const Column& column) {
    return find(entries.front(), column.figure, kOverall, column.arm) == nullptr;
  });
  const bool has_truth = !columns.empty() && columns.front().figure == "share_of_oracle";
  for (const Column& column : columns) table.columns.push_back(column.title);
  if (has_truth) table.columns.insert(table.columns.begin() + 2, fmt::format("less {}, points", reference_of(report)));
  bool all_shares = true;
  for (const SeedEntry& entry : entries) {
    if (entry.figures.empty()) continue;
    std::vector<std::string> row = {entry.name};
    for (const Column& column : columns) {
      const SeedFigure* figure = find(entry, column.figure, kOverall, column.arm);
      const bool shown = column.figure != "aucc" || has_share(report, entry.name, column.arm);
      all_shares = all_shares && shown;
      row.push_back(shown ? mean_text(figure, column.scale, column.digits) : "-");
      if (has_truth && column.figure == "share_of_oracle")
        row.push_back(figure == nullptr ? "" : points_difference(figure->difference));
    }
    table.rows.push_back(std::move(row));
  }
  if (!all_shares) table.note += " No AUCC (-) where the arm's gain over control is not away from zero.";
  return table;
}

Table differences_table(const ComparisonReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  Table table{"differences",
              fmt::format("Over test units: {} of deployed plans, difference from {}, first seed",
                          report.evaluation.words.revenue_name, reference_of(report)),
              evaluation.num_resamples == 0
                  ? "No intervals over test units without resamples."
                  : fmt::format("In brackets the {:.0f} % interval over test units, for each figure alone.",
                                100.0 * evaluation.level),
              {"method"},
              {}};
  for (const double budget : evaluation.budgets_per_unit) table.columns.push_back("budget " + number_text(budget));
  for (std::size_t model = 1; model < evaluation.models.size(); ++model) {
    std::vector<std::string> row = {evaluation.models[model].name};
    for (const evaluate::DifferenceFigures& difference : evaluation.differences) {
      if (difference.model != evaluation.models[model].name) continue;
      row.push_back(
          percent_change_text({difference.relative.value, difference.relative.low, difference.relative.high}));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table failures_table(const ComparisonReport& report) {
  Table table{"failures", "Not trained", "The same command tries them again.", {"method", "seed", "what happened"}, {}};
  for (const compare::TrainingFailure& failure : report.comparison.failures) {
    table.rows.push_back(
        {report.comparison.entries[failure.entry].name, std::to_string(failure.seed), failure.message});
  }
  return table;
}

Table times_table(const ComparisonReport& report, const std::vector<compare::TrainingTime>& times) {
  Table table{"times",
              "Training time",
              "Seconds for one model on the machine that made this; they are no part of results.json. +: the "
              "training had been stopped, and the time is that of its last part.",
              {"method", "models", "seconds, mean", "seconds, all"},
              {}};
  for (std::size_t entry = 0; entry < report.comparison.entries.size(); ++entry) {
    double total = 0.0;
    std::size_t count = 0;
    bool resumed = false;
    for (const compare::TrainingTime& time : times) {
      if (time.entry != entry) continue;
      total += time.seconds;
      ++count;
      resumed = resumed || time.resumed;
    }
    if (count == 0) continue;
    const char* more = resumed ? "+" : "";
    table.rows.push_back({report.comparison.entries[entry].name, std::to_string(count),
                          fmt::format("{:.1f}{}", total / static_cast<double>(count), more),
                          fmt::format("{:.1f}{}", total, more)});
  }
  return table;
}

Figure revenue_figure(const ComparisonReport& report) {
  const evaluate::Evaluation& evaluation = report.evaluation.evaluation;
  const std::string& revenue = report.evaluation.words.revenue_name;
  Figure figure{
      "revenue-by-budget",
      fmt::format("Over test units: {} {}, {}", revenue, at_budgets(report),
                  report.comparison.seeds.size() < 2 ? "one training seed" : "models of the first seed"),
      "Plans are cut where their evaluated cost meets the budget, as published. For these intervals over test units no "
      "coverage is claimed, because such plans look at the outcomes.",
      "budget per unit",
      fmt::format("{}, relative", revenue),
      "linear",
      "line",
      {}};
  if (evaluation.budgets_per_unit.size() == 1) figure.kind = "points";
  const double base = evaluation.models.front().matched.front().revenue.value;
  for (const evaluate::ModelFigures& model : evaluation.models) {
    FigureSeries series{model.name, {}};
    for (const evaluate::JudgedPlan& plan : model.matched) {
      series.points.push_back(
          {plan.budget_per_unit, {plan.revenue.value / base, plan.revenue.low / base, plan.revenue.high / base}});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

namespace {

// What sweeps are judged by: the share of the best possible increment where the truth is known, else the gain.
struct Measure {
  bool has_truth;
  double level;

  std::string label(const std::string& reference) const {
    return has_truth ? "share of the best possible increment" : "gain over " + reference;
  }
  static std::string note(const ComparisonReport& report) {
    return fmt::format("{}{} The line across is {}.",
                       report.evaluation.evaluation.budgets_per_unit.size() > 1 ? "Mean over the budgets. " : "",
                       report.comparison.seeds.size() < 2 ? "One training seed: no intervals over training seeds."
                                                          : "Intervals are t-intervals over training seeds.",
                       reference_of(report));
  }
  Interval overall(const SeedEntry& entry) const {
    const SeedFigure* figure = find(entry, has_truth ? "share_of_oracle" : "gain", kOverall);
    return figure == nullptr ? Interval{kOverall, kOverall, kOverall} : compare::mean_interval(*figure, level);
  }
  // A gain is over the reference, whose own is zero.
  Interval reference(const SeedEntry& entry) const {
    return has_truth ? overall(entry) : Interval{0.0, kOverall, kOverall};
  }
};

// The value of an alternative as a number; NaN where it is none.
double number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? number : kOverall;
}

// A series for each method over the values tried; the first is the reference, the same at every value.
Figure sweep_figure(const ComparisonReport& report, const std::string& key, const Measure& measure) {
  const std::vector<ComparisonEntry>& entries = report.comparison.entries;
  const std::vector<SeedEntry>& found = report.comparison.over_seeds;
  const std::string& reference = reference_of(report);
  bool numbers = true;
  bool positive = true;
  for (const ComparisonEntry& entry : entries) {
    if (entry.swept != key) continue;
    numbers = numbers && std::isfinite(number_of(entry.value));
    positive = positive && number_of(entry.value) > 0.0;
  }
  const bool named = key == "settings";
  Figure figure{"sweep-" + key,
                fmt::format("{}: {}", over_seeds(report), named ? "settings tried" : "values of " + key + " tried"),
                Measure::note(report),
                named ? "" : key,
                measure.label(reference),
                !numbers   ? "category"
                : positive ? "log"
                           : "linear",
                numbers ? "line" : "points",
                {{reference, {}}},
                true};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ComparisonEntry& entry = entries[i];
    if (found[i].figures.empty() || entry.swept != key) continue;
    const FigureX x = numbers ? FigureX(number_of(entry.value)) : FigureX(entry.value);
    std::vector<FigurePoint>& line = figure.series.front().points;
    if (std::none_of(line.begin(), line.end(), [&](const FigurePoint& point) { return point.x == x; }))
      line.push_back({x, measure.reference(found.front())});
    if (figure.series.size() == 1 || figure.series.back().name != entry.method)
      figure.series.push_back({entry.method, {}});
    figure.series.back().points.push_back({x, measure.overall(found[i])});
  }
  return figure;
}

}  // namespace

std::vector<Figure> sweep_figures(const ComparisonReport& report) {
  const SeedEntry& reference = report.comparison.over_seeds.front();
  const Measure measure{find(reference, "share_of_oracle", kOverall) != nullptr, report.evaluation.evaluation.level};
  std::vector<std::string> keys;
  for (const ComparisonEntry& entry : report.comparison.entries) {
    if (entry.is_alternative() && std::find(keys.begin(), keys.end(), entry.swept) == keys.end())
      keys.push_back(entry.swept);
  }
  std::vector<Figure> figures;
  for (const std::string& key : keys) figures.push_back(sweep_figure(report, key, measure));
  return figures;
}

}  // namespace dfcl::report
