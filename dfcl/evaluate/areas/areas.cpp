// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/areas/areas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/areas/qini.h"

namespace dfcl::evaluate {
namespace {

struct ArmScores {
  std::vector<double> rank;           // of the cost curve
  std::vector<double> extra_revenue;  // predicted, over control
  std::vector<std::uint8_t> treated;  // 1, 0, or 2 for other arms
};

ArmScores scores_of(const Setting& setting, const JudgedModel& model, std::size_t arm) {
  const TrialRows& rows = setting.input.rows;
  const std::size_t control = rows.arms.control;
  ArmScores scores{std::vector<double>(rows.size()), std::vector<double>(rows.size()),
                   std::vector<std::uint8_t>(rows.size())};
  core::for_each_chunk(setting.context, rows.size(), 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const double revenue = static_cast<double>(model.prediction.revenue(row, arm)) -
                             static_cast<double>(model.prediction.revenue(row, control));
      const double cost = static_cast<double>(model.prediction.cost(row, arm)) -
                          static_cast<double>(model.prediction.cost(row, control));
      scores.extra_revenue[row] = revenue;
      scores.rank[row] = rank_score(revenue, cost, setting.options.ranking);
      scores.treated[row] = rows.arm[row] == arm ? 1 : (rows.arm[row] == control ? 0 : 2);
    }
  });
  return scores;
}

std::string note_of(const ArmAreas& areas, const Setting& setting) {
  std::string note;
  const auto add = [&](const std::string& text) { note += (note.empty() ? "" : " ") + text; };
  if (areas.aucc.cost_total <= 0.0) add("The arm costs no more than control, so levels of cost mean nothing.");
  if (areas.aucc.revenue_total <= 0.0) add("The arm earns no more than control, so shares of its gain mean nothing.");
  if (areas.aucc.levels_missed > 0) {
    add(fmt::format("{} of {} levels were never reached and count as 0.", areas.aucc.levels_missed,
                    setting.options.num_levels));
  }
  if (areas.aucc.levels_caught_up > 0) {
    add(fmt::format("Single rows jumped over {} levels, which later rows caught up.", areas.aucc.levels_caught_up));
  }
  if (!setting.resamples()) {
    add("Intervals of areas need resamples.");
  } else if (!areas.totals_away_from_zero) {
    add("The arm's gain over control is not away from zero, so a share of it has no interval; see the unnormalised "
        "area.");
  }
  return note;
}

// Whether both totals, which all models share, are away from zero.
bool away_from_zero(const Aucc& aucc, const Series& revenue_total, const Series& cost_total) {
  const auto is_away = [](double total, const Series& series) {
    return std::abs(total) >= kAwayFromZero * standard_deviation(series, SeriesKind::resamples);
  };
  return is_away(aucc.revenue_total, revenue_total) && is_away(aucc.cost_total, cost_total);
}

// The cost curve at kCostPoints equal parts of its steps: what the first so many units of the ranking cost and earn
// over control. Rows that neither earned nor cost anything are no steps.
std::vector<RankedPoint> cost_curve(const CurveRows& curve_rows, const TrialRows& rows, core::RunContext& context) {
  constexpr std::size_t kCostPoints = 50;
  CurveRows weighted = curve_rows;
  std::vector<double> weights(rows.size());
  double weight[2] = {0.0, 0.0};  // control, treated
  for (std::size_t row = 0; row < rows.size(); ++row) {
    weights[row] = rows.total_weight(row);
    if (curve_rows.treated[row] <= 1) weight[curve_rows.treated[row]] += weights[row];
  }
  weighted.weight = weights;
  const std::vector<CurveStep> steps = curve_steps(weighted, rows, false, context);
  std::vector<RankedPoint> points = {{0.0, 0.0, 0.0}};
  RankedPoint sum;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool treated = curve_rows.treated[steps[i].row] == 1;
    const double share = treated ? 1.0 / weight[1] : -1.0 / weight[0];
    sum.x += share * steps[i].cost;
    sum.value += share * steps[i].revenue;
    const std::size_t part = (i + 1) * kCostPoints / steps.size();
    if (part != i * kCostPoints / steps.size()) points.push_back(sum);
  }
  const RankedPoint end = points.back();
  for (RankedPoint& point : points) point.random = end.x == 0.0 ? std::nan("") : point.x * end.value / end.x;
  return points;
}

