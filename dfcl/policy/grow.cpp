// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/grow.h"

#include <algorithm>
#include <numeric>

namespace dfcl::policy {

GrowingTree::GrowingTree(const SplitColumns& columns, core::MatrixView<const double> stats)
    : columns_(&columns), stats_(stats), units_(1), depth_(1, 0) {
  units_[0].resize(columns.num_units);
  std::iota(units_[0].begin(), units_[0].end(), 0u);
}

void GrowingTree::split(std::size_t node, const Split& split) {
  const SplitColumn& column = columns_->columns[split.column];
  std::vector<std::uint8_t> chosen(column.num_groups);
  for (std::size_t i = 0; i < split.length; ++i) chosen[column.orders[split.order].groups[i]] = 1;
  std::vector<std::uint32_t> yes;
  std::vector<std::uint32_t> no;
  for (const std::uint32_t unit : units_[node]) (chosen[column.group[unit]] != 0 ? yes : no).push_back(unit);
  units_[node] = {};
  SplitNode& here = tree_.nodes[node];
  here.question = column.question(split.order, split.length);
  here.yes = static_cast<std::uint32_t>(tree_.nodes.size());
  here.no = here.yes + 1;
  const std::size_t below = depth_[node] + 1;
  tree_.nodes.resize(tree_.nodes.size() + 2);
  units_.push_back(std::move(yes));
  units_.push_back(std::move(no));
  depth_.resize(tree_.nodes.size(), below);
  tree_.number_leaves();
}

std::vector<double> GrowingTree::sums(std::size_t node) const {
  std::vector<double> sums(stats_.cols);
  for (const std::uint32_t unit : units_[node]) {
    const auto row = stats_.row(unit);
    for (std::size_t i = 0; i < row.size(); ++i) sums[i] += row[i];
  }
  return sums;
}

std::optional<GrowingTree::Found> GrowingTree::best_split(std::size_t node, const LeafValue& value,
                                                          std::size_t least_units, core::RunContext& context) const {
  const std::size_t width = stats_.cols;
  const std::vector<double> all = sums(node);
  const double whole = value(all);
  const auto least = static_cast<double>(least_units);
  std::vector<std::optional<Found>> found(columns_->columns.size());
  context.pool.run(found.size(), [&](std::size_t place) {
    const SplitColumn& column = columns_->columns[place];
    std::vector<double> groups(column.num_groups * width);
    for (const std::uint32_t unit : units_[node]) {
      const auto row = stats_.row(unit);
      double* const to = groups.data() + column.group[unit] * width;
      for (std::size_t i = 0; i < width; ++i) to[i] += row[i];
    }
    std::vector<double> yes(width);
    std::vector<double> no(width);
    for (std::size_t order = 0; order < column.orders.size(); ++order) {
      std::fill(yes.begin(), yes.end(), 0.0);
      for (std::size_t length = 1; length <= column.orders[order].most_taken; ++length) {
        const double* const group = groups.data() + column.orders[order].groups[length - 1] * width;
        for (std::size_t i = 0; i < width; ++i) {
          yes[i] += group[i];
          no[i] = all[i] - yes[i];
        }
        if (yes[width - 1] < least || no[width - 1] < least) continue;
        const double gain = value(yes) + value(no) - whole;
        if (!found[place] || gain > found[place]->gain) found[place] = Found{{place, order, length}, gain};
      }
    }
  });
  std::optional<Found> best;
  for (const std::optional<Found>& one : found) {
    if (one && (!best || one->gain > best->gain)) best = one;
  }
  return best;
}

void GrowingTree::grow(const LeafValue& value, const GrowOptions& options, core::RunContext& context) {
  std::vector<std::optional<Found>> open(tree_.nodes.size());
  std::vector<double> everyone(stats_.cols);
  double gained = 0.0;
  const auto look_at = [&](std::size_t node) {
    if (depth_[node] < options.most_depth) open[node] = best_split(node, value, options.least_units, context);
  };
  for (std::size_t node = 0; node < tree_.nodes.size(); ++node) {
    if (!tree_.nodes[node].is_leaf()) continue;
    look_at(node);
    const std::vector<double> own = sums(node);
    gained += value(own);
    for (std::size_t i = 0; i < own.size(); ++i) everyone[i] += own[i];
  }
  gained -= value(everyone);
  while (tree_.num_leaves() < options.most_leaves) {
    std::size_t best = open.size();
    for (std::size_t node = 0; node < open.size(); ++node) {
      if (open[node] && (best == open.size() || open[node]->gain > open[best]->gain)) best = node;
    }
    if (best == open.size()) return;
    const double gain = open[best]->gain;
    if (!(gain > 0.0) || gain < options.least_share * (gained + gain)) return;
    gained += gain;
    split(best, open[best]->split);
    open[best].reset();
    open.resize(tree_.nodes.size());
    look_at(tree_.nodes[best].yes);
    look_at(tree_.nodes[best].no);
  }
}

}  // namespace dfcl::policy
