// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dfcl/core/error.h"
#include "dfcl/core/parallel.h"

namespace dfcl::forest {
namespace {

constexpr std::size_t kChunkUnits = 4 * kTileUnits;

struct ArmSums {
  double weight = 0.0;
  double revenue = 0.0;
  double cost = 0.0;
  double mean_revenue() const { return revenue / weight; }
  double mean_cost() const { return cost / weight; }
};

// The mean of a normal variable with this mean and standard deviation, given that it is positive.
double mean_if_positive(double mean, double deviation) {
  if (!(deviation > 0.0)) return std::max(mean, 0.0);
  const double ratio = mean / deviation;
  const double above = 0.5 * std::erfc(-ratio / std::numbers::sqrt2);
  if (above < 1e-12) return deviation / std::max(1.0, -ratio);  // far below zero: the tail's own mean
  return mean + deviation * std::exp(-0.5 * ratio * ratio) / std::sqrt(2.0 * std::numbers::pi) / above;
}

// From psi of each tree, in the order of the trees, to a variance.
class GroupVariance {
 public:
  void add_group(std::span<const double> psi) {
    double sum = 0.0;
    for (const double value : psi) {
      sum += value;
      squares_ += value * value / static_cast<double>(psi.size());
    }
    const double mean = sum / static_cast<double>(psi.size());
    group_squares_ += mean * mean;
    ++groups_;
  }
  double variance() const {
    const auto groups = static_cast<double>(groups_);
    const double between = group_squares_ / groups;
    const double chance = (squares_ / groups - between) / static_cast<double>(kGroupTrees - 1);
    return mean_if_positive(between - chance, std::max(between, chance) * std::sqrt(2.0 / groups));
  }

 private:
  double squares_ = 0.0;
  double group_squares_ = 0.0;
  std::size_t groups_ = 0;
};

}  // namespace

// A tile of units: their bins, and where each tree put them.
struct ForestRunner::Tile {
  Tile(const Forest& forest, bool keeps_leaves)
      : bins(kTileUnits * forest.bins.size()),
        leaves(keeps_leaves ? kTileUnits * forest.num_trees() : 0),
        arms(kTileUnits * forest.num_arms) {}
  std::vector<std::uint8_t> bins;     // units x features
  std::vector<std::uint32_t> leaves;  // trees x units, where they are needed again
  std::vector<ArmSums> arms;          // units x arms, summed over trees
};

void ForestRunner::walk(const ForestUnits& units, std::size_t begin, std::size_t end, Tile& tile) const {
  const std::size_t num_features = forest_.bins.size();
  const std::size_t num_arms = forest_.num_arms;
  const std::size_t count = end - begin;
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t row = units.rows.empty() ? begin + place : units.rows[begin + place];
    const float* values = units.features.row(row).data();
    for (std::size_t feature = 0; feature < num_features; ++feature)
      tile.bins[place * num_features + feature] = forest_.bins[feature].bin_of(values[feature]);
  }
  std::fill(tile.arms.begin(), tile.arms.end(), ArmSums{});
  for (std::size_t tree = 0; tree < forest_.num_trees(); ++tree) {
    for (std::size_t place = 0; place < count; ++place) {
      if (!units.seen_key.empty() &&
          part_of(forest_.seed, forest_.subsample, tree, units.seen_key[begin + place]) != Part::out)
        continue;
      const std::uint32_t leaf =
          trees::leaf_of(forest_.nodes, forest_.sets, forest_.roots[tree], tile.bins.data() + place * num_features);
      if (!tile.leaves.empty()) tile.leaves[tree * kTileUnits + place] = leaf;
      const LeafArm* found = forest_.leaves.data() + leaf * num_arms;
      ArmSums* sums = tile.arms.data() + place * num_arms;
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        sums[arm].weight += static_cast<double>(found[arm].weight);
        sums[arm].revenue += static_cast<double>(found[arm].revenue);
        sums[arm].cost += static_cast<double>(found[arm].cost);
      }
    }
  }
  for (std::size_t i = 0; i < count * num_arms; ++i) {  // an arm that no tree knows of here: its overall mean
    if (tile.arms[i].weight > 0.0) continue;
    const LeafArm& all = forest_.overall[i % num_arms];
    tile.arms[i] = {std::max(1e-30, static_cast<double>(all.weight)), static_cast<double>(all.revenue),
                    static_cast<double>(all.cost)};
  }
}

void ForestRunner::predict_unit(const Tile& tile, std::size_t place, double base_revenue, double base_cost,
                                float* revenue, float* cost) const {
  const std::size_t num_arms = forest_.num_arms;
  std::array<double, 256> weights, revenues, costs;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const ArmSums& sums = tile.arms[place * num_arms + arm];
    weights[arm] = sums.weight;
    const double extra_revenue = sums.mean_revenue();
    const double extra_cost = sums.mean_cost();
    revenues[arm] = forest_.revenue_link == Link::ratio
                        ? std::max(base_revenue, forest_.least_base_revenue) * std::max(0.0, 1.0 + extra_revenue)
                        : base_revenue + extra_revenue;
    costs[arm] = forest_.cost_link == Link::ratio
                     ? std::max(base_cost, forest_.least_base_cost) * std::max(0.0, 1.0 + extra_cost)
                     : base_cost + extra_cost;
  }
  apply_rules(revenue_rules_, forest_.control, std::span(weights).first(num_arms), std::span(revenues).first(num_arms));
  apply_rules(cost_rules_, forest_.control, std::span(weights).first(num_arms), std::span(costs).first(num_arms));
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    revenue[arm] = static_cast<float>(revenues[arm]);
    cost[arm] = static_cast<float>(costs[arm]);
  }
}