ArmAreas areas_of_arm(const Setting& setting, const JudgedModel& model, std::size_t arm) {
  const TrialRows& rows = setting.input.rows;
  const ArmScores scores = scores_of(setting, model, arm);
  std::vector<double> total(rows.sample.size());
  for (std::size_t row = 0; row < total.size(); ++row) total[row] = rows.total_weight(row);
  const std::span<const double> weights = total.empty() ? std::span<const double>(rows.weight) : total;
  const std::span<const double> weight = rows.has_propensity || !total.empty() ? weights : std::span<const double>();
  const CurveRows curve_rows{scores.rank, scores.treated, rows.revenue, rows.cost, weight};
  ArmAreas areas;
  areas.arm = arm;
  areas.aucc = aucc(curve_rows, setting.options.num_levels, setting.context);
  const std::vector<QiniRow> ranked = qini_rows(rows, scores.extra_revenue, arm, setting.context);
  const QiniLanes point = qini_lanes(setting.ones, ranked);
  areas.qini = ranked_qini(ranked, scores.extra_revenue, setting.context);
  areas.qini_curve = qini_curve(ranked);
  areas.cost_curve = cost_curve(curve_rows, rows, setting.context);
  areas.perfect_qini = perfect_qini(ranked, setting.context);
  areas.auuc = point.auuc[0];
  if (setting.resamples()) {
    CurveRows weighted = curve_rows;
    weighted.weight = weights;  // as the totals of the blocks are
    const std::vector<CurveStep> steps = curve_steps(weighted, rows, areas.aucc.jumped, setting.context);
    const std::size_t size = setting.num_resamples();
    Series revenue_total(size);
    Series cost_total(size);
    for (Series* series :
         {&areas.published, &areas.area, &areas.unnormalised_area, &areas.qini_series, &areas.auuc_series}) {
      series->resize(size);
    }
    setting.for_each_block(
        [&](const ResampleBlock& block, const BlockTotals& totals, std::size_t first, std::size_t count) {
          const AuccLanes lanes = aucc_lanes(block, totals, steps, arm, rows.arms.control, setting.options.num_levels);
          const QiniLanes qini = qini_lanes(block, ranked);
          const auto note = [&](const Lanes& values, Series& series) {
            std::copy_n(values.begin(), count, series.begin() + static_cast<long>(first));
          };
          note(lanes.published, areas.published);
          note(lanes.area, areas.area);
          note(lanes.unnormalised_area, areas.unnormalised_area);
          note(lanes.revenue_total, revenue_total);
          note(lanes.cost_total, cost_total);
          note(qini.qini, areas.qini_series);
          note(qini.auuc, areas.auuc_series);
        });
    areas.totals_away_from_zero = away_from_zero(areas.aucc, revenue_total, cost_total);
  }
  areas.note = note_of(areas, setting);
  return areas;
}

}  // namespace

std::vector<ArmAreas> areas_of(const Setting& setting, const JudgedModel& model) {
  std::vector<ArmAreas> areas;
  if (!setting.options.areas) return areas;
  for (std::size_t arm = 0; arm < setting.input.rows.num_arms(); ++arm) {
    if (arm != setting.input.rows.arms.control) areas.push_back(areas_of_arm(setting, model, arm));
  }
  return areas;
}

AuccFigures aucc_figures(const Setting& setting, const ArmAreas& areas) {
  const double level = setting.options.level;
  AuccFigures figures;
  figures.arm = setting.input.rows.arms.labels[areas.arm];
  figures.levels = setting.options.num_levels;
  figures.published = Interval(areas.aucc.published);
  figures.area = Interval(areas.aucc.area);
  if (areas.totals_away_from_zero) {
    figures.published = percentile_interval(areas.aucc.published, areas.published, level);
    figures.area = percentile_interval(areas.aucc.area, areas.area, level);
  }
  figures.unnormalised_area = percentile_interval(areas.aucc.unnormalised_area, areas.unnormalised_area, level);
  figures.note = areas.note;
  return figures;
}

QiniFigures qini_figures(const Setting& setting, const ArmAreas& areas) {
  const double level = setting.options.level;
  const Interval area = percentile_interval(areas.qini, areas.qini_series, level);
  // The best area is taken as given: it hardly moves beside the model's own.
  const bool has_best = areas.perfect_qini > 0.0;
  return {setting.input.rows.arms.labels[areas.arm], has_best ? area.scaled(1.0 / areas.perfect_qini) : Interval(),
          area, percentile_interval(areas.auuc, areas.auuc_series, level)};
}

}  // namespace dfcl::evaluate
