// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/split_search.h"

#include <algorithm>
#include <array>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::boost {
namespace {

constexpr double kLeastGain = 1e-9;  // as a share of the sides' scores: less is rounding

// What a side is worth: G^2 / (H + r), or that of a clamped value v, -(2 G v + (H + r) v^2).
double score(double gradient, double hessian, double ridge, const Bounds& bounds) {
  const double weight = hessian + ridge;
  if (!(weight > 0.0)) return 0.0;
  const double value = bounds.clamp(-gradient / weight);
  return -(2.0 * gradient * value + weight * value * value);
}

struct Side {
  double gradient;
  double hessian;
};
Side side_of(Sum sum, const Steps& steps) {
  return {static_cast<double>(gradient_of(sum)) * steps.gradient, static_cast<double>(hessian_of(sum)) * steps.hessian};
}

// Twice the same: scores of both sides for every cut, in steps. prefix: sums of the left sides. Cuts that leave too
// little on a side get -1.
DFCL_FOR_EACH_PROCESSOR
void score_cuts(const Sum* prefix, std::size_t count, Sum total, double ridge, double least, double* scores) {
  const double all_gradient = static_cast<double>(gradient_of(total));
  const double all_hessian = static_cast<double>(hessian_of(total));
  for (std::size_t i = 0; i < count; ++i) {
    const double gradient = static_cast<double>(static_cast<std::int64_t>(prefix[i]) >> 32);
    const double hessian = static_cast<double>(static_cast<std::int64_t>(prefix[i] & 0xffffffffu));
    const double other = all_gradient - gradient;
    const double left = hessian + ridge;
    const double right = all_hessian - hessian + ridge;
    const double sum = (gradient * gradient * right + other * other * left) / (left * right);
    scores[i] = hessian >= least && all_hessian - hessian >= least ? sum : -1.0;
  }
}

struct Cut {
  double score = -1.0;  // of both sides
  std::size_t place = 0;
};

// The best of the cuts after each of the prefixes.
class CutSearch {
 public:
  CutSearch(const SearchedNode& node, const SplitRules& rules, double ridge, bool rising)
      : node_(node), rules_(rules), ridge_(ridge), rising_(rising) {}

  Cut best(std::span<const Sum> prefix) const {
    std::array<double, kHistogramBins> scores;
    if (rising_ || node_.bounds.any()) {
      for (std::size_t i = 0; i < prefix.size(); ++i) scores[i] = bounded(prefix[i]);
    } else {
      const double unit = rules_.steps.gradient * rules_.steps.gradient / rules_.steps.hessian;
      score_cuts(prefix.data(), prefix.size(), node_.total, ridge_ / rules_.steps.hessian,
                 std::max(1.0, rules_.least_hessian / rules_.steps.hessian), scores.data());
      for (std::size_t i = 0; i < prefix.size(); ++i) scores[i] *= unit;
    }
    Cut cut;
    for (std::size_t i = 0; i < prefix.size(); ++i) {
      if (scores[i] > cut.score) cut = {scores[i], i};
    }
    return cut;
  }

 private:
  double bounded(Sum left_sum) const {
    const Side left = side_of(left_sum, rules_.steps);
    const Side right = side_of(node_.total - left_sum, rules_.steps);
    const double least = std::max(rules_.steps.hessian, rules_.least_hessian);
    if (left.hessian < least || right.hessian < least) return -1.0;
    if (rising_ && -left.gradient * (right.hessian + ridge_) > -right.gradient * (left.hessian + ridge_)) return -1.0;
    return score(left.gradient, left.hessian, ridge_, node_.bounds) +
           score(right.gradient, right.hessian, ridge_, node_.bounds);
  }