void ForestRunner::errors_of_unit(const Tile& tile, std::size_t place, double base_revenue, double base_cost,
                                  float* revenue, float* cost) const {
  const std::size_t num_arms = forest_.num_arms;
  const ArmSums* all = tile.arms.data() + place * num_arms;
  std::vector<GroupVariance> revenue_variance(num_arms), cost_variance(num_arms);
  std::vector<double> psi_revenue(num_arms * kGroupTrees), psi_cost(num_arms * kGroupTrees);
  const auto num_trees = static_cast<double>(forest_.num_trees());
  for (std::size_t first = 0; first + kGroupTrees <= forest_.num_trees(); first += kGroupTrees) {
    for (std::size_t k = 0; k < kGroupTrees; ++k) {
      const std::uint32_t leaf = tile.leaves[(first + k) * kTileUnits + place];
      const LeafArm* found = forest_.leaves.data() + leaf * num_arms;
      for (std::size_t arm = 0; arm < num_arms; ++arm) {  // deviation of the arm's mean, linearised
        const double weight = static_cast<double>(found[arm].weight);
        const double scale = num_trees / all[arm].weight;
        psi_revenue[arm * kGroupTrees + k] =
            (static_cast<double>(found[arm].revenue) - all[arm].mean_revenue() * weight) * scale;
        psi_cost[arm * kGroupTrees + k] =
            (static_cast<double>(found[arm].cost) - all[arm].mean_cost() * weight) * scale;
      }
    }
    for (std::size_t arm = 0; arm < num_arms; ++arm) {
      std::array<double, kGroupTrees> effect_revenue, effect_cost;
      for (std::size_t k = 0; k < kGroupTrees; ++k) {
        effect_revenue[k] = psi_revenue[arm * kGroupTrees + k] - psi_revenue[forest_.control * kGroupTrees + k];
        effect_cost[k] = psi_cost[arm * kGroupTrees + k] - psi_cost[forest_.control * kGroupTrees + k];
      }
      revenue_variance[arm].add_group(effect_revenue);
      cost_variance[arm].add_group(effect_cost);
    }
  }
  const double revenue_unit =
      forest_.revenue_link == Link::ratio ? std::max(base_revenue, forest_.least_base_revenue) : 1.0;
  const double cost_unit = forest_.cost_link == Link::ratio ? std::max(base_cost, forest_.least_base_cost) : 1.0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const bool is_control = arm == forest_.control;
    revenue[arm] = is_control ? 0.0f : static_cast<float>(revenue_unit * std::sqrt(revenue_variance[arm].variance()));
    cost[arm] = is_control ? 0.0f : static_cast<float>(cost_unit * std::sqrt(cost_variance[arm].variance()));
  }
}

void ForestRunner::predict(const ForestUnits& units, core::MatrixView<float> revenue, core::MatrixView<float> cost,
                           core::RunContext& context) const {
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    Tile tile(forest_, false);
    for (std::size_t first = begin; first < end; first += kTileUnits) {
      const std::size_t last = std::min(end, first + kTileUnits);
      walk(units, first, last, tile);
      for (std::size_t unit = first; unit < last; ++unit)
        predict_unit(tile, unit - first, static_cast<double>(units.base_revenue[unit]),
                     static_cast<double>(units.base_cost[unit]), revenue.row(unit).data(), cost.row(unit).data());
    }
  });
}

void require_groups(const Forest& forest) {
  if (forest.num_trees() >= 2 * kGroupTrees) return;
  throw core::Error({.kind = core::ErrorKind::usage,
                     .what = "a forest of too few trees to tell its uncertainty",
                     .found = std::to_string(forest.num_trees()) + " trees",
                     .expected = std::to_string(2 * kGroupTrees) + " or more",
                     .hint = "train with " + core::field_name("forest.trees", "256")});
}

void ForestRunner::standard_errors(const ForestUnits& units, core::MatrixView<float> revenue,
                                   core::MatrixView<float> cost, core::RunContext& context) const {
  require_groups(forest_);
  ForestUnits of_all_trees = units;
  of_all_trees.seen_key = {};
  core::for_each_chunk(context, units.size(), kChunkUnits, [&](std::size_t begin, std::size_t end, std::size_t) {
    Tile tile(forest_, true);
    for (std::size_t first = begin; first < end; first += kTileUnits) {
      const std::size_t last = std::min(end, first + kTileUnits);
      walk(of_all_trees, first, last, tile);
      for (std::size_t unit = first; unit < last; ++unit)
        errors_of_unit(tile, unit - first, static_cast<double>(units.base_revenue[unit]),
                       static_cast<double>(units.base_cost[unit]), revenue.row(unit).data(), cost.row(unit).data());
    }
  });
}

}  // namespace dfcl::forest
