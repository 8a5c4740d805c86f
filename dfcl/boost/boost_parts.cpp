// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/boost_parts.h"

#include <algorithm>
#include <cmath>

#include "dfcl/core/error.h"
#include "dfcl/data/arms.h"

namespace dfcl::boost {
namespace {

constexpr float kMostValue = 1e30f;  // sums of them are still numbers

class Checker {
 public:
  Checker(const BoostParts& parts, const std::string& where) : parts_(parts), where_(where) {}

  void check() const {
    const BoostParts& p = parts_;
    require(p.num_arms() >= 2 && p.num_arms() <= data::kMostArms, "arms");
    require(p.facts.cost.num_arms == p.num_arms(), "arms");
    for (const learn::OutcomeFacts* facts : {&p.facts.revenue, &p.facts.cost})
      require(facts->control < p.num_arms(), "control");
    for (const learn::OutcomeScale* scale : {&p.scales.revenue, &p.scales.cost})
      require(std::isfinite(scale->center) && std::isfinite(scale->scale) && scale->scale > 0.0, "scales");
    require(!p.bins.empty() && p.bins.size() + 1 < trees::kLeaf && p.importance.size() == p.bins.size(), "features");
    for (const float share : p.importance) require(share >= 0.0f && share <= 1.0f, "importance");
    check_bins();
    require(!p.revenue.empty(), "bags");
    for (const auto* bags : {&p.revenue, &p.cost}) {
      for (const Bag& bag : *bags) check_bag(bag);
    }
  }

 private:
  void require(bool good, const char* what) const {
    if (good) return;
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = std::string("boosted trees whose parts do not fit each other: ") + what,
                       .where = where_});
  }

  void check_bins() const {
    for (const trees::FeatureBins& bins : parts_.bins) {
      require(bins.cuts.size() + 2 <= trees::kMostBins && (!bins.categorical || bins.cuts.empty()), "bins");
      require(std::is_sorted(bins.cuts.begin(), bins.cuts.end()) && (bins.categorical || bins.level_bin.empty()),
              "cuts");
      for (const float cut : bins.cuts) require(std::isfinite(cut), "cuts");
      for (const std::uint8_t bin : bins.level_bin) require(bin >= 1 && bin < trees::kMostBins, "levels");
    }
  }

  void check_bag(const Bag& bag) const {
    require(bag.base.size() == parts_.num_arms(), "bases");
    for (const float base : bag.base) require(std::abs(base) <= kMostValue, "bases");
    for (const Tree& tree : bag.trees) check_tree(tree);
  }

  void check_split(const Tree& tree, const trees::Node& node) const {
    require(node.missing_left <= 1 && node.feature <= parts_.bins.size(), "splits");
    const bool is_arm = node.feature == parts_.bins.size();
    const bool by_set = is_arm ? node.set != 0 : parts_.bins[node.feature].categorical;
    if (by_set) {
      require(node.set >= 1 && node.set < tree.sets.size() && node.last_left == 0 && node.missing_left == 0, "splits");
    } else {
      const std::size_t num_bins = is_arm ? parts_.num_arms() + 1 : parts_.bins[node.feature].num_bins();
      require(node.set == 0 && node.last_left < num_bins && node.last_left + node.missing_left > 0, "splits");
    }
  }

  // Every node but the root is the child of exactly one earlier node, and the leaves are numbered from the left.
  void check_tree(const Tree& tree) const {
    const std::size_t size = tree.nodes.size();
    require(!tree.values.empty() && tree.values.size() <= kMostLeaves && size == 2 * tree.values.size() - 1,
            "nodes of a tree");
    require(!tree.sets.empty() && tree.sets.size() <= tree.values.size(), "sets of a tree");
    for (const float value : tree.values) require(std::abs(value) <= kMostValue, "values of leaves");
    struct Range {
      std::size_t begin = 0;
      std::size_t end = 0;
    };
    std::vector<Range> leaves(size);
    std::vector<std::uint8_t> is_child(size);
    for (std::size_t i = size; i-- > 0;) {
      const trees::Node& node = tree.nodes[i];
      if (node.feature == trees::kLeaf) {
        require(node == trees::Node{.next = node.next} && node.next < tree.values.size(), "leaves of a tree");
        leaves[i] = {node.next, node.next + std::size_t{1}};
        continue;
      }
      require(node.next > i && node.next + std::size_t{1} < size, "children");
      require(is_child[node.next] == 0 && is_child[node.next + 1] == 0, "children");
      is_child[node.next] = is_child[node.next + 1] = 1;
      require(leaves[node.next].end == leaves[node.next + 1].begin, "order of leaves");
      leaves[i] = {leaves[node.next].begin, leaves[node.next + 1].end};
      check_split(tree, node);
    }
    require(leaves[0].begin == 0 && leaves[0].end == tree.values.size(), "leaves of a tree");
  }

  const BoostParts& parts_;
  const std::string& where_;
};

}  // namespace

std::size_t BoostParts::num_trees() const {
  std::size_t count = 0;
  for (const auto* bags : {&revenue, &cost}) {
    for (const Bag& bag : *bags) count += bag.trees.size();
  }
  return count;
}

void require_consistent(const BoostParts& parts, const std::string& where) { Checker(parts, where).check(); }

}  // namespace dfcl::boost
