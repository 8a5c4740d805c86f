// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/grow_tree.h"

#include <algorithm>
#include <numeric>

#include "dfcl/core/random.h"

namespace dfcl::forest {
namespace {

// A node's split in its stored form; sets of bins only for categories.
void store_split(const Split& split, bool categorical, Tree& tree, Node& node) {
  node.feature = static_cast<std::uint16_t>(split.feature);
  node.missing_left = split.goes_left(0) ? 1 : 0;
  if (categorical) {
    node.set = static_cast<std::uint32_t>(tree.sets.size());
    tree.sets.push_back(split.left);
    return;
  }
  for (std::size_t bin = 1; bin <= trees::kMostBins; ++bin) {
    if (split.goes_left(static_cast<std::uint8_t>(bin))) node.last_left = static_cast<std::uint8_t>(bin);
  }
}

}  // namespace

void append_leaf(const WorkingUnits& working, std::span<const std::uint32_t> units, std::vector<LeafArm>& leaves) {
  struct Totals {
    std::int64_t revenue = 0;
    std::int64_t cost = 0;
    std::int64_t weight = 0;
  };
  std::vector<Totals> totals(working.num_arms);
  for (const std::uint32_t unit : units) {
    Totals& total = totals[working.arm[unit]];
    total.revenue += working.sums[unit].revenue;
    total.cost += working.sums[unit].cost;
    total.weight += working.sums[unit].weight;
  }
  const double share = units.empty() ? 0.0 : 1.0 / static_cast<double>(units.size());
  for (const Totals& total : totals) {
    leaves.push_back({static_cast<float>(static_cast<double>(total.weight) * working.weight_step * share),
                      static_cast<float>(static_cast<double>(total.revenue) * working.revenue_step * share),
                      static_cast<float>(static_cast<double>(total.cost) * working.cost_step * share)});
  }
}

TreeGrower::TreeGrower(const TreeData& data)
    : data_(data),
      all_features_(features_per_node(data.options, data.bins.size()) == data.bins.size()),
      search_(data.bins, data.working),
      features_(data.bins.size()),
      filled_left_(data.working.num_arms),
      filled_right_(data.working.num_arms) {
  std::iota(features_.begin(), features_.end(), 0u);
}

void TreeGrower::choose_units(std::size_t tree_number) {
  splitting_.clear();
  filling_.clear();
  for (std::uint32_t unit = 0; unit < data_.records.num_units(); ++unit) {
    const std::uint64_t key = data_.key.empty() ? unit : data_.key[unit];
    const Part part = part_of(data_.options.seed, data_.options.subsample, tree_number, key);
    const bool seen = part != Part::out;
    if (part == Part::splits || (seen && !data_.options.honest)) splitting_.push_back(unit);
    if (part == Part::fills || (seen && !data_.options.honest)) filling_.push_back(unit);
  }
  moved_.resize(std::max(splitting_.size(), filling_.size()));
}

std::span<const std::uint32_t> TreeGrower::draw_features(std::size_t tree_number, std::size_t node) {
  if (all_features_) return features_;
  const std::size_t count = features_per_node(data_.options, features_.size());
  std::iota(features_.begin(), features_.end(), 0u);
  core::RandomStream stream(data_.options.seed, core::stream_purpose("forest features"),
                            (std::uint64_t{tree_number} << 32) | node);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t other = i + stream.below(static_cast<std::uint32_t>(features_.size() - i));
    std::swap(features_[i], features_[other]);
  }
  std::sort(features_.begin(), features_.begin() + static_cast<std::ptrdiff_t>(count));
  return std::span(features_).first(count);
}

std::size_t TreeGrower::lend_histogram() {
  if (free_histograms_.empty()) {
    histograms_.emplace_back();
    return histograms_.size() - 1;
  }
  const std::size_t histogram = free_histograms_.back();
  free_histograms_.pop_back();
  return histogram;
}

void TreeGrower::give_back(const Pending& node) {
  if (node.has_histogram) free_histograms_.push_back(node.histogram);
}

void TreeGrower::fill_histogram(std::size_t histogram, const Pending& node, std::span<const std::uint32_t> features) {
  histograms_[histogram].fill(data_.records, data_.bins_of_feature, data_.working.num_arms,
                              std::span(splitting_).subspan(node.split_begin, node.num_units()), features);
}

bool TreeGrower::may_split(const Pending& node) const {
  return node.depth < data_.options.depth &&
         node.num_units() >= 2 * split_limits(data_.options, node.num_units()).min_units;
}

Split TreeGrower::find_split(std::size_t tree_number, Pending& node) {
  if (!may_split(node)) return {};
  if (!node.has_histogram) {
    node.histogram = lend_histogram();
    node.has_histogram = true;
    fill_histogram(node.histogram, node, draw_features(tree_number, node.node));
  }
  return search_.best_split(histograms_[node.histogram], split_limits(data_.options, node.num_units()));
}

