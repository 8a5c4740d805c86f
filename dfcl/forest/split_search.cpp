// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/split_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dfcl::forest {
namespace {

using IntLanes [[gnu::vector_size(16), gnu::may_alias]] = std::int32_t;

IntLanes& lanes(Sums& sums) { return reinterpret_cast<IntLanes&>(sums); }
const IntLanes& lanes(const Sums& sums) { return reinterpret_cast<const IntLanes&>(sums); }

void set_bin(BinSet& bins, std::size_t bin) { bins[bin >> 6] |= std::uint64_t{1} << (bin & 63); }

}  // namespace

SplitLimits split_limits(const ForestOptions& options, std::size_t num_units) {
  const auto balanced = static_cast<std::size_t>(std::ceil(options.balance * static_cast<double>(num_units)));
  return {std::max(least_of_part(options, options.min_leaf), balanced),
          least_of_part(options, options.min_leaf_per_arm)};
}

SplitSearch::SplitSearch(const std::vector<FeatureBins>& bins, const WorkingUnits& working)
    : bins_(bins),
      working_(working),
      total_(working.num_arms),
      mean_(working.num_arms),
      inverse_weight_(working.num_arms),
      inverse_spread_(working.num_arms),
      left_(working.num_arms) {
  for (std::size_t arm = 0; arm < working.num_arms; ++arm) {
    inverse_spread_[arm] = FloatLanes{static_cast<float>(working.inverse_spread[arm][0]),
                                      static_cast<float>(working.inverse_spread[arm][1]), 0.0f, 0.0f};
  }
}

void SplitSearch::set_node(std::span<const Sums> sums, const SplitLimits& limits) {
  const std::size_t num_arms = total_.size();
  std::fill(total_.begin(), total_.end(), Sums{});
  for (std::size_t i = 0; i < sums.size(); ++i) lanes(total_[i % num_arms]) += lanes(sums[i]);
  limits_ = limits;
  num_units_ = 0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const Sums& total = total_[arm];
    num_units_ += static_cast<std::size_t>(total.units);
    const double weight = std::max(1.0, static_cast<double>(total.weight));
    mean_[arm] =
        FloatLanes{static_cast<float>(total.revenue / weight), static_cast<float>(total.cost / weight), 0.0f, 0.0f};
    const auto inverse = static_cast<float>(1.0 / weight);
    inverse_weight_[arm] = FloatLanes{inverse, inverse, 0.0f, 0.0f};
  }
}

void SplitSearch::add_bin(std::span<const Sums> sums, std::size_t bin) {
  const std::size_t num_arms = left_.size();
  for (std::size_t arm = 0; arm < num_arms; ++arm) lanes(left_[arm]) += lanes(sums[bin * num_arms + arm]);
}

bool SplitSearch::enough_per_arm() const {
  const auto least = static_cast<std::int32_t>(limits_.min_units_per_arm);
  for (std::size_t arm = 0; arm < left_.size(); ++arm) {
    if (left_[arm].units < least || total_[arm].units - left_[arm].units < least) return false;
  }
  return true;
}

// The pseudo-outcomes of a node sum to zero, so those on the right are minus those on the left. n x influence, squared,
// needs the factor n^2.
double SplitSearch::gain_of(std::size_t units_left) const {
  const auto influence = [&](std::size_t arm) {
    const auto sums = __builtin_convertvector(lanes(left_[arm]), FloatLanes);
    return (sums - mean_[arm] * sums[2]) * inverse_weight_[arm];
  };
  const FloatLanes control = influence(working_.control);
  FloatLanes squares{};
  for (std::size_t arm = 0; arm < left_.size(); ++arm) {
    const FloatLanes effect = influence(arm) - control;
    squares += effect * effect * inverse_spread_[arm];  // control's own spread is 0
  }
  const auto all = static_cast<double>(num_units_);
  const auto left = static_cast<double>(units_left);
  return static_cast<double>(squares[0] + squares[1]) * all * all * (1.0 / left + 1.0 / (all - left));
}

void SplitSearch::split_number(std::span<const Sums> sums, std::uint32_t feature, bool missing_left, Split& best) {
  const std::size_t num_bins = units_in_bin_.size();
  std::fill(left_.begin(), left_.end(), Sums{});
  std::size_t units_left = 0;
  BinSet left{};
  if (missing_left) {
    add_bin(sums, 0);
    units_left = units_in_bin_[0];
    set_bin(left, 0);
  }
  // With values missing on the right the last bin may go left: then the split tells only who has a value.
  const std::size_t last = num_bins - (missing_left || units_in_bin_[0] == 0 ? 1 : 0);
  for (std::size_t bin = 1; bin < last; ++bin) {
    set_bin(left, bin);
    if (units_in_bin_[bin] == 0) continue;
    add_bin(sums, bin);
    units_left += units_in_bin_[bin];
    if (num_units_ - units_left < limits_.min_units) return;
    if (units_left < limits_.min_units || !enough_per_arm()) continue;
    const double gain = gain_of(units_left);
    if (gain <= best.gain) continue;
    best = {gain, feature, left};
    if (units_in_bin_[0] == 0 && 2 * units_left >= num_units_) set_bin(best.left, 0);
  }
}

