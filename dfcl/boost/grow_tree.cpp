// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/grow_tree.h"

#include <algorithm>
#include <array>

#include "dfcl/core/parallel.h"

namespace dfcl::boost {
namespace {

constexpr std::size_t kPartitionChunk = 16'384;
constexpr std::size_t kSearchedTogether = 4;  // columns

std::array<std::uint8_t, 256> left_table(const Split& split) {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t bin = 0; bin < table.size(); ++bin) {
    if (split.by_set) {
      table[bin] = static_cast<std::uint8_t>((split.left[bin >> 6] >> (bin & 63)) & 1);
    } else {
      table[bin] = bin == 0 ? (split.missing_left ? 1 : 0) : (bin <= split.last_left ? 1 : 0);
    }
  }
  return table;
}

}  // namespace

bool TreeGrower::has_many_levels(std::size_t column) const {
  return kinds_[column] == ColumnKind::category && units_.num_bins(column) > kFewLevels;
}

bool TreeGrower::needs_halves() const {
  for (std::size_t column = 0; column < kinds_.size(); ++column) {
    if (has_many_levels(column)) return true;
  }
  return false;
}

bool TreeGrower::can_split(const Leaf& leaf) const {
  return leaf.size >= 2 && static_cast<double>(hessian_of(leaf.sums.total)) * rules_.steps.hessian >=
                               2.0 * rules_.least_hessian * leaf.sums.factor;
}

void TreeGrower::sum_up(const Leaf& leaf, core::RunContext& context) {
  const std::span<Sum> sums = histogram(leaf.histogram);
  std::fill(sums.begin(), sums.end(), Sum{0});
  const auto rows = rows_.subspan(leaf.begin, leaf.size);
  add_units(units_, rows, sums_, columns_, in_parallel_, sums.data(), spare_, context);
  if (!half_columns_.empty())
    add_units(units_, rows, half_sums_, half_columns_, in_parallel_, sums.data() + columns_.size() * kHistogramBins,
              spare_, context);
}

Sum TreeGrower::total_of(std::span<const std::uint32_t> rows, core::RunContext& context) const {
  const auto part = [&](std::size_t begin, std::size_t end) {
    Sum sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += sums_[rows[i]];
    return sum;
  };
  if (!in_parallel_) return part(0, rows.size());
  return core::sum_chunks(context, rows.size(), kPartitionChunk, Sum{0}, part,
                          [](Sum& total, Sum own) { total += own; });
}

void TreeGrower::search(Leaf& leaf, core::RunContext& context) {
  leaf.best = {};
  if (!can_split(leaf)) return;
  const Sum* sums = histogram(leaf.histogram).data();
  const auto look = [&](std::size_t place) {
    const std::uint32_t column = columns_[place];
    const Sum* half = half_place_[place] == 0 ? nullptr : sums + half_place_[place] * kHistogramBins;
    found_[place] =
        best_split(sums + place * kHistogramBins, units_.num_bins(column), kinds_[column], leaf.sums, rules_, half);
    found_[place].column = column;
  };
  if (in_parallel_) {
    core::for_each_chunk(context, columns_.size(), kSearchedTogether,
                         [&](std::size_t begin, std::size_t end, std::size_t) {
                           for (std::size_t place = begin; place < end; ++place) look(place);
                         });
  } else {
    for (std::size_t place = 0; place < columns_.size(); ++place) look(place);
  }
  for (const Split& split : found_) {
    if (split.gain > leaf.best.gain) leaf.best = split;
  }
}

