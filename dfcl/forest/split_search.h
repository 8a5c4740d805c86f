// SPDX-License-Identifier: Apache-2.0
//
// The best split of a node (gradient-based splitting of generalised random forests). At the node the effect of each arm
// on each outcome is solved for: the weighted mean response of the arm less that of control. A unit's pseudo-outcome
// for an effect is n times its influence on it: for a unit of the arm weight x (response - mean) / (weight of the arm),
// for one of control minus the same with control's mean and weight, 0 for the others. The split maximises
//   sum over arms and outcomes of (sum of pseudo-outcomes left)^2 / n_left + (the same right), each / their spread,
// that is, it looks for units whose effects differ, whatever the currency. Sums of pseudo-outcomes are linear in the
// sums of a histogram, so units are not visited again.
//
// Numbers are split at a bin; the units without a value go to the side that makes the better split (without any such
// unit in the node: to the larger side). Levels of a category, "missing" among them, are put in the order of their mean
// pseudo-outcome (summed over arms and outcomes, in units of the spread) and split in that order. What the order itself
// adds by chance is taken off: else a category of a hundred levels would win every node (docs/decisions/0064).
// Time: about 10 ns a bin that leaves enough units on both sides, 2 ns others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/forest/histogram.h"
#include "dfcl/forest/options.h"
#include "dfcl/trees/feature_bins.h"
#include "dfcl/trees/tree.h"

namespace dfcl::forest {

using trees::BinSet;
using trees::FeatureBins;

struct Split {
  double gain = 0.0;  // 0: no split is admissible or any good
  std::uint32_t feature = 0;
  BinSet left{};  // the bins that go left

  bool found() const { return gain > 0.0; }
  bool goes_left(std::uint8_t bin) const { return (left[bin >> 6] >> (bin & 63)) & 1; }
};

struct SplitLimits {
  std::size_t min_units = 1;          // on each side
  std::size_t min_units_per_arm = 1;  // likewise
};

// The limits for the splitting half of a node of num_units.
SplitLimits split_limits(const ForestOptions& options, std::size_t num_units);

class SplitSearch {
 public:
  // Both must outlive the search.
  SplitSearch(const std::vector<FeatureBins>& bins, const WorkingUnits& working);

  // Ties go to the earlier feature of the histogram and the lower bin.
  Split best_split(const Histogram& histogram, const SplitLimits& limits);

  // What a division of units is worth beyond chance: the criterion less what it would be on average if no effect
  // differed. Unbiased for units that did not choose the division. left and all: by arm.
  double excess_gain(std::span<const Sums> left, std::span<const Sums> all);

 private:
  // Four floats that belong to the four numbers of Sums.
  using FloatLanes [[gnu::vector_size(16)]] = float;

  void set_node(std::span<const Sums> sums, const SplitLimits& limits);
  double gain_of(std::size_t units_left) const;
  bool enough_per_arm() const;
  void add_bin(std::span<const Sums> sums, std::size_t bin);
  void split_number(std::span<const Sums> sums, std::uint32_t feature, bool missing_left, Split& best);
  void split_category(std::span<const Sums> sums, std::uint32_t feature, Split& best);
  double gain_by_order() const;
  double mean_pseudo_outcome(std::span<const Sums> sums, std::size_t bin) const;

  const std::vector<FeatureBins>& bins_;
  const WorkingUnits& working_;
  SplitLimits limits_;
  std::size_t num_units_ = 0;
  std::vector<Sums> total_;       // of the node, by arm
  std::vector<FloatLanes> mean_;  // of the responses, by arm
  std::vector<FloatLanes> inverse_weight_;
  std::vector<FloatLanes> inverse_spread_;
  std::vector<Sums> left_;  // of the bins on the left so far, by arm
  std::vector<std::size_t> units_in_bin_;
};

}  // namespace dfcl::forest
