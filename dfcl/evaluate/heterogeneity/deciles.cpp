// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/deciles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dfcl/core/parallel.h"
#include "dfcl/evaluate/areas/ranking.h"
#include "dfcl/evaluate/heterogeneity/effect_scores.h"

namespace dfcl::evaluate {
namespace {

// Rows ranked by a score, each with the arm whose effect is looked at.
struct Ranked {
  std::vector<double> score;
  std::vector<std::uint8_t> arm;
  std::vector<double> predicted;       // uplift of that arm
  std::vector<double> predicted_cost;  // likewise, over control
};

Ranked ranked_by(const Setting& setting, const JudgedModel& model,
                 const std::function<std::pair<std::size_t, double>(std::size_t)>& arm_and_score) {
  const std::size_t size = setting.num_rows();
  const std::size_t control = setting.input.rows.arms.control;
  Ranked ranked{std::vector<double>(size), std::vector<std::uint8_t>(size), std::vector<double>(size),
                std::vector<double>(size)};
  core::for_each_chunk(setting.context, size, 16'384, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto [arm, score] = arm_and_score(row);
      ranked.arm[row] = static_cast<std::uint8_t>(arm);
      ranked.score[row] = score;
      const auto over_control = [&](core::MatrixView<const float> outcome) {
        return static_cast<double>(outcome(row, arm)) - static_cast<double>(outcome(row, control));
      };
      ranked.predicted[row] = over_control(model.prediction.revenue);
      ranked.predicted_cost[row] = over_control(model.prediction.cost);
    }
  });
  return ranked;
}

Ranked ranked_by_arm(const Setting& setting, const JudgedModel& model, std::size_t arm) {
  const std::size_t control = setting.input.rows.arms.control;
  return ranked_by(setting, model, [&](std::size_t row) {
    return std::pair(arm, static_cast<double>(model.prediction.revenue(row, arm)) -
                              static_cast<double>(model.prediction.revenue(row, control)));
  });
}

// By the net score of the best treated arm.
Ranked ranked_by_plan(const Setting& setting, const JudgedModel& model, double multiplier) {
  const TrialRows& rows = setting.input.rows;
  const std::size_t control = rows.arms.control;
  return ranked_by(setting, model, [&](std::size_t row) {
    std::pair<std::size_t, double> best{control, 0.0};
    for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
      if (arm == control) continue;
      const double revenue = static_cast<double>(model.prediction.revenue(row, arm)) -
                             static_cast<double>(model.prediction.revenue(row, control));
      const double cost = static_cast<double>(model.prediction.cost(row, arm)) -
                          static_cast<double>(model.prediction.cost(row, control));
      const double score = revenue - multiplier * cost;
      if (best.first == control || score > best.second) best = {arm, score};
    }
    return best;
  });
}

// Treated less control means inside each decile, weighted by 1 / propensity.
void set_differences_in_means(const TrialRows& rows, std::span<const std::uint32_t> decile, std::size_t arm,
                              double level, std::vector<UpliftDecile>& deciles, core::RunContext& context) {
  struct Sums {
    double units[2] = {0.0, 0.0};  // control, treated
    double weight[2] = {0.0, 0.0};
    double mean[2] = {0.0, 0.0};
  };
  std::vector<Sums> sums(deciles.size());
  const auto side = [&](std::size_t row) {
    return rows.arm[row] == arm ? 1 : rows.arm[row] == rows.arms.control ? 0 : -1;
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (side(row) < 0) continue;
    Sums& own = sums[decile[row]];
    own.units[side(row)] += 1.0;
    own.weight[side(row)] += rows.total_weight(row);
    own.mean[side(row)] += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
  }
  for (Sums& own : sums) {
    for (int one : {0, 1}) own.mean[one] /= own.weight[one];
  }
  std::vector<std::uint32_t> labels(rows.size(), kNoLabel);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (side(row) >= 0) labels[row] = decile[row];
  }
  // The error of a sum of influences is that of their mean times their number. Means count rows by sample weight.
  const auto influence_of_row = [&](std::size_t row) {
    const Sums& own = sums[decile[row]];
    const int one = side(row);
    const double few = rows.cluster.empty() ? std::sqrt(own.units[one] / (own.units[one] - 1.0)) : 1.0;
    const double influence =
        rows.weight[row] * (static_cast<double>(rows.revenue[row]) - own.mean[one]) / own.weight[one];
    return (one == 1 ? few : -few) * influence;
  };
  const std::vector<LabelMean> spread = label_means(rows, labels, deciles.size(), influence_of_row, context);
  for (std::size_t i = 0; i < deciles.size(); ++i) {
    const auto count = static_cast<double>(spread[i].num_units);
    const double few = rows.cluster.empty() ? std::sqrt((count - 1.0) / count) : 1.0;  // counted above, by arm
    deciles[i].difference_in_means =
        core::normal_interval(sums[i].mean[1] - sums[i].mean[0], few * spread[i].error * spread[i].weight, level);
  }
}