// The rows of the leaf, those that go left first; their order stays. Returns how many go left.
std::size_t TreeGrower::partition(const Leaf& leaf, core::RunContext& context) {
  const std::array<std::uint8_t, 256> goes_left = left_table(leaf.best);
  const std::uint8_t* bins = units_.column(leaf.best.column);
  const std::size_t num_chunks = (leaf.size + kPartitionChunk - 1) / kPartitionChunk;
  std::vector<std::size_t> num_left(num_chunks), num_right(num_chunks);
  std::uint32_t* rows = rows_.data() + leaf.begin;
  const auto for_chunks = [&](const auto& body) {
    if (!in_parallel_ || num_chunks == 1) {
      for (std::size_t chunk = 0; chunk < num_chunks; ++chunk)
        body(chunk * kPartitionChunk, std::min(leaf.size, (chunk + 1) * kPartitionChunk), chunk);
    } else {
      core::for_each_chunk(context, leaf.size, kPartitionChunk, body);
    }
  };
  for_chunks([&](std::size_t begin, std::size_t end, std::size_t chunk) {
    std::uint32_t* left = left_rows_.data() + begin;
    std::uint32_t* right = right_rows_.data() + begin;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = rows[i];
      const std::size_t is_left = goes_left[bins[row]];
      *left = row;
      *right = row;
      left += is_left;
      right += 1 - is_left;
    }
    num_left[chunk] = static_cast<std::size_t>(left - (left_rows_.data() + begin));
    num_right[chunk] = end - begin - num_left[chunk];
  });
  std::size_t total = 0;
  for (std::size_t& count : num_left) total += count;
  std::vector<std::size_t> left_place(num_chunks), right_place(num_chunks);
  std::size_t to_left = 0;
  std::size_t to_right = total;
  for (std::size_t chunk = 0; chunk < num_chunks; ++chunk) {
    left_place[chunk] = to_left;
    right_place[chunk] = to_right;
    to_left += num_left[chunk];
    to_right += num_right[chunk];
  }
  for_chunks([&](std::size_t begin, std::size_t, std::size_t chunk) {
    std::copy_n(left_rows_.data() + begin, num_left[chunk], rows + left_place[chunk]);
    std::copy_n(right_rows_.data() + begin, num_right[chunk], rows + right_place[chunk]);
  });
  return total;
}

void TreeGrower::search_children(Leaf& left, Leaf& right, core::RunContext& context) {
  if (!can_split(left) && !can_split(right)) return;
  // The parent's sums are in the left child's place; the smaller child is summed, the larger keeps what is left.
  if (left.size > right.size) {
    sum_up(right, context);
    subtract(histogram(left.histogram), histogram(right.histogram));
  } else {
    std::swap(left.histogram, right.histogram);
    sum_up(left, context);
    subtract(histogram(right.histogram), histogram(left.histogram));
  }
  search(left, context);
  search(right, context);
}

// Sides of a split by arm: which arms each has, and the factor of the rules that these need.
void TreeGrower::part_arms(const Split& split, SearchedNode& left, SearchedNode& right) const {
  const std::array<std::uint8_t, 256> goes_left = left_table(split);
  for (std::size_t bin = 0; bin < goes_left.size(); ++bin) {
    SearchedNode& other = goes_left[bin] != 0 ? right : left;
    other.arms[bin >> 6] &= ~(std::uint64_t{1} << (bin & 63));
  }
  for (SearchedNode* side : {&left, &right}) side->factor = rule_factor(side->arms, rules_);
}

void TreeGrower::split(std::size_t place, bool is_last, core::RunContext& context) {
  const Leaf parent = leaves_[place];
  const std::size_t num_left = partition(parent, context);
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  nodes_[parent.node].children = children;
  nodes_[parent.node].split = parent.best;
  Leaf left = parent;
  Leaf right = parent;
  left.size = num_left;
  right.begin += num_left;
  right.size -= num_left;
  right.histogram = leaves_.size();
  left.node = children;
  right.node = children + 1;
  left.sums.total = parent.best.left_sum;
  right.sums.total = parent.sums.total - parent.best.left_sum;
  left.best = right.best = {};
  if (parent.best.column == units_.arm_column()) part_arms(parent.best, left.sums, right.sums);
  if (kinds_[parent.best.column] == ColumnKind::rising_arms) {
    const double middle = 0.5 * (node_value(left.sums, rules_) + node_value(right.sums, rules_));
    left.sums.bounds.high = middle;
    right.sums.bounds.low = middle;
  }
  for (const Leaf* leaf : {&left, &right}) nodes_.push_back({0, {}, node_value(leaf->sums, rules_)});
  if (!is_last) search_children(left, right, context);
  leaves_[place] = left;
  leaves_.push_back(right);
}

