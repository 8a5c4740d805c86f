// SPDX-License-Identifier: Apache-2.0
#include "dfcl/evaluate/heterogeneity/segment_effects.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dfcl/evaluate/heterogeneity/effect_scores.h"
#include "dfcl/evaluate/heterogeneity/figure_influences.h"
#include "dfcl/evaluate/verdict.h"

namespace dfcl::evaluate {
namespace {

// A way to part the rows.
struct Partition {
  SegmentEffects figures;              // with the values' names
  std::vector<std::uint32_t> segment;  // per row
  std::size_t first_figure = 0;        // of its first segment and arm
};

std::vector<Partition> partitions_of(const Setting& setting) {
  std::vector<Partition> all;
  all.push_back({{"", "all", {{"all units", 0, 0.0, {}}}, {}}, std::vector<std::uint32_t>(setting.num_rows()), 0});
  for (const SegmentColumn& column : setting.input.segments) {
    Partition& partition = all.emplace_back(Partition{{column.name, "column", {}, {}}, column.value_of_row, 0});
    for (const std::string& value : column.values) partition.figures.values.push_back({value, 0, 0.0, {}});
  }
  if (setting.input.segment_tree && setting.input.segment_tree->tree.leaves.size() > 1) {
    const LeafRows& tree = *setting.input.segment_tree;
    Partition& partition = all.emplace_back(
        Partition{{"", "tree", {}, tree.tree.nodes}, {tree.leaf_of_row.begin(), tree.leaf_of_row.end()}, 0});
    for (const std::string& leaf : tree.tree.leaves) partition.figures.values.push_back({leaf, 0, 0.0, {}});
  }
  return all;
}

std::vector<std::size_t> treated_arms(const TrialRows& rows) {
  std::vector<std::size_t> treated;
  for (std::size_t arm = 0; arm < rows.num_arms(); ++arm) {
    if (arm != rows.arms.control) treated.push_back(arm);
  }
  return treated;
}

// Units and mean effects of every segment and arm.
void set_means(const Setting& setting, const std::vector<std::size_t>& treated, Partition& partition) {
  const TrialRows& rows = setting.input.rows;
  std::vector<SegmentEffect>& values = partition.figures.values;
  std::vector<std::vector<std::size_t>> units(values.size(), std::vector<std::size_t>(rows.num_arms()));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ++values[partition.segment[row]].num_units;
    ++units[partition.segment[row]][rows.arm[row]];
    values[partition.segment[row]].share += rows.sample_weight(row);
  }
  for (std::size_t v = 0; v < values.size(); ++v) {
    values[v].share /= static_cast<double>(rows.size());
    for (const std::size_t arm : treated) {
      ArmEffect& effect = values[v].arms.emplace_back();
      effect.arm = rows.arms.labels[arm];
      effect.num_treated = units[v][arm];
      effect.num_control = units[v][rows.arms.control];
      const bool is_enough = std::min(effect.num_treated, effect.num_control) >= kLeastSegmentUnits;
      effect.answer = is_enough ? "not_shown" : "too_few";
    }
  }
  for (std::size_t i = 0; i < treated.size(); ++i) {
    const std::vector<double> revenue_of = values_of_rows(
        rows, setting.context, [&](std::size_t row) { return setting.effects.of(row, treated[i]).revenue; });
    const std::vector<double> cost_of = values_of_rows(
        rows, setting.context, [&](std::size_t row) { return setting.effects.of(row, treated[i]).cost; });
    const std::vector<LabelMean> revenue =
        label_means(rows, partition.segment, values.size(), revenue_of, setting.context);
    const std::vector<LabelMean> cost = label_means(rows, partition.segment, values.size(), cost_of, setting.context);
    for (std::size_t v = 0; v < values.size(); ++v) {
      ArmEffect& effect = values[v].arms[i];
      if (effect.answer == "too_few") continue;
      effect.revenue = core::normal_interval(revenue[v].mean, revenue[v].error, setting.options.level);
      effect.cost = setting.knows_prices() ? Interval(in_price_digits(cost[v].mean))
                                           : core::normal_interval(cost[v].mean, cost[v].error, setting.options.level);
    }
  }
}

// How all figures move together.
FigureCovariance covariance_of_all(const Setting& setting, const std::vector<std::size_t>& treated,
                                   const std::vector<Partition>& partitions, std::size_t num_figures) {
  const TrialRows& rows = setting.input.rows;
  const auto influences = [&](std::size_t row, const AddInfluence& add) {
    for (std::size_t i = 0; i < treated.size(); ++i) {
      const double effect = setting.effects.of(row, treated[i]).revenue;
      for (const Partition& partition : partitions) {
        const SegmentEffect& own = partition.figures.values[partition.segment[row]];
        if (own.arms[i].answer == "too_few") continue;
        add(partition.first_figure + partition.segment[row] * treated.size() + i,
            rows.sample_weight(row) * (effect - own.arms[i].revenue.value) /
                (own.share * static_cast<double>(rows.size())));
      }
    }
  };
  return covariance_of(rows, num_figures, influences, setting.context);
}

}  // namespace

std::vector<SegmentEffects> segment_effects(const Setting& setting) {
  const std::vector<std::size_t> treated = treated_arms(setting.input.rows);
  std::vector<Partition> partitions = partitions_of(setting);
  std::size_t num_figures = 0;
  for (Partition& partition : partitions) {
    set_means(setting, treated, partition);
    partition.first_figure = num_figures;
    num_figures += partition.figures.values.size() * treated.size();
  }
  const FigureCovariance covariance = covariance_of_all(setting, treated, partitions, num_figures);
  std::vector<bool> counted(num_figures);
  for (const Partition& partition : partitions) {
    for (std::size_t v = 0; v < partition.figures.values.size(); ++v) {
      for (std::size_t i = 0; i < treated.size(); ++i)
        counted[partition.first_figure + v * treated.size() + i] =
            partition.figures.values[v].arms[i].answer != "too_few";
    }
  }
  const double critical = covariance.critical(counted, setting.options.level, setting.context);
  std::vector<SegmentEffects> all;
  for (Partition& partition : partitions) {
    for (std::size_t v = 0; v < partition.figures.values.size(); ++v) {
      for (std::size_t i = 0; i < treated.size(); ++i) {
        ArmEffect& effect = partition.figures.values[v].arms[i];
        if (effect.answer == "too_few") continue;
        const double error = covariance.error(partition.first_figure + v * treated.size() + i);
        effect.simultaneous_low = effect.revenue.value - critical * error;
        effect.simultaneous_high = effect.revenue.value + critical * error;
        effect.answer = answer_of(effect.simultaneous_low, effect.simultaneous_high);
      }
    }
    all.push_back(std::move(partition.figures));
  }
  return all;
}

}  // namespace dfcl::evaluate