Interval slope_of(const Setting& setting, const Ranked& ranked) {
  const TrialRows& rows = setting.input.rows;
  const auto count = static_cast<double>(rows.size());
  double predicted = 0.0;
  double estimated = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    predicted += rows.sample_weight(row) * ranked.predicted[row] / count;
    estimated += rows.sample_weight(row) * setting.effects.of(row, ranked.arm[row]).revenue / count;
  }
  double squares = 0.0;
  double products = 0.0;
  double level_squares = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double deviation = ranked.predicted[row] - predicted;
    const double units = rows.sample_weight(row);
    squares += units * (deviation * deviation);
    products += units * deviation * setting.effects.of(row, ranked.arm[row]).revenue;
    level_squares += units * (ranked.predicted[row] * ranked.predicted[row]);
  }
  constexpr double kNoSpread = 1e-12;
  if (!(squares > kNoSpread * level_squares)) return {};
  const double slope = products / squares;
  std::vector<double> influence(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double deviation = ranked.predicted[row] - predicted;
    const double rest = setting.effects.of(row, ranked.arm[row]).revenue - estimated - slope * deviation;
    influence[row] = rows.sample_weight(row) * deviation * rest / squares;
  }
  return core::normal_interval(slope, error_of_sums(rows, std::move(influence), setting.context),
                               setting.options.level);
}

std::string range_words(const Interval& interval, const Words& words) {
  const std::string value = number_words(interval.value, words, 3);
  if (!interval.has_ends()) return value;
  return fmt::format("{} ({} to {})", value, number_words(interval.low, words, 3),
                     number_words(interval.high, words, 3));
}

std::string slope_words(const Interval& slope, const Words& words) {
  if (!slope.has_ends()) return "all predictions are the same, so there is no slope";
  std::string text = "slope of estimated on predicted uplift " + range_words(slope, words);
  if (slope.low > 0.0 && slope.low <= 1.0 && slope.high >= 1.0) return text + ": in line with 1, as predicted";
  if (slope.low > 1.0) return text + ": effects differ more than predicted";
  if (slope.high < 1.0 && slope.low > 0.0) return text + ": effects differ less than predicted";
  return text + ": no relation is shown";
}

UpliftFigures figures_of(const Setting& setting, const Ranked& ranked, const std::vector<std::uint32_t>& decile) {
  const TrialRows& rows = setting.input.rows;
  const double level = setting.options.level;
  UpliftFigures figures;
  const auto revenue = [&](std::size_t row) { return setting.effects.of(row, ranked.arm[row]).revenue; };
  const auto cost = [&](std::size_t row) { return setting.effects.of(row, ranked.arm[row]).cost; };
  const std::vector<LabelMean> uplift = label_means(rows, decile, kDeciles, revenue, setting.context);
  const std::vector<LabelMean> costs = label_means(rows, decile, kDeciles, cost, setting.context);
  figures.deciles.resize(kDeciles);
  for (std::size_t i = 0; i < kDeciles; ++i) {
    UpliftDecile& own = figures.deciles[i];
    own.num_units = uplift[i].num_units;
    own.uplift = core::normal_interval(uplift[i].mean, uplift[i].error, level);
    own.cost = setting.knows_prices() ? Interval(in_price_digits(costs[i].mean))
                                      : core::normal_interval(costs[i].mean, costs[i].error, level);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double units = rows.sample_weight(row);
    figures.deciles[decile[row]].predicted += units * ranked.predicted[row];
    figures.deciles[decile[row]].predicted_cost += units * ranked.predicted_cost[row];
    figures.predicted += units * ranked.predicted[row] / static_cast<double>(rows.size());
  }
  for (std::size_t i = 0; i < kDeciles; ++i) {
    figures.deciles[i].predicted /= uplift[i].weight;
    figures.deciles[i].predicted_cost = in_float_digits(figures.deciles[i].predicted_cost / uplift[i].weight);
  }
  const LabelMean all = mean_of_all(rows, revenue, setting.context);
  figures.uplift = core::normal_interval(all.mean, all.error, level);
  figures.calibration_slope = slope_of(setting, ranked);
  const Words& words = setting.options.words;
  figures.sentence =
      fmt::format("The tenth with the most predicted uplift gains {}, the last {}; {}.",
                  range_words(figures.deciles.front().uplift, words), range_words(figures.deciles.back().uplift, words),
                  slope_words(figures.calibration_slope, words));
  return figures;
}

