// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "dfcl/core/error.h"
#include "dfcl/core/hash.h"
#include "dfcl/core/parallel.h"
#include "dfcl/forest/grow_tree.h"

namespace dfcl::forest {
namespace {

constexpr std::size_t kTreesTogether = 4;  // grown one after the other in the same memory

void append_tree(Tree tree, std::size_t num_arms, Forest& forest) {
  const auto first_node = static_cast<std::uint32_t>(forest.nodes.size());
  const auto first_leaf = static_cast<std::uint32_t>(forest.leaves.size() / num_arms);
  const auto first_set = static_cast<std::uint32_t>(forest.sets.size());
  forest.roots.push_back(first_node);
  for (Node node : tree.nodes) {
    const bool is_leaf = node.feature == kLeaf;
    if (!is_leaf && forest.bins[node.feature].categorical) node.set += first_set;
    node.next += is_leaf ? first_leaf : first_node;
    forest.nodes.push_back(node);
  }
  forest.sets.insert(forest.sets.end(), tree.sets.begin(), tree.sets.end());
  forest.leaves.insert(forest.leaves.end(), tree.leaves.begin(), tree.leaves.end());
}

void require_data(const ForestData& data) {
  const std::size_t num_units = data.rows.size();
  const SeenOutcomes& seen = data.seen;
  const bool fits = seen.arm.size() == num_units && seen.revenue.size() == num_units && seen.cost.size() == num_units &&
                    seen.base_revenue.size() == num_units && seen.base_cost.size() == num_units &&
                    data.columns.size() == data.features.cols && data.columns.size() < kLeaf;
  if (!fits) throw core::Error({.kind = core::ErrorKind::internal, .what = "training units of unequal length"});
  std::vector<std::size_t> counts(seen.num_arms);
  for (const std::uint8_t arm : seen.arm) ++counts.at(arm);
  for (std::size_t arm = 0; arm < counts.size(); ++arm) {
    if (counts[arm] > 0) continue;
    throw core::Error({.kind = core::ErrorKind::data, .what = fmt::format("no training units in arm {}", arm)});
  }
}

double least_base(std::span<const float> outcome) {
  double sum = 0.0;
  for (const float value : outcome) sum += static_cast<double>(value);
  return sum > 0.0 ? kLeastBase * sum / static_cast<double>(outcome.size()) : kLeastBase;
}

// Shares of the worth of all splits; a feature whose splits were worth less than chance has none.
void set_importance(const std::vector<Tree>& trees, Forest& forest) {
  std::vector<double> gains(forest.bins.size());
  for (const Tree& tree : trees)
    for (std::size_t feature = 0; feature < gains.size(); ++feature) gains[feature] += tree.gains[feature];
  double total = 0.0;
  for (double& gain : gains) total += gain = std::max(gain, 0.0);
  for (const double gain : gains) forest.importance.push_back(static_cast<float>(total > 0.0 ? gain / total : 0.0));
}

}  // namespace

// Trees of a group share a half of the units; within it each tree takes its share and halves that.
Part part_of(std::uint64_t seed, double subsample, std::size_t tree, std::uint64_t key) {
  const std::uint64_t own = core::mix_bits(key);
  const std::uint64_t group = core::combine_hashes(core::combine_hashes(seed, 2 * (tree / kGroupTrees)), own);
  if (group >> 63) return Part::out;
  const std::uint64_t drawn = core::combine_hashes(core::combine_hashes(seed, 2 * tree + 1), own);
  const double place = core::hash_fraction(drawn);
  if (place >= 2.0 * subsample) return Part::out;
  return place < subsample ? Part::splits : Part::fills;
}

Forest grow_forest(const ForestData& data, const ForestOptions& options, core::RunContext& context) {
  validate(options, data.rows.size(), data.seen.num_arms);
  require_data(data);
  Forest forest;
  forest.num_arms = data.seen.num_arms;
  forest.control = data.seen.control;
  forest.revenue_link = data.seen.revenue_link;
  forest.cost_link = data.seen.cost_link;
  forest.seed = options.seed;
  forest.subsample = options.subsample;
  forest.least_base_revenue = least_base(data.seen.revenue);
  forest.least_base_cost = least_base(data.seen.cost);
  forest.bins = trees::fit_bins(data.columns, data.features, data.rows, options.bins, context);
  forest.sets.emplace_back();
  const WorkingUnits working = make_working_units(data.seen, context);
  const UnitRecords records(forest.bins, data.features, data.rows, working, context);
  std::vector<std::size_t> bins_of_feature;
  for (const FeatureBins& bins : forest.bins) bins_of_feature.push_back(bins.num_bins());
  const TreeData shared{options, forest.bins, bins_of_feature, records, working, data.key};

  std::vector<Tree> trees(options.trees);
  std::mutex progress_mutex;
  std::size_t grown = 0;
  core::for_each_chunk(context, options.trees, kTreesTogether, [&](std::size_t begin, std::size_t end, std::size_t) {
    TreeGrower grower(shared);
    for (std::size_t tree = begin; tree < end; ++tree) {
      context.check_cancelled();
      trees[tree] = grower.grow(tree);
      const std::lock_guard lock(progress_mutex);
      context.progress("growing trees", ++grown, options.trees, "trees");
    }
  });
  context.finished("growing trees");
  set_importance(trees, forest);
  std::vector<std::uint32_t> everyone(data.rows.size());
  for (std::uint32_t unit = 0; unit < everyone.size(); ++unit) everyone[unit] = unit;
  append_leaf(working, everyone, forest.overall);
  for (Tree& tree : trees) append_tree(std::move(tree), forest.num_arms, forest);
  return forest;
}

namespace {

class Checker {
 public:
  Checker(const Forest& forest, const std::string& where) : forest_(forest), where_(where) {}

