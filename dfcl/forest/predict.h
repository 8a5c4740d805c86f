// SPDX-License-Identifier: Apache-2.0
//
// What a forest expects of units. For unit x, weight and weight x response of each arm are averaged over the leaves of
// x in all trees (every leaf a mean over its units, so that a tree counts once); the arm's response is the ratio of the
// two, and the outcome is base + response, or base x (1 + response) under the ratio link. For training units, trees
// that saw the unit can be left out (out of bag). Time: about 30 ns a unit and tree. Memory: 2 KB a unit of a tile,
// tiles of kTileUnits for each thread.
//
// Variance of the effects: trees of a group share a half of the data. With psi the linearised deviation of a tree's or
// a group's effect from the forest's, the mean of psi^2 over groups estimates the sampling variance plus the chance of
// having only kGroupTrees trees in a group; that part is known from the spread inside groups and taken off. What
// is left can come out near or below zero by chance, so the estimate is the mean of a normal variable about it that is
// known to be positive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/core/matrix.h"
#include "dfcl/core/run_context.h"
#include "dfcl/forest/arm_rules.h"
#include "dfcl/forest/forest.h"

namespace dfcl::forest {

inline constexpr std::size_t kTileUnits = 512;

// Units to predict for.
struct ForestUnits {
  core::MatrixView<const float> features;    // units x features
  std::span<const std::uint32_t> rows = {};  // the units among them; empty: all
  std::span<const float> base_revenue;       // m(x), one for each unit asked for
  std::span<const float> base_cost;
  // The keys by which training units were drawn (ForestData): trees that saw them are left out. Empty: no tree is.
  std::span<const std::uint64_t> seen_key = {};

  std::size_t size() const { return rows.empty() ? features.rows : rows.size(); }
};

// The base of a unit from predictions for every arm: their mean.
inline float base_of(std::span<const float> arms) {
  double sum = 0.0;
  for (const float value : arms) sum += static_cast<double>(value);
  return static_cast<float>(sum / static_cast<double>(arms.size()));
}

// Throws core::Error of kind usage where there are too few groups of trees to tell the uncertainty of effects.
void require_groups(const Forest& forest);

class ForestRunner {
 public:
  // The forest must outlive the runner.
  ForestRunner(const Forest& forest, ArmRules revenue_rules, ArmRules cost_rules)
      : forest_(forest), revenue_rules_(revenue_rules), cost_rules_(cost_rules) {}

  // revenue, cost: units x arms.
  void predict(const ForestUnits& units, core::MatrixView<float> revenue, core::MatrixView<float> cost,
               core::RunContext& context) const;

  // Standard errors of the arms' effects over control, in the currency of the outcome; 0 for control. Of the forest's
  // effects before any rules; the base counts as known. Of all trees, whatever the keys. Throws as require_groups.
  void standard_errors(const ForestUnits& units, core::MatrixView<float> revenue, core::MatrixView<float> cost,
                       core::RunContext& context) const;

 private:
  struct Tile;
  void walk(const ForestUnits& units, std::size_t begin, std::size_t end, Tile& tile) const;
  void predict_unit(const Tile& tile, std::size_t place, double base_revenue, double base_cost, float* revenue,
                    float* cost) const;
  void errors_of_unit(const Tile& tile, std::size_t place, double base_revenue, double base_cost, float* revenue,
                      float* cost) const;

  const Forest& forest_;
  ArmRules revenue_rules_;
  ArmRules cost_rules_;
};

}  // namespace dfcl::forest
