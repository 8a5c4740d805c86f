// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace dfcl::policy {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The leaf of a unit below a node.
std::size_t leaf_below(const SplitTree& tree, std::size_t node, std::span<const float> features) {
  while (!tree.nodes[node].is_leaf()) {
    const Question& question = tree.nodes[node].question;
    node = question.holds(features[question.feature]) ? tree.nodes[node].yes : tree.nodes[node].no;
  }
  return tree.nodes[node].leaf;
}

// Calls body(node, its units) for every question, from the root down, with the questions above as body left them.
void for_each_question(SplitTree& tree, core::MatrixView<const float> features,
                       const std::function<void(SplitNode&, const std::vector<std::uint32_t>&)>& body) {
  std::vector<std::vector<std::uint32_t>> units(tree.nodes.size());
  units[0].resize(features.rows);
  std::iota(units[0].begin(), units[0].end(), 0u);
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {  // children stand after their parents
    SplitNode& here = tree.nodes[node];
    if (here.is_leaf()) continue;
    body(here, units[node]);
    for (const std::uint32_t unit : units[node]) {
      const bool yes = here.question.holds(features(unit, here.question.feature));
      units[yes ? here.yes : here.no].push_back(unit);
    }
    units[node] = {};
  }
}

bool has_cut(const Question& question) { return !question.categorical && std::isfinite(question.cut); }

// The cuts beside that of a question.
std::pair<float, float> neighbours(const SplitColumns& columns, const Question& question) {
  for (const SplitColumn& column : columns.columns) {
    if (column.feature != question.feature) continue;
    const auto found = std::find(column.cuts.begin(), column.cuts.end(), question.cut);
    if (found == column.cuts.end()) break;
    return {found == column.cuts.begin() ? -kInfinity : *(found - 1),
            found + 1 == column.cuts.end() ? kInfinity : *(found + 1)};
  }
  return {question.cut, question.cut};
}

float between(float low, float high) {
  const float middle = low + (high - low) / 2.0f;
  return middle < high && middle >= low ? middle : low;
}

// The decimal with the fewest digits in [low, high); cut where there is none shorter.
float shortest_between(float low, float high, float cut) {
  for (int digits = 1; digits <= 8; ++digits) {
    const std::string text = fmt::format("{:.{}g}", cut, digits);
    float value = cut;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (value >= low && value < high) return value;
  }
  return cut;
}

// Where the leaves of a tree are after some of its questions became leaves. Children stand after their parents: what
// lies under a leaf is that leaf.
std::vector<std::uint8_t> new_leaves(const SplitTree& before, const SplitTree& after, const std::vector<bool>& reached,
                                     const std::vector<std::uint32_t>& place) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  std::vector<std::uint32_t> leaf_of;
  leaf_of.resize(before.nodes.size(), kNone);
  std::vector<std::uint8_t> moved(before.num_leaves());
  for (std::size_t node = 0; node < before.nodes.size(); ++node) {
    const SplitNode& here = before.nodes[node];
    if (reached[node] && after.nodes[place[node]].is_leaf()) leaf_of[node] = after.nodes[place[node]].leaf;
    if (here.is_leaf()) {
      moved[here.leaf] = static_cast<std::uint8_t>(leaf_of[node]);
    } else if (leaf_of[node] != kNone) {
      leaf_of[here.yes] = leaf_of[here.no] = leaf_of[node];
    }
  }
  return moved;
}

}  // namespace

std::vector<std::vector<double>> leaf_sums(const SplitTree& tree, core::MatrixView<const float> features,
                                           core::MatrixView<const double> stats) {
  std::vector<std::vector<double>> sums(tree.num_leaves(), std::vector<double>(stats.cols));
  for (std::size_t unit = 0; unit < stats.rows; ++unit) {
    std::vector<double>& own = sums[tree.leaf_of(features.row(unit))];
    for (std::size_t i = 0; i < stats.cols; ++i) own[i] += stats(unit, i);
  }
  return sums;
}