// Nodes in the order of a walk from the left, children side by side, which numbers the leaves from the left too.
void TreeGrower::finish(GrownTree& grown) const {
  const std::size_t arm = units_.arm_column();
  Tree& tree = grown.tree;
  tree.sets.emplace_back();
  tree.nodes.emplace_back();
  grown.gains.assign(units_.num_columns(), 0.0);
  grown.arm_gains.assign(units_.num_columns(), 0.0);
  struct Step {
    std::uint32_t from;
    std::uint32_t to;
    bool below_arm;
  };
  // Whether a split by arm is in the subtree: children come after their parents.
  std::vector<std::uint8_t> holds_arm(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const SplitNode& node = nodes_[i];
    if (node.children == 0) continue;
    holds_arm[i] = node.split.column == arm || holds_arm[node.children] || holds_arm[node.children + 1] ? 1 : 0;
  }
  std::vector<Step> steps = {{0, 0, false}};
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    const SplitNode& node = nodes_[step.from];
    if (node.children == 0) {
      tree.nodes[step.to].next = static_cast<std::uint32_t>(tree.values.size());
      tree.values.push_back(static_cast<float>(node.value));
      continue;
    }
    const Split& split = node.split;
    grown.gains[split.column] += split.gain;
    if (step.below_arm || holds_arm[step.from]) grown.arm_gains[split.column] += split.gain;
    const auto children = static_cast<std::uint32_t>(tree.nodes.size());
    trees::Node made{.next = children, .feature = static_cast<std::uint16_t>(split.column)};
    if (split.by_set) {
      made.set = static_cast<std::uint32_t>(tree.sets.size());
      tree.sets.push_back(split.left);
    } else {
      made.last_left = split.last_left;
      made.missing_left = split.missing_left ? 1 : 0;
    }
    tree.nodes[step.to] = made;
    tree.nodes.resize(children + 2);
    const bool below_arm = step.below_arm || split.column == arm;
    steps.push_back({node.children + 1, children + 1, below_arm});
    steps.push_back({node.children, children, below_arm});
  }
}

GrownTree TreeGrower::grow(std::span<std::uint32_t> rows, std::span<const Sum> sums, std::span<const Sum> half_sums,
                           std::span<const std::uint32_t> columns, const SplitRules& rules, const GrowOptions& options,
                           core::RunContext& context) {
  rows_ = rows;
  sums_ = sums;
  half_sums_ = half_sums;
  columns_ = columns;
  half_columns_.clear();
  half_place_.assign(columns.size(), 0);
  for (std::size_t place = 0; place < columns.size(); ++place) {
    if (half_sums.empty() || !has_many_levels(columns[place])) continue;
    half_place_[place] = columns.size() + half_columns_.size();
    half_columns_.push_back(columns[place]);
  }
  rules_ = rules;
  in_parallel_ = options.in_parallel;
  width_ = (columns.size() + half_columns_.size()) * kHistogramBins;
  histograms_.resize(options.leaves * width_);
  left_rows_.resize(rows.size());
  right_rows_.resize(rows.size());
  found_.resize(columns.size());
  Leaf root;
  root.size = rows.size();
  root.sums.total = total_of(rows, context);
  root.sums.factor = rule_factor(root.sums.arms, rules_);
  leaves_ = {root};
  nodes_ = {{0, {}, node_value(root.sums, rules_)}};
  if (options.leaves > 1 && can_split(root)) {
    sum_up(leaves_[0], context);
    search(leaves_[0], context);
  }
  while (leaves_.size() < options.leaves) {
    std::size_t best = 0;
    for (std::size_t place = 1; place < leaves_.size(); ++place) {
      if (leaves_[place].best.gain > leaves_[best].best.gain) best = place;
    }
    if (!(leaves_[best].best.gain > 0.0)) break;
    context.check_cancelled();
    split(best, leaves_.size() + 1 == options.leaves, context);
  }
  GrownTree grown;
  finish(grown);
  return grown;
}

}  // namespace dfcl::boost