double SplitSearch::mean_pseudo_outcome(std::span<const Sums> sums, std::size_t bin) const {
  const std::size_t num_arms = total_.size();
  const auto influence = [&](std::size_t arm) {
    const Sums& own = sums[bin * num_arms + arm];
    const auto floats = __builtin_convertvector(lanes(own), FloatLanes);
    return (floats - mean_[arm] * floats[2]) * inverse_weight_[arm];
  };
  const FloatLanes control = influence(working_.control);
  double total = 0.0;
  for (std::size_t arm = 0; arm < num_arms; ++arm) {
    const FloatLanes effect = influence(arm) - control;
    for (int outcome = 0; outcome < 2; ++outcome)
      total += static_cast<double>(effect[outcome]) * std::sqrt(static_cast<double>(inverse_spread_[arm][outcome]));
  }
  return total / static_cast<double>(units_in_bin_[bin]);
}

// What putting levels in the order of their own means adds to the gain where no effect differs. Of k equal levels with
// normal means the best division by their order has 2/pi k of the variation along that order, any other 1; of unequal
// levels (sum of sqrt(n))^2 / n count as many as k.
double SplitSearch::gain_by_order() const {
  double roots = 0.0;
  for (const std::size_t units : units_in_bin_) roots += std::sqrt(static_cast<double>(units));
  const double levels = roots * roots / static_cast<double>(num_units_);
  return working_.share_along_sum * std::max(0.0, 2.0 / std::numbers::pi * levels - 1.0);
}

void SplitSearch::split_category(std::span<const Sums> sums, std::uint32_t feature, Split& best) {
  const double by_order = gain_by_order();
  std::vector<std::pair<double, std::size_t>> order;  // mean, bin
  for (std::size_t bin = 0; bin < units_in_bin_.size(); ++bin) {
    if (units_in_bin_[bin] > 0) order.emplace_back(mean_pseudo_outcome(sums, bin), bin);
  }
  std::sort(order.begin(), order.end());
  std::fill(left_.begin(), left_.end(), Sums{});
  std::size_t units_left = 0;
  BinSet left{};
  for (std::size_t rank = 0; rank + 1 < order.size(); ++rank) {
    const std::size_t bin = order[rank].second;
    add_bin(sums, bin);
    set_bin(left, bin);
    units_left += units_in_bin_[bin];
    if (num_units_ - units_left < limits_.min_units) return;
    if (units_left < limits_.min_units || !enough_per_arm()) continue;
    const double gain = gain_of(units_left) - by_order;
    if (gain <= best.gain) continue;
    best = {gain, feature, left};
    if (2 * units_left < num_units_) continue;
    for (std::size_t other = 0; other < units_in_bin_.size(); ++other)  // levels not seen here go with the larger side
      if (units_in_bin_[other] == 0) set_bin(best.left, other);
  }
}

double SplitSearch::excess_gain(std::span<const Sums> left, std::span<const Sums> all) {
  set_node(all, {});
  std::copy(left.begin(), left.end(), left_.begin());
  std::size_t units_left = 0;
  for (const Sums& sums : left) units_left += static_cast<std::size_t>(sums.units);
  double by_chance = 0.0;  // each pseudo-outcome in units of its spread adds one
  for (const auto& spread : working_.inverse_spread) by_chance += (spread[0] > 0.0 ? 1.0 : 0.0) + (spread[1] > 0.0);
  return gain_of(units_left) - by_chance;
}

Split SplitSearch::best_split(const Histogram& histogram, const SplitLimits& limits) {
  Split best;
  if (histogram.features().empty()) return best;
  set_node(histogram.of_place(0), limits);
  if (num_units_ < 2 * limits.min_units) return best;
  const std::size_t num_arms = total_.size();
  for (std::size_t place = 0; place < histogram.features().size(); ++place) {
    const std::span<const Sums> sums = histogram.of_place(place);
    const std::uint32_t feature = histogram.features()[place];
    units_in_bin_.assign(sums.size() / num_arms, 0);
    for (std::size_t bin = 0; bin < units_in_bin_.size(); ++bin)
      for (std::size_t arm = 0; arm < num_arms; ++arm)
        units_in_bin_[bin] += static_cast<std::size_t>(sums[bin * num_arms + arm].units);
    if (bins_[feature].categorical) {
      split_category(sums, feature, best);
      continue;
    }
    split_number(sums, feature, false, best);
    if (units_in_bin_[0] > 0) split_number(sums, feature, true, best);
  }
  return best;
}

}  // namespace dfcl::forest
