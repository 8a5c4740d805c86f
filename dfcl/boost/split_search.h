// SPDX-License-Identifier: Apache-2.0
//
// The best split of a node by one column. A split gains the fall of the loss in second order:
//   gain = GL^2 / (HL + r) + GR^2 / (HR + r) - G^2 / (H + r),  G, H: sums of first and second derivatives, r: ridge.
// Numbers are cut between bins, units without a value go where the gain is larger. Categories are sorted by G / (H + s)
// and cut in that order (for a convex loss no other subset is better); s and a larger ridge keep small levels from
// deciding. Many levels, sorted by the units that judge them, gain by chance alone: there, one half of the units sorts
// and the other judges. A bin that no unit of the node is in goes to the heavier side.
// Where predictions must rise with the arm, the sides of a split by arm must have rising values, and whatever
// grows below them keeps within bounds (Bounds); values are then clamped, and gains are those of clamped values.
// Units of rare arms weigh more, so that fewer of them make up the same sum. Units of weights w are worth
// (sum w)^2 / sum w^2 equal ones, and a side needs at least a quarter of what it would need of equal ones. Since arms
// are drawn at random, sum w^2 / sum w of a node is taken to be that of its arms in all units of the fit.
// Time: about 1 microsecond for 255 bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "dfcl/boost/histogram.h"
#include "dfcl/trees/tree.h"

namespace dfcl::boost {

// Of a node's value -G / (H + r).
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool any() const {
    return low > -std::numeric_limits<double>::infinity() || high < std::numeric_limits<double>::infinity();
  }
  double clamp(double value) const { return value < low ? low : value > high ? high : value; }
};

// Of the units of an arm: sums of their weights and of the squares of these; the average unit of the fit weighs 1.
struct ArmWeight {
  double sum = 0.0;
  double squares = 0.0;
};

// In second derivatives of average units.
struct SplitRules {
  Steps steps;
  double ridge = 0.0;                           // added to second derivatives
  double least_hessian = 0.0;                   // of a side
  double level_smooth = 0.0;                    // s, of categories
  double level_ridge = 0.0;                     // added to the ridge of categories
  std::span<const ArmWeight> arm_weights = {};  // by bin of the arm; empty: all units weigh the same
};

enum class ColumnKind : std::uint8_t {
  number,
  category,
  arms,         // without an order: a category of few levels, each with many units
  graded_arms,  // a number
  rising_arms,  // a number, with which values rise
};

struct Split {
  double gain = 0.0;  // 0: there is none
  std::uint32_t column = 0;
  bool by_set = false;
  std::uint8_t last_left = 0;  // without a set: bins 1 to this one go left
  bool missing_left = false;   // bin 0
  trees::BinSet left = {};     // bins that go left
  Sum left_sum = 0;
};

inline constexpr std::size_t kFewLevels = 8;

struct SearchedNode {
  Sum total = 0;
  Bounds bounds = {};
  trees::BinSet arms = {~0ull, ~0ull, ~0ull, ~0ull};  // bins of the arms whose units can be in it
  double factor = 1.0;                                // of the rules, see rule_factor()
};

// By what the rules are multiplied for units of these arms: a quarter of sum w^2 / sum w, at least 1.
double rule_factor(const trees::BinSet& arms, const SplitRules& rules);

// -G / (H + r), within the bounds.
double node_value(const SearchedNode& node, const SplitRules& rules);

// histogram: of the column, with num_bins bins. half: the same of one half of the units, for categories of more than
// kFewLevels bins; else null.
Split best_split(const Sum* histogram, std::size_t num_bins, ColumnKind kind, const SearchedNode& node,
                 const SplitRules& rules, const Sum* half = nullptr);

}  // namespace dfcl::boost
