// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/split_search.h"

#include <algorithm>
#include <array>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kLevelCuts = 32;
constexpr double kOrdinaryWeight = 4.0;  // of average units: what arms of usual trials weigh at most
constexpr double kLeastGain = 1e-9;      // as a share of the sides' scores: less is rounding

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

// Second derivatives that the sides of a cut must have.
struct Least {
  double left;
  double right;
};

struct Cut {
  double score = -1.0;  // of both sides
  std::size_t place = 0;
};

// The best of the cuts after each of the prefixes. least: of each cut, where cuts differ in it.
class CutSearch {
 public:
  CutSearch(const SearchedNode& node, const SplitRules& rules, double ridge, bool rising,
            std::span<const Least> least = {})
      : node_(node), rules_(rules), ridge_(ridge), rising_(rising), least_(least) {}

  Cut best(std::span<const Sum> prefix) const {
    std::array<double, kHistogramBins> scores;
    if (rising_ || node_.bounds.any() || !least_.empty()) {
      for (std::size_t i = 0; i < prefix.size(); ++i)
        scores[i] = bounded(prefix[i], least_.empty() ? Least{rules_.least_hessian, rules_.least_hessian} : least_[i]);
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
  double bounded(Sum left_sum, const Least& least) const {
    const Side left = side_of(left_sum, rules_.steps);
    const Side right = side_of(node_.total - left_sum, rules_.steps);
    const double step = rules_.steps.hessian;
    if (left.hessian < std::max(step, least.left) || right.hessian < std::max(step, least.right)) return -1.0;
    if (rising_ && -left.gradient * (right.hessian + ridge_) > -right.gradient * (left.hessian + ridge_)) return -1.0;
    return score(left.gradient, left.hessian, ridge_, node_.bounds) +
           score(right.gradient, right.hessian, ridge_, node_.bounds);
  }

  const SearchedNode& node_;
  const SplitRules& rules_;
  double ridge_;
  bool rising_;
  std::span<const Least> least_;
};

// The rules for a node with units of rare arms.
SplitRules rules_for(const SearchedNode& node, SplitRules rules) {
  for (double* units : {&rules.ridge, &rules.least_hessian, &rules.level_smooth, &rules.level_ridge})
    *units *= node.factor;
  return rules;
}

// What the sides need when arms are cut, in this order, after each of them but the last.
class ArmCuts {
 public:
  // rules: those of average units.
  ArmCuts(const SearchedNode& node, const SplitRules& rules, std::span<const std::size_t> bins) {
    if (rules.arm_weights.empty()) return;
    trees::BinSet left{};
    trees::BinSet right = node.arms;
    for (std::size_t i = 0; i + 1 < bins.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << (bins[i] & 63);
      left[bins[i] >> 6] |= bit & node.arms[bins[i] >> 6];
      right[bins[i] >> 6] &= ~bit;
      least_[count_++] = {rules.least_hessian * rule_factor(left, rules),
                          rules.least_hessian * rule_factor(right, rules)};
    }
  }
  std::span<const Least> least() const { return {least_.data(), count_}; }

 private:
  std::array<Least, kHistogramBins> least_;
  std::size_t count_ = 0;
};

double gain_of(const Cut& cut, const SearchedNode& node, const SplitRules& rules) {
  const Side all = side_of(node.total, rules.steps);
  const double gain = cut.score - score(all.gradient, all.hessian, rules.ridge, node.bounds);
  return gain > kLeastGain * cut.score ? gain : 0.0;
}

bool left_is_heavier(Sum left, Sum total) { return 2 * hessian_of(left) > hessian_of(total); }

// least: of each cut; empty: the same for all.
Split split_numbers(const Sum* histogram, std::size_t num_bins, const SearchedNode& node, const SplitRules& rules,
                    bool rising, std::span<const Least> least) {
  const CutSearch search(node, rules, rules.ridge, rising, least);
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
struct SortedLevels {
  std::array<Level, kHistogramBins> list;
  std::size_t count = 0;
};

// The levels of a histogram that anybody has, by rising G / (H + smooth). wanted: those to sort, others are left out.
SortedLevels sorted_levels(const Sum* histogram, const Sum* wanted, std::size_t num_bins, double smooth,
                           const Steps& steps) {
  SortedLevels levels;
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    if (wanted[bin] == 0) continue;
    const Side side = side_of(histogram[bin], steps);
    levels.list[levels.count++] = {side.gradient / (side.hessian + smooth + steps.hessian), bin};
  }
  std::sort(levels.list.begin(), levels.list.begin() + static_cast<std::ptrdiff_t>(levels.count),
            [](const Level& a, const Level& b) { return a.ratio < b.ratio || (a.ratio == b.ratio && a.bin < b.bin); });
  return levels;
}

// The split that sends the first levels left.
Split split_after(const SortedLevels& levels, std::size_t num_left, Sum left_sum, Sum total) {
  Split split{.by_set = true, .left_sum = left_sum};
  if (left_is_heavier(left_sum, total)) split.left.fill(~std::uint64_t{0});
  for (std::size_t level = 0; level < levels.count; ++level) {
    const std::size_t bin = levels.list[level].bin;
    const std::uint64_t bit = std::uint64_t{1} << (bin & 63);
    if (level < num_left) {
      split.left[bin >> 6] |= bit;
    } else {
      split.left[bin >> 6] &= ~bit;
    }
  }
  return split;
}

// Sums of the left sides when levels are cut, in their order, where they hold 1/kLevelCuts, 2/kLevelCuts, ... of the
// node's second derivatives. weighed: what the shares are taken of; summed: what is summed.
std::array<Sum, kLevelCuts> sums_at_shares(const SortedLevels& levels, const Sum* weighed, Sum total,
                                           const Sum* summed) {
  std::array<Sum, kLevelCuts> sums{};
  Sum weight = 0;
  Sum sum = 0;
  std::size_t cut = 1;
  for (std::size_t level = 0; level < levels.count; ++level) {
    const std::size_t bin = levels.list[level].bin;
    weight += weighed[bin];
    sum += summed[bin];
    for (; cut < kLevelCuts && hessian_of(weight) * static_cast<std::int64_t>(kLevelCuts) >=
                                   hessian_of(total) * static_cast<std::int64_t>(cut);
         ++cut)
      sums[cut] = sum;
  }
  return sums;
}

// Many levels: sorted by what one half of the units says, the gain is what the other half says of it, and the reverse,
// so that a category of many levels gains nothing by its number of levels alone. The split itself sorts by all units.
Split split_many_levels(const Sum* histogram, const Sum* half, std::size_t num_bins, const SearchedNode& node,
                        const SplitRules& rules) {
  std::array<Sum, kHistogramBins> other{};
  SearchedNode halves[2] = {{.total = 0, .bounds = node.bounds}, {.total = 0, .bounds = node.bounds}};
  for (std::size_t bin = 0; bin < num_bins; ++bin) {
    other[bin] = histogram[bin] - half[bin];
    halves[0].total += half[bin];
    halves[1].total += other[bin];
  }
  const Sum* sums[2] = {half, other.data()};
  std::array<double, kLevelCuts> gains{};
  for (std::size_t judge = 0; judge < 2; ++judge) {
    const Sum* own = sums[1 - judge];
    const SortedLevels levels = sorted_levels(own, histogram, num_bins, rules.level_smooth, rules.steps);
    const auto left = sums_at_shares(levels, histogram, node.total, sums[judge]);
    const Side all = side_of(halves[judge].total, rules.steps);
    const double ridge = 0.5 * rules.ridge;
    for (std::size_t cut = 1; cut < kLevelCuts; ++cut) {
      const Side a = side_of(left[cut], rules.steps);
      gains[cut] += score(a.gradient, a.hessian, ridge, node.bounds) +
                    score(all.gradient - a.gradient, all.hessian - a.hessian, ridge, node.bounds) -
                    score(all.gradient, all.hessian, ridge, node.bounds);
    }
  }
  const SortedLevels levels = sorted_levels(histogram, histogram, num_bins, rules.level_smooth, rules.steps);
  const auto left = sums_at_shares(levels, histogram, node.total, histogram);
  const double least = std::max(rules.steps.hessian, rules.least_hessian);
  std::size_t best = 0;
  for (std::size_t cut = 1; cut < kLevelCuts; ++cut) {
    const double hessian = side_of(left[cut], rules.steps).hessian;
    const bool large = hessian >= least && side_of(node.total, rules.steps).hessian - hessian >= least;
    if (large && gains[cut] > (best == 0 ? 0.0 : gains[best])) best = cut;
  }
  if (best == 0) return {};
  std::size_t num_left = 0;
  for (Sum sum = 0; sum != left[best]; ++num_left) sum += histogram[levels.list[num_left].bin];
  Split split = split_after(levels, num_left, left[best], node.total);
  split.gain = gains[best];
  return split;
}

// The best cut of sorted levels.
Split split_sorted(const Sum* histogram, const SortedLevels& levels, const SearchedNode& node, const SplitRules& rules,
                   double ridge, std::span<const Least> least) {
  std::array<Sum, kHistogramBins> prefix{};
  Sum sum = 0;
  for (std::size_t level = 0; level + 1 < levels.count; ++level)
    prefix[level] = sum += histogram[levels.list[level].bin];
  const CutSearch search(node, rules, ridge, false, least);
  const Cut best = search.best({prefix.data(), levels.count - 1});
  if (best.score < 0.0) return {};
  Split split = split_after(levels, best.place + 1, prefix[best.place], node.total);
  split.gain = gain_of(best, node, rules);
  return split;
}

Split split_levels(const Sum* histogram, std::size_t num_bins, const SearchedNode& node, const SplitRules& rules) {
  const SortedLevels levels = sorted_levels(histogram, histogram, num_bins, rules.level_smooth, rules.steps);
  if (levels.count < 2) return {};
  return split_sorted(histogram, levels, node, rules, rules.ridge + rules.level_ridge, {});
}

// own: the rules for the node; rules: those of average units.
Split split_arms(const Sum* histogram, std::size_t num_bins, ColumnKind kind, const SearchedNode& node,
                 const SplitRules& own, const SplitRules& rules) {
  std::array<std::size_t, kHistogramBins> bins;
  if (kind != ColumnKind::arms) {
    for (std::size_t bin = 0; bin < num_bins; ++bin) bins[bin] = bin;
    const ArmCuts cuts(node, rules, {bins.data(), num_bins});
    return split_numbers(histogram, num_bins, node, own, kind == ColumnKind::rising_arms, cuts.least());
  }
  const SortedLevels levels = sorted_levels(histogram, histogram, num_bins, own.ridge, own.steps);
  if (levels.count < 2) return {};
  for (std::size_t level = 0; level < levels.count; ++level) bins[level] = levels.list[level].bin;
  const ArmCuts cuts(node, rules, {bins.data(), levels.count});
  return split_sorted(histogram, levels, node, own, own.ridge, cuts.least());
}

}  // namespace

double rule_factor(const trees::BinSet& arms, const SplitRules& rules) {
  ArmWeight all;
  for (std::size_t bin = 0; bin < rules.arm_weights.size(); ++bin) {
    if (((arms[bin >> 6] >> (bin & 63)) & 1) == 0) continue;
    all.sum += rules.arm_weights[bin].sum;
    all.squares += rules.arm_weights[bin].squares;
  }
  return all.sum > 0.0 ? std::max(1.0, all.squares / all.sum / kOrdinaryWeight) : 1.0;
}

double node_value(const SearchedNode& node, const SplitRules& rules) {
  const Side side = side_of(node.total, rules.steps);
  const double weight = side.hessian + rules.ridge * node.factor;
  return node.bounds.clamp(weight > 0.0 ? -side.gradient / weight : 0.0);
}

Split best_split(const Sum* histogram, std::size_t num_bins, ColumnKind kind, const SearchedNode& node,
                 const SplitRules& rules, const Sum* half) {
  if (num_bins < 2) return {};
  const SplitRules own = rules_for(node, rules);
  if (half != nullptr && kind == ColumnKind::category) return split_many_levels(histogram, half, num_bins, node, own);
  switch (kind) {
    case ColumnKind::number: return split_numbers(histogram, num_bins, node, own, false, {});
    case ColumnKind::category: return split_levels(histogram, num_bins, node, own);
    case ColumnKind::arms:
    case ColumnKind::graded_arms:
    case ColumnKind::rising_arms: return split_arms(histogram, num_bins, kind, node, own, rules);
  }
  return {};
}

}  // namespace dfcl::boost