void refine_cuts(const SplitColumns& columns, core::MatrixView<const float> features,
                 core::MatrixView<const double> stats, const ArmSums& arms, double multiplier, SplitTree& tree) {
  std::vector<std::optional<std::size_t>> arm;
  for (const std::vector<double>& sums : leaf_sums(tree, features, stats))
    arm.push_back(arms.best_arm(sums.data(), multiplier));
  const auto score = [&](std::uint32_t unit, std::size_t leaf) {
    if (!arm[leaf]) return 0.0;
    return stats(unit, *arm[leaf]) - multiplier * stats(unit, arms.num_treated + *arm[leaf]);
  };
  struct Moved {
    float value;
    double gain;  // of yes over no
  };
  for_each_question(tree, features, [&](SplitNode& node, const std::vector<std::uint32_t>& units) {
    if (!has_cut(node.question)) return;
    const auto [low, high] = neighbours(columns, node.question);
    std::vector<Moved> moved;
    float first_above = kInfinity;
    for (const std::uint32_t unit : units) {
      const float value = features(unit, node.question.feature);
      if (!std::isfinite(value)) continue;
      if (value > high) first_above = std::min(first_above, value);
      if (value <= low || value > high) continue;
      const auto row = features.row(unit);
      moved.push_back(
          {value, score(unit, leaf_below(tree, node.yes, row)) - score(unit, leaf_below(tree, node.no, row))});
    }
    std::stable_sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.value < b.value; });
    double sum = 0.0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < moved.size(); ++i) {
      sum += moved[i].gain;
      const float next = i + 1 < moved.size() ? moved[i + 1].value : first_above;
      if (next == moved[i].value || !std::isfinite(next) || !(sum > best)) continue;
      best = sum;
      node.question.cut = between(moved[i].value, next);
    }
  });
}

void tidy_cuts(core::MatrixView<const float> features, SplitTree& tree) {
  for_each_question(tree, features, [&](SplitNode& node, const std::vector<std::uint32_t>& units) {
    if (!has_cut(node.question)) return;
    std::vector<float> values;
    for (const std::uint32_t unit : units) {
      const float value = features(unit, node.question.feature);
      if (std::isfinite(value)) values.push_back(value);
    }
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    const auto place = std::upper_bound(values.begin(), values.end(), node.question.cut) - values.begin();
    const auto room = static_cast<std::ptrdiff_t>(kTidyShare * static_cast<double>(values.size()));
    const auto last = static_cast<std::ptrdiff_t>(values.size()) - 1;
    const std::ptrdiff_t low = std::clamp<std::ptrdiff_t>(place - 1 - room, 0, last);
    const std::ptrdiff_t high = std::clamp<std::ptrdiff_t>(place + room, 0, last);
    node.question.cut = shortest_between(values[static_cast<std::size_t>(low)], values[static_cast<std::size_t>(high)],
                                         node.question.cut);
  });
}

std::vector<std::uint8_t> join_equal(SplitTree& tree, std::vector<std::uint8_t>& mark) {
  const SplitTree before = tree;
  std::vector<int> of_node(tree.nodes.size(), -1);  // the mark of a leaf, or of a question that became one
  for (std::size_t node = tree.nodes.size(); node-- > 0;) {
    SplitNode& here = tree.nodes[node];
    if (here.is_leaf()) {
      of_node[node] = mark[here.leaf];
    } else if (of_node[here.yes] >= 0 && of_node[here.yes] == of_node[here.no]) {
      of_node[node] = of_node[here.yes];
      here = {};
    }
  }
  // What can be reached is kept, in its order.
  std::vector<std::uint32_t> place(tree.nodes.size());
  std::vector<bool> reached(tree.nodes.size());
  reached[0] = true;
  std::vector<SplitNode> kept;
  std::vector<int> marks;
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    if (!reached[node]) continue;
    if (!tree.nodes[node].is_leaf()) reached[tree.nodes[node].yes] = reached[tree.nodes[node].no] = true;
    place[node] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(tree.nodes[node]);
    marks.push_back(of_node[node]);
  }
  for (SplitNode& node : kept) {
    if (node.is_leaf()) continue;
    node.yes = place[node.yes];
    node.no = place[node.no];
  }
  tree.nodes = std::move(kept);
  tree.number_leaves();
  mark.assign(tree.num_leaves(), 0);
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.nodes[node].is_leaf()) mark[tree.nodes[node].leaf] = static_cast<std::uint8_t>(marks[node]);
  }
  return new_leaves(before, tree, reached, place);
}

}  // namespace dfcl::policy
