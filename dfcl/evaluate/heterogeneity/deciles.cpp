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

// Rows ranked by a score, each with the arm whose effect is looked at. Used again for every ranking.
struct Ranked {
  explicit Ranked(std::size_t size)
      : score(size), arm(size), predicted(size), predicted_cost(size), revenue(size), cost(size) {}
  std::vector<double> score;
  std::vector<std::uint8_t> arm;
  std::vector<double> predicted;       // uplift of that arm
  std::vector<double> predicted_cost;  // likewise, over control
  std::vector<double> revenue;         // estimated effects
  std::vector<double> cost;
};

// The sum over rows of what body(row, sums) adds to sums.
template <class Sums, class Body, class Add>
Sums sum_rows(const Setting& setting, const Sums& none, Body&& body, Add&& add) {
  return core::sum_chunks(
      setting.context, setting.num_rows(), kFigureRows, none,
      [&](std::size_t begin, std::size_t end) {
        Sums sums = none;
        for (std::size_t row = begin; row < end; ++row) body(row, sums);
        return sums;
      },
      add);
}

template <class ArmAndScore>
void rank_by(const Setting& setting, const JudgedModel& model, Ranked& ranked, ArmAndScore&& arm_and_score) {
  const std::size_t control = setting.input.rows.arms.control;
  core::for_each_chunk(setting.context, setting.num_rows(), kFigureRows,
                       [&](std::size_t begin, std::size_t end, std::size_t) {
                         for (std::size_t row = begin; row < end; ++row) {
                           const auto [arm, score] = arm_and_score(row);
                           ranked.arm[row] = static_cast<std::uint8_t>(arm);
                           ranked.score[row] = score;
                           const auto over_control = [&](core::MatrixView<const float> outcome) {
                             return static_cast<double>(outcome(row, arm)) - static_cast<double>(outcome(row, control));
                           };
                           ranked.predicted[row] = over_control(model.prediction.revenue);
                           ranked.predicted_cost[row] = over_control(model.prediction.cost);
                           const Effect effect = setting.effects.of(row, arm);
                           ranked.revenue[row] = effect.revenue;
                           ranked.cost[row] = effect.cost;
                         }
                       });
}

void rank_by_arm(const Setting& setting, const JudgedModel& model, std::size_t arm, Ranked& ranked) {
  const std::size_t control = setting.input.rows.arms.control;
  rank_by(setting, model, ranked, [&](std::size_t row) {
    return std::pair(arm, static_cast<double>(model.prediction.revenue(row, arm)) -
                              static_cast<double>(model.prediction.revenue(row, control)));
  });
}