// Those that go left first; both sides keep their order, so that memory is read in rising order.
std::size_t TreeGrower::partition(std::vector<std::uint32_t>& units, std::size_t begin, std::size_t end,
                                  const Split& split) {
  constexpr std::size_t kPrefetchAhead = 32;  // units
  std::array<std::uint8_t, 256> left;
  for (std::size_t bin = 0; bin < left.size(); ++bin)
    left[bin] = split.goes_left(static_cast<std::uint8_t>(bin)) ? 1 : 0;
  std::size_t num_left = 0;
  std::size_t num_right = 0;
  for (std::size_t i = begin; i < end; ++i) {  // without branches: both places are written, one is kept
    if (i + kPrefetchAhead < end) data_.records.prefetch_bin(units[i + kPrefetchAhead], split.feature);
    const std::uint32_t unit = units[i];
    const std::size_t goes = left[data_.records.bins(unit)[split.feature]];
    units[begin + num_left] = unit;
    moved_[num_right] = unit;
    num_left += goes;
    num_right += 1 - goes;
  }
  std::copy_n(moved_.begin(), num_right, units.begin() + static_cast<std::ptrdiff_t>(begin + num_left));
  return begin + num_left;
}

void TreeGrower::sum_filling(std::size_t begin, std::size_t end, std::vector<Sums>& arms) const {
  std::fill(arms.begin(), arms.end(), Sums{});
  for (std::size_t i = begin; i < end; ++i) {
    const Sums& own = data_.records.sums(filling_[i]);
    Sums& sums = arms[data_.records.arm(filling_[i])];
    sums = {sums.revenue + own.revenue, sums.cost + own.cost, sums.weight + own.weight, sums.units + own.units};
  }
}

bool TreeGrower::reaches_all_arms(const std::vector<Sums>& arms) const {
  const auto least = static_cast<std::int32_t>(least_of_part(data_.options, data_.options.min_leaf_per_arm));
  return std::all_of(arms.begin(), arms.end(), [&](const Sums& sums) { return sums.units >= least; });
}

// False, and the node stays a leaf, where the units that fill the leaves do not reach every arm on both sides.
bool TreeGrower::divide(const Pending& node, const Split& split, Pending& left, Pending& right) {
  const std::size_t fill_middle = partition(filling_, node.fill_begin, node.fill_end, split);
  sum_filling(node.fill_begin, fill_middle, filled_left_);
  sum_filling(fill_middle, node.fill_end, filled_right_);
  if (!reaches_all_arms(filled_left_) || !reaches_all_arms(filled_right_)) return false;
  const std::size_t split_middle = partition(splitting_, node.split_begin, node.split_end, split);
  left = right = {.depth = node.depth + 1};
  left.split_begin = node.split_begin;
  left.split_end = right.split_begin = split_middle;
  right.split_end = node.split_end;
  left.fill_begin = node.fill_begin;
  left.fill_end = right.fill_begin = fill_middle;
  right.fill_end = node.fill_end;
  return true;
}

double TreeGrower::worth_of_division() {
  std::vector<Sums> all = filled_left_;
  for (std::size_t arm = 0; arm < all.size(); ++arm) {
    all[arm].revenue += filled_right_[arm].revenue;
    all[arm].cost += filled_right_[arm].cost;
    all[arm].weight += filled_right_[arm].weight;
    all[arm].units += filled_right_[arm].units;
  }
  return search_.excess_gain(filled_left_, all);
}

// With all features tried, the smaller child is counted and the larger is the parent less the smaller.
void TreeGrower::make_histograms(const Pending& node, Pending& left, Pending& right) {
  Pending& smaller = left.num_units() <= right.num_units() ? left : right;
  Pending& larger = left.num_units() <= right.num_units() ? right : left;
  if (!all_features_ || !may_split(larger)) {
    give_back(node);
    return;
  }
  smaller.histogram = lend_histogram();
  fill_histogram(smaller.histogram, smaller, features_);
  larger.histogram = node.histogram;
  larger.has_histogram = true;
  histograms_[larger.histogram].subtract(histograms_[smaller.histogram]);
  smaller.has_histogram = true;
  if (may_split(smaller)) return;
  give_back(smaller);
  smaller.has_histogram = false;
}

Tree TreeGrower::grow(std::size_t tree_number) {
  choose_units(tree_number);
  Tree tree;
  tree.gains.assign(data_.bins.size(), 0.0);
  tree.nodes.emplace_back();
  std::vector<Pending> pending(1);
  pending[0].split_end = splitting_.size();
  pending[0].fill_end = filling_.size();
  while (!pending.empty()) {
    Pending node = pending.back();
    pending.pop_back();
    const Split split = find_split(tree_number, node);
    Pending left, right;
    if (!split.found() || !divide(node, split, left, right)) {
      give_back(node);
      tree.nodes[node.node].next = static_cast<std::uint32_t>(tree.leaves.size() / data_.working.num_arms);
      append_leaf(data_.working, std::span(filling_).subspan(node.fill_begin, node.fill_end - node.fill_begin),
                  tree.leaves);
      continue;
    }
    make_histograms(node, left, right);
    store_split(split, data_.bins[split.feature].categorical, tree, tree.nodes[node.node]);
    tree.gains[split.feature] += worth_of_division();
    left.node = tree.nodes.size();
    right.node = left.node + 1;
    tree.nodes[node.node].next = static_cast<std::uint32_t>(left.node);
    tree.nodes.resize(tree.nodes.size() + 2);
    // The smaller child is next: then no more histograms wait than the tree has halvings.
    const bool left_first = left.num_units() <= right.num_units();
    pending.push_back(left_first ? right : left);
    pending.push_back(left_first ? left : right);
  }
  return tree;
}

}  // namespace dfcl::forest