// Curves are drawn, not computed with: seven digits keep reports small.
std::vector<RankedPoint> drawn(std::vector<RankedPoint> curve) {
  for (RankedPoint& point : curve)
    point = {in_float_digits(point.x), in_float_digits(point.value), in_float_digits(point.random)};
  return curve;
}

}  // namespace

std::vector<std::uint32_t> deciles_of(std::span<const double> scores, std::span<const double> sample,
                                      core::RunContext& context) {
  const std::vector<std::uint32_t> order = order_falling(scores, {}, context);
  std::vector<std::uint32_t> decile(order.size());
  if (!sample.empty()) {
    const double total = std::accumulate(sample.begin(), sample.end(), 0.0);
    double before = 0.0;
    for (const std::uint32_t row : order) {
      const double middle = (before + 0.5 * sample[row]) / total * static_cast<double>(kDeciles);
      decile[row] = std::min(static_cast<std::uint32_t>(middle), static_cast<std::uint32_t>(kDeciles - 1));
      before += sample[row];
    }
    return decile;
  }
  const std::size_t least = order.size() / kDeciles;
  const std::size_t larger = order.size() % kDeciles;  // deciles with one row more
  std::size_t place = 0;
  for (std::size_t i = 0; i < kDeciles; ++i) {
    for (std::size_t end = place + least + (i < larger ? 1 : 0); place < end; ++place)
      decile[order[place]] = static_cast<std::uint32_t>(i);
  }
  return decile;
}

std::vector<UpliftFigures> uplift_figures(const Setting& setting, const JudgedModel& model, const ModelRun& run,
                                          const std::vector<ArmAreas>& areas) {
  const TrialRows& rows = setting.input.rows;
  std::vector<UpliftFigures> all;
  if (rows.size() < 2 * kDeciles || model.is_index) return all;
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (arm == rows.arms.control) continue;
    const Ranked ranked = ranked_by_arm(setting, model, arm);
    const std::vector<std::uint32_t> decile = deciles_of(ranked.score, rows.sample, setting.context);
    UpliftFigures& figures = all.emplace_back(figures_of(setting, ranked, decile));
    figures.arm = rows.arms.labels[arm];
    set_differences_in_means(rows, decile, arm, setting.options.level, figures.deciles, setting.context);
    for (const ArmAreas& area : areas) {
      if (area.arm != arm) continue;
      figures.qini_curve = drawn(area.qini_curve);
      figures.cost_curve = drawn(area.cost_curve);
    }
  }
  const std::size_t first = all.size();
  all.resize(first + run.deployed.size());
  for (std::size_t i = 0; i < run.deployed.size(); ++i) {
    const double multiplier = run.deployed[i].cut.multiplier;
    const Ranked ranked = ranked_by_plan(setting, model, multiplier);
    const std::vector<std::uint32_t> decile = deciles_of(ranked.score, rows.sample, setting.context);
    UpliftFigures& figures = all[first + setting.budget_order[i]];
    figures = figures_of(setting, ranked, decile);
    figures.budget_per_unit = setting.budgets[i];
    std::vector<double> treated(kDeciles), units(kDeciles);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      treated[decile[row]] += ranked.score[row] > 0.0 ? rows.sample_weight(row) : 0.0;
      units[decile[row]] += rows.sample_weight(row);
    }
    for (std::size_t d = 0; d < kDeciles; ++d) figures.deciles[d].planned = treated[d] / units[d];
  }
  return all;
}

}  // namespace dfcl::evaluate