// By the net score of the best treated arm.
void rank_by_plan(const Setting& setting, const JudgedModel& model, double multiplier, Ranked& ranked) {
  const TrialRows& rows = setting.input.rows;
  const std::size_t control = rows.arms.control;
  rank_by(setting, model, ranked, [&](std::size_t row) {
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
void set_differences_in_means(const Setting& setting, std::span<const std::uint32_t> decile, std::size_t arm,
                              std::vector<UpliftDecile>& deciles) {
  const TrialRows& rows = setting.input.rows;
  struct Sums {
    double units[2] = {0.0, 0.0};  // control, treated
    double weight[2] = {0.0, 0.0};
    double mean[2] = {0.0, 0.0};
  };
  const auto side = [&](std::size_t row) {
    return rows.arm[row] == arm ? 1 : rows.arm[row] == rows.arms.control ? 0 : -1;
  };
  std::vector<Sums> sums = sum_rows(
      setting, std::vector<Sums>(deciles.size()),
      [&](std::size_t row, std::vector<Sums>& part) {
        const int one = side(row);
        if (one < 0) return;
        Sums& own = part[decile[row]];
        own.units[one] += 1.0;
        own.weight[one] += rows.total_weight(row);
        own.mean[one] += rows.total_weight(row) * static_cast<double>(rows.revenue[row]);
      },
      [](std::vector<Sums>& total, const std::vector<Sums>& part) {
        for (std::size_t i = 0; i < total.size(); ++i) {
          for (int one : {0, 1}) {
            total[i].units[one] += part[i].units[one];
            total[i].weight[one] += part[i].weight[one];
            total[i].mean[one] += part[i].mean[one];
          }
        }
      });
  for (Sums& own : sums) {
    for (int one : {0, 1}) own.mean[one] /= own.weight[one];
  }
  // The error of a sum of influences is that of their mean times their number. Means count rows by sample weight.
  std::vector<std::uint32_t> labels(rows.size());
  const std::vector<double> influence = values_of_rows(rows, setting.context, [&](std::size_t row) {
    const int one = side(row);
    labels[row] = one < 0 ? kNoLabel : decile[row];
    if (one < 0) return 0.0;
    const Sums& own = sums[decile[row]];
    const double few = rows.cluster.empty() ? std::sqrt(own.units[one] / (own.units[one] - 1.0)) : 1.0;
    const double of_mean =
        rows.weight[row] * (static_cast<double>(rows.revenue[row]) - own.mean[one]) / own.weight[one];
    return (one == 1 ? few : -few) * of_mean;
  });
  const std::vector<LabelMean> spread = label_means(rows, labels, deciles.size(), influence, setting.context);
  for (std::size_t i = 0; i < deciles.size(); ++i) {
    const auto count = static_cast<double>(spread[i].num_units);
    const double few = rows.cluster.empty() ? std::sqrt((count - 1.0) / count) : 1.0;  // counted above, by arm
    deciles[i].difference_in_means = core::normal_interval(
        sums[i].mean[1] - sums[i].mean[0], few * spread[i].error * spread[i].weight, setting.options.level);
  }
}

Interval slope_of(const Setting& setting, const Ranked& ranked) {
  const TrialRows& rows = setting.input.rows;
  const auto count = static_cast<double>(rows.size());
  struct Sums {
    double first = 0.0, second = 0.0, third = 0.0;
  };
  const auto add = [](Sums& total, const Sums& part) {
    total.first += part.first;
    total.second += part.second;
    total.third += part.third;
  };
  const Sums means = sum_rows(
      setting, Sums{},
      [&](std::size_t row, Sums& part) {
        part.first += rows.sample_weight(row) * ranked.predicted[row] / count;
        part.second += rows.sample_weight(row) * ranked.revenue[row] / count;
      },
      add);
  const double predicted = means.first;
  const double estimated = means.second;
  const Sums products = sum_rows(
      setting, Sums{},
      [&](std::size_t row, Sums& part) {
        const double deviation = ranked.predicted[row] - predicted;
        const double units = rows.sample_weight(row);
        part.first += units * (deviation * deviation);
        part.second += units * deviation * ranked.revenue[row];
        part.third += units * (ranked.predicted[row] * ranked.predicted[row]);
      },
      add);
  const double squares = products.first;
  constexpr double kNoSpread = 1e-12;
  if (!(squares > kNoSpread * products.third)) return {};
  const double slope = products.second / squares;
  const std::vector<double> influence = values_of_rows(rows, setting.context, [&](std::size_t row) {
    const double deviation = ranked.predicted[row] - predicted;
    const double rest = ranked.revenue[row] - estimated - slope * deviation;
    return rows.sample_weight(row) * deviation * rest / squares;
  });
  return core::normal_interval(slope, error_of_sums(rows, influence, setting.context), setting.options.level);
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
  const std::vector<LabelMean> uplift = label_means(rows, decile, kDeciles, ranked.revenue, setting.context);
  const std::vector<LabelMean> costs = label_means(rows, decile, kDeciles, ranked.cost, setting.context);
  figures.deciles.resize(kDeciles);
  for (std::size_t i = 0; i < kDeciles; ++i) {
    UpliftDecile& own = figures.deciles[i];
    own.num_units = uplift[i].num_units;
    own.uplift = core::normal_interval(uplift[i].mean, uplift[i].error, level);
    own.cost = setting.knows_prices() ? Interval(in_price_digits(costs[i].mean))
                                      : core::normal_interval(costs[i].mean, costs[i].error, level);
  }
  struct Predicted {
    double revenue[kDeciles] = {};
    double cost[kDeciles] = {};
  };
  const Predicted predicted = sum_rows(
      setting, Predicted{},
      [&](std::size_t row, Predicted& part) {
        const double units = rows.sample_weight(row);
        part.revenue[decile[row]] += units * ranked.predicted[row];
        part.cost[decile[row]] += units * ranked.predicted_cost[row];
      },
      [](Predicted& total, const Predicted& part) {
        for (std::size_t i = 0; i < kDeciles; ++i) {
          total.revenue[i] += part.revenue[i];
          total.cost[i] += part.cost[i];
        }
      });
  for (std::size_t i = 0; i < kDeciles; ++i) {
    figures.predicted += predicted.revenue[i] / static_cast<double>(rows.size());
    figures.deciles[i].predicted = predicted.revenue[i] / uplift[i].weight;
    figures.deciles[i].predicted_cost = in_float_digits(predicted.cost[i] / uplift[i].weight);
  }
  const LabelMean all = mean_of_all(rows, ranked.revenue, setting.context);
  figures.uplift = core::normal_interval(all.mean, all.error, level);
  figures.calibration_slope = slope_of(setting, ranked);
  const Words& words = setting.options.words;
  figures.sentence =
      fmt::format("The tenth with the most predicted uplift gains {}, the last {}; {}.",
                  range_words(figures.deciles.front().uplift, words), range_words(figures.deciles.back().uplift, words),
                  slope_words(figures.calibration_slope, words));
  return figures;
}

struct Planned {
  double treated[kDeciles] = {};
  double units[kDeciles] = {};
};

// Units by decile, and those of them whose score says to treat.
Planned planned_share(const Setting& setting, const Ranked& ranked, std::span<const std::uint32_t> decile) {
  const TrialRows& rows = setting.input.rows;
  return sum_rows(
      setting, Planned{},
      [&](std::size_t row, Planned& part) {
        part.treated[decile[row]] += ranked.score[row] > 0.0 ? rows.sample_weight(row) : 0.0;
        part.units[decile[row]] += rows.sample_weight(row);
      },
      [](Planned& total, const Planned& part) {
        for (std::size_t i = 0; i < kDeciles; ++i) {
          total.treated[i] += part.treated[i];
          total.units[i] += part.units[i];
        }
      });
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
  std::vector<std::uint32_t> decile(scores.size());
  if (!sample.empty()) {
    const std::vector<std::uint32_t> order = order_falling(scores, {}, context);
    const double total = std::accumulate(sample.begin(), sample.end(), 0.0);
    double before = 0.0;
    for (const std::uint32_t row : order) {
      const double middle = (before + 0.5 * sample[row]) / total * static_cast<double>(kDeciles);
      decile[row] = std::min(static_cast<std::uint32_t>(middle), static_cast<std::uint32_t>(kDeciles - 1));
      before += sample[row];
    }
    return decile;
  }
  // No order of all rows is needed, only the first row of each decile.
  const std::size_t least = scores.size() / kDeciles;
  const std::size_t larger = scores.size() % kDeciles;  // deciles with one row more
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < kDeciles; ++i) places.push_back(i * least + std::min(i, larger));
  const std::vector<std::uint32_t> first = rows_at_places(scores, places, context);
  core::for_each_chunk(context, scores.size(), kFigureRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    double bound[kDeciles - 1];
    for (std::size_t i = 0; i + 1 < kDeciles; ++i) bound[i] = scores[first[i]];
    for (std::size_t row = begin; row < end; ++row) {
      const double score = scores[row];
      std::uint32_t own = 0;
      for (std::size_t i = 0; i + 1 < kDeciles; ++i)
        own += static_cast<std::uint32_t>(score < bound[i]) |
               static_cast<std::uint32_t>((score == bound[i]) & (row >= first[i]));
      decile[row] = own;
    }
  });
  return decile;
}

std::vector<UpliftFigures> uplift_figures(const Setting& setting, const JudgedModel& model, const ModelRun& run,
                                          const std::vector<ArmAreas>& areas) {
  const TrialRows& rows = setting.input.rows;
  std::vector<UpliftFigures> all;
  if (rows.size() < 2 * kDeciles || model.is_index) return all;
  Ranked ranked(rows.size());
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (arm == rows.arms.control) continue;
    rank_by_arm(setting, model, arm, ranked);
    const std::vector<std::uint32_t> decile = deciles_of(ranked.score, rows.sample, setting.context);
    UpliftFigures& figures = all.emplace_back(figures_of(setting, ranked, decile));
    figures.arm = rows.arms.labels[arm];
    set_differences_in_means(setting, decile, arm, figures.deciles);
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
    rank_by_plan(setting, model, multiplier, ranked);
    const std::vector<std::uint32_t> decile = deciles_of(ranked.score, rows.sample, setting.context);
    UpliftFigures& figures = all[first + setting.budget_order[i]];
    figures = figures_of(setting, ranked, decile);
    figures.budget_per_unit = setting.budgets[i];
    const Planned planned = planned_share(setting, ranked, decile);
    for (std::size_t d = 0; d < kDeciles; ++d) figures.deciles[d].planned = planned.treated[d] / planned.units[d];
  }
  return all;
}

}  // namespace dfcl::evaluate