  void check() const {
    const Forest& f = forest_;
    require(f.num_arms >= 2 && f.num_arms <= 255 && f.control < f.num_arms, "arms");
    require(f.subsample > 0.0 && f.subsample <= 0.5, "subsample");
    require(std::isfinite(f.least_base_revenue) && std::isfinite(f.least_base_cost), "least bases");
    require(f.revenue_link <= Link::ratio && f.cost_link <= Link::ratio, "links");
    require(!f.bins.empty() && f.bins.size() < kLeaf && f.importance.size() == f.bins.size(), "features");
    require(!f.roots.empty() && f.roots.front() == 0, "trees");
    require(f.overall.size() == f.num_arms && f.leaves.size() % f.num_arms == 0 && !f.sets.empty(), "leaves");
    check_bins();
    check_nodes();
    check_numbers();
  }

 private:
  void require(bool good, const char* what) const {
    if (good) return;
    throw core::Error({.kind = core::ErrorKind::file,
                       .what = std::string("a forest whose parts do not fit each other: ") + what,
                       .where = where_});
  }

  void check_bins() const {
    for (const FeatureBins& bins : forest_.bins) {
      require(bins.cuts.size() + 2 <= trees::kMostBins && (!bins.categorical || bins.cuts.empty()), "bins");
      require(std::is_sorted(bins.cuts.begin(), bins.cuts.end()) && (bins.categorical || bins.level_bin.empty()),
              "cuts");
      for (const float cut : bins.cuts) require(std::isfinite(cut), "cuts");
      for (const std::uint8_t bin : bins.level_bin) require(bin >= 1 && bin < trees::kMostBins, "levels");
    }
  }

  // Every node but the roots is the child of exactly one earlier node of its tree, so walks end in a leaf.
  void check_nodes() const {
    const Forest& f = forest_;
    std::size_t leaves = 0;
    std::size_t sets = 1;
    for (std::size_t tree = 0; tree < f.roots.size(); ++tree) {
      const std::size_t begin = f.roots[tree];
      const std::size_t end = tree + 1 < f.roots.size() ? f.roots[tree + 1] : f.nodes.size();
      require(begin < end && end <= f.nodes.size(), "roots");
      std::size_t next_child = begin + 1;
      std::vector<std::uint8_t> is_child(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        const Node& node = f.nodes[i];
        if (node.feature == kLeaf) {
          require(node == Node{.next = node.next} && node.next < f.num_leaves(), "leaves of a tree");
          ++leaves;
          continue;
        }
        require(node.feature < f.bins.size() && node.missing_left <= 1, "splits");
        require(node.next > i && node.next < end - 1 && (node.next - begin) % 2 == 1, "children");
        require(is_child[node.next - begin] == 0, "children");
        is_child[node.next - begin] = 1;
        next_child += 2;
        const FeatureBins& bins = f.bins[node.feature];
        require(bins.categorical ? node.set >= 1 && node.set < f.sets.size() && node.last_left == 0
                                 : node.set == 0 && node.last_left < bins.num_bins(),
                "splits");
        sets += bins.categorical ? 1 : 0;
      }
      require(next_child == end, "nodes of a tree");
    }
    require(leaves == f.num_leaves() && sets == f.sets.size(), "number of leaves");
  }

  void check_numbers() const {
    for (const auto* arms : {&forest_.leaves, &forest_.overall}) {
      for (const LeafArm& arm : *arms)
        require(
            std::isfinite(arm.weight) && arm.weight >= 0.0f && std::isfinite(arm.revenue) && std::isfinite(arm.cost),
            "numbers of leaves");
    }
    for (const float share : forest_.importance) require(share >= 0.0f && share <= 1.0f, "importance");
  }

  const Forest& forest_;
  const std::string& where_;
};

}  // namespace

void require_consistent(const Forest& forest, const std::string& where) { Checker(forest, where).check(); }

}  // namespace dfcl::forest