  const SearchedNode& node_;
  const SplitRules& rules_;
  double ridge_;
  bool rising_;
};

double gain_of(const Cut& cut, const SearchedNode& node, const SplitRules& rules) {
  const Side all = side_of(node.total, rules.steps);
  const double gain = cut.score - score(all.gradient, all.hessian, rules.ridge, node.bounds);
  return gain > kLeastGain * cut.score ? gain : 0.0;
}

bool left_is_heavier(Sum left, Sum total) { return 2 * hessian_of(left) > hessian_of(total); }

Split split_numbers(const Sum* histogram, std::size_t num_bins, const SearchedNode& node, const SplitRules& rules,
                    bool rising) {
  const CutSearch search(node, rules, rules.ridge, rising);
  std::array<Sum, kHistogramBins> prefix{};
  const std::size_t num_cuts = num_bins - 1;  // after bins 0 to num_bins - 2
  Sum sum = 0;
  for (std::size_t bin = 0; bin < num_cuts; ++bin) prefix[bin] = sum += bin == 0 ? 0 : histogram[bin];
  Cut best = search.best({prefix.data(), num_cuts});
  const Sum missing = histogram[0];
  bool missing_left = false;
  if (missing != 0) {
    std::array<Sum, kHistogramBins> with_missing;
    for (std::size_t bin = 0; bin < num_cuts; ++bin) with_missing[bin] = prefix[bin] + missing;
    const Cut other = search.best({with_missing.data(), num_cuts});
    if (other.score > best.score) {
      best = other;
      missing_left = true;
    }
  }
  Split split;
  split.gain = best.score < 0.0 ? 0.0 : gain_of(best, node, rules);
  split.last_left = static_cast<std::uint8_t>(best.place);
  split.left_sum = prefix[best.place] + (missing_left ? missing : 0);
  split.missing_left = missing == 0 ? left_is_heavier(split.left_sum, node.total) : missing_left;
  return split;
}

struct Level {
  double ratio;
  std::size_t bin;
};

Split split_levels(const Sum* histogram, std::size_t num_bins, const SearchedNode& node, const SplitRules& rules,
                   bool is_arm) {
  std::array<Level, kHistogramBins> levels;
  std::size_t num_levels = 0;
  const double smooth = is_arm ? rules.ridge : rules.level_smooth;
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    if (histogram[bin] == 0) continue;
    const Side side = side_of(histogram[bin], rules.steps);
    levels[num_levels++] = {side.gradient / (side.hessian + smooth + rules.steps.hessian), bin};
  }
  if (num_levels < 2) return {};
  std::sort(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(num_levels),
            [](const Level& a, const Level& b) { return a.ratio < b.ratio || (a.ratio == b.ratio && a.bin < b.bin); });
  std::array<Sum, kHistogramBins> prefix{};
  std::array<std::size_t, kHistogramBins> last{};  // level of each cut
  std::size_t num_cuts = 0;
  Sum sum = 0;
  Sum since = 0;
  for (std::size_t level = 0; level + 1 < num_levels; ++level) {
    sum += histogram[levels[level].bin];
    since += histogram[levels[level].bin];
    if (!is_arm && side_of(since, rules.steps).hessian < rules.level_hessian) continue;
    since = 0;
    last[num_cuts] = level;
    prefix[num_cuts++] = sum;
  }
  const CutSearch search(node, rules, is_arm ? rules.ridge : rules.ridge + rules.level_ridge, false);
  const Cut best = search.best({prefix.data(), num_cuts});
  if (best.score < 0.0) return {};
  Split split{.gain = gain_of(best, node, rules), .by_set = true, .left_sum = prefix[best.place]};
  if (left_is_heavier(split.left_sum, node.total)) split.left.fill(~std::uint64_t{0});
  for (std::size_t level = 0; level < num_levels; ++level) {
    const std::size_t bin = levels[level].bin;
    const std::uint64_t bit = std::uint64_t{1} << (bin & 63);
    if (level <= last[best.place]) {
      split.left[bin >> 6] |= bit;
    } else {
      split.left[bin >> 6] &= ~bit;
    }
  }
  return split;
}

}  // namespace

double node_value(Sum sum, const Bounds& bounds, const SplitRules& rules) {
  const Side side = side_of(sum, rules.steps);
  const double weight = side.hessian + rules.ridge;
  return bounds.clamp(weight > 0.0 ? -side.gradient / weight : 0.0);
}

Split best_split(const Sum* histogram, std::size_t num_bins, ColumnKind kind, const SearchedNode& node,
                 const SplitRules& rules) {
  if (num_bins < 2) return {};
  switch (kind) {
    case ColumnKind::number: return split_numbers(histogram, num_bins, node, rules, false);
    case ColumnKind::rising_arms: return split_numbers(histogram, num_bins, node, rules, true);
    case ColumnKind::category: return split_levels(histogram, num_bins, node, rules, false);
    case ColumnKind::arms: return split_levels(histogram, num_bins, node, rules, true);
  }
  return {};
}

}  // namespace dfcl::boost
