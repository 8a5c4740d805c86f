// SPDX-License-Identifier: Apache-2.0
#include "dfcl/policy/policy_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "dfcl/core/random.h"
#include "dfcl/policy/leaf_arms.h"

namespace dfcl::policy {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Orders 0 to 9, a score in [0, 1), two numbers that say nothing, and a region. The truth is a tree of depth two: in
// the north, more than two orders make arm 2 pay; elsewhere a score above 0.37 makes arm 1 pay. Predictions are the
// truth with noise, as of a model.
struct World {
  std::vector<data::FeatureColumn> columns = {{"orders", false, {}},
                                              {"score", false, {}},
                                              {"dust", false, {}},
                                              {"sand", false, {}},
                                              {"region", true, {"(other)", "east", "north", "south"}}};
  core::Matrix<float> features;
  core::Matrix<float> revenue;
  core::Matrix<float> cost;
  core::Matrix<double> truth;  // units x arms, revenue

  PolicyUnits units() const { return {columns, features.view(), revenue.view(), cost.view()}; }
};

std::size_t best_arm(const float* row) {
  if (row[4] == 2.0f) return row[0] > 2.0f ? 2 : 0;
  return row[1] > 0.37f ? 1 : 0;
}

World make_world(std::uint64_t seed, std::size_t num_units, double noise) {
  World world;
  world.features = core::Matrix<float>(num_units, 5);
  world.revenue = core::Matrix<float>(num_units, 3);
  world.cost = core::Matrix<float>(num_units, 3);
  world.truth = core::Matrix<double>(num_units, 3);
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("policy world"), unit);
    float* const row = world.features.row(unit).data();
    row[0] = static_cast<float>(stream.below(10));
    row[1] = static_cast<float>(stream.uniform());
    row[2] = static_cast<float>(stream.uniform());
    row[3] = static_cast<float>(stream.normal());
    row[4] = static_cast<float>(1 + stream.below(3));
    for (std::size_t arm = 0; arm < 3; ++arm) {
      const double gain = arm == 0 ? 0.0 : arm == best_arm(row) ? 1.0 : -0.5;
      world.truth(unit, arm) = 5.0 + gain;
      world.revenue(unit, arm) = static_cast<float>(5.0 + gain + noise * stream.normal());
      world.cost(unit, arm) = static_cast<float>(0.1 * static_cast<double>(arm));
    }
  }
  return world;
}

// The best tree of depth two over every cut between two units, by the true gains less price x cost: an exhaustive
// search with running sums over sorted units, written apart from the one that is tested. Categories: one level against
// the rest, and its union with a second.
class Exhaustive {
 public:
  Exhaustive(const World& world, double price) : world_(world) {
    const std::size_t num_units = world.features.rows();
    gain_.resize(num_units);
    for (std::size_t unit = 0; unit < num_units; ++unit) {
      for (std::size_t arm = 1; arm < 3; ++arm)
        gain_[unit][arm - 1] = world.truth(unit, arm) - world.truth(unit, 0) -
                               price * static_cast<double>(world.cost(unit, arm) - world.cost(unit, 0));
    }
    for (std::size_t feature = 0; feature < 5; ++feature) {
      for (int kind = 0; kind < (feature == 4 ? 3 : 1); ++kind) {
        std::vector<std::size_t> order(num_units);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto key = [&, kind](std::size_t unit) {
          const float value = world.features(unit, feature);
          // Turned so that each level is the first once.
          return feature == 4 ? static_cast<float>((static_cast<int>(value) + kind) % 3) : value;
        };
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
        orders_.push_back(order);
        keys_.emplace_back(num_units);
        for (std::size_t unit = 0; unit < num_units; ++unit) keys_.back()[unit] = key(unit);
      }
    }
  }

  double value() const {
    const std::size_t num_units = gain_.size();
    double best = side_value(std::vector<bool>(num_units, true));
    for (std::size_t root = 0; root < orders_.size(); ++root) {
      std::vector<bool> yes(num_units);
      std::size_t steps = 0;
      for (std::size_t i = 0; i + 1 < num_units; ++i) {
        yes[orders_[root][i]] = true;
        if (keys_[root][orders_[root][i]] == keys_[root][orders_[root][i + 1]]) continue;
        // Every fourth cut of a number without ties as the root; all below it.
        if (steps++ % (root < 4 && root > 0 ? 4 : 1) != 0) continue;
        std::vector<bool> no = yes;
        no.flip();
        best = std::max(best, side_value(yes) + side_value(no));
      }
    }
    return best;
  }

 private:
  double side_value(const std::vector<bool>& in) const {
    double total[2] = {0.0, 0.0};
    for (std::size_t unit = 0; unit < in.size(); ++unit) {
      if (!in[unit]) continue;
      total[0] += gain_[unit][0];
      total[1] += gain_[unit][1];
    }
    double best = std::max({0.0, total[0], total[1]});
    for (std::size_t column = 0; column < orders_.size(); ++column) {
      double sum[2] = {0.0, 0.0};
      float last = 0.0f;
      bool is_first = true;
      for (const std::size_t unit : orders_[column]) {
        if (!in[unit]) continue;
        if (!is_first && keys_[column][unit] != last)
          best =
              std::max(best, std::max({0.0, sum[0], sum[1]}) + std::max({0.0, total[0] - sum[0], total[1] - sum[1]}));
        is_first = false;
        last = keys_[column][unit];
        sum[0] += gain_[unit][0];
        sum[1] += gain_[unit][1];
      }
    }
    return best;
  }

  const World& world_;
  std::vector<std::array<double, 2>> gain_;
  std::vector<std::vector<std::size_t>> orders_;
  std::vector<std::vector<float>> keys_;
};

double true_value(const World& world, const PolicyTree& tree, double price) {
  double value = 0.0;
  for (std::size_t unit = 0; unit < world.features.rows(); ++unit) {
    const std::size_t arm = tree.arm_of(world.features.view().row(unit));
    value += world.truth(unit, arm) - world.truth(unit, 0) -
             price * static_cast<double>(world.cost(unit, arm) - world.cost(unit, 0));
  }
  return value;
}

TEST(PolicyTree, FindsATruthThatIsATreeOfDepthTwo) {
  core::RunContext context(2);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    const World world = make_world(seed, 1500, 0.5);
    const PolicyTarget target{0.2, kNoLimit};
    const PolicyTree tree = fit_policy_trees(world.units(), {}, {&target, 1}, context)[0];
    const double most = Exhaustive(world, tree.multiplier).value();
    const double found = true_value(world, tree, tree.multiplier);
    std::cout << "seed " << seed << ": " << 100.0 * found / most << " % of an exhaustive search\n";
    EXPECT_GE(found, 0.99 * most);
    const std::string all = [&] {
      std::string text;
      for (const std::string& leaf : tree.words.leaves) text += leaf + "\n";
      return text;
    }();
    EXPECT_NE(all.find("region is north and orders more than 2"), std::string::npos) << all;
    EXPECT_NE(all.find("score"), std::string::npos) << all;
    EXPECT_EQ(all.find("dust"), std::string::npos) << all;
  }
}

TEST(PolicyTree, KeepsTheBudgetByPredictedCosts) {
  core::RunContext context(2);
  const World world = make_world(7, 2000, 0.3);
  std::vector<PolicyTarget> targets;
  for (const double budget : {0.0, 0.02, 0.05, 0.1, 0.2}) targets.push_back({3.0, budget});
  const std::vector<PolicyTree> trees = fit_policy_trees(world.units(), {}, targets, context);
  double last = -1.0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    double spend = 0.0;
    double revenue = 0.0;
    for (std::size_t unit = 0; unit < world.features.rows(); ++unit) {
      const std::size_t arm = trees[i].arm_of(world.features.view().row(unit));
      spend += static_cast<double>(world.cost(unit, arm));
      revenue += static_cast<double>(world.revenue(unit, arm));
    }
    EXPECT_TRUE(trees[i].within);
    EXPECT_LE(spend / 2000.0, targets[i].budget + 1e-6);
    EXPECT_GE(revenue, last - 1e-3) << "more money never earns less";
    EXPECT_LE(trees[i].tree.num_leaves(), kMostLeaves);
    last = revenue;
  }
}

TEST(PolicyTree, NobodyIsTreatedWhereNothingPays) {
  core::RunContext context(1);
  World world = make_world(3, 500, 0.1);
  for (std::size_t unit = 0; unit < 500; ++unit) world.revenue(unit, 1) = world.revenue(unit, 2) = 4.0f;
  const PolicyTarget target{0.0, kNoLimit};
  const PolicyTree tree = fit_policy_trees(world.units(), {}, {&target, 1}, context)[0];
  ASSERT_EQ(tree.tree.num_leaves(), 1u);
  EXPECT_EQ(tree.arm[0], 0);
  EXPECT_EQ(tree.words.leaves[0], "all");
}

// Features with few values, so that groups are the same.
TEST(PolicyTree, AUnitOfWeightTwoIsTwoUnits) {
  core::RunContext context(1);
  const World world = make_world(13, 1200, 0.3);
  const std::vector<data::FeatureColumn> columns = {world.columns[0], world.columns[4]};
  core::Matrix<float> features(1200, 2);
  core::Matrix<float> twice(2400, 2), revenue(2400, 3), cost(2400, 3);
  std::vector<double> weight;
  std::size_t row = 0;
  for (std::size_t unit = 0; unit < 1200; ++unit) {
    features(unit, 0) = world.features(unit, 0);
    features(unit, 1) = world.features(unit, 4);
    weight.push_back(unit % 3 == 0 ? 1.5 : 0.75);
    for (std::size_t copy = 0; copy < (unit % 3 == 0 ? 2u : 1u); ++copy, ++row) {
      std::ranges::copy(features.row(unit), twice.row(row).begin());
      std::ranges::copy(world.revenue.row(unit), revenue.row(row).begin());
      std::ranges::copy(world.cost.row(unit), cost.row(row).begin());
    }
  }
  twice.resize(row);
  revenue.resize(row);
  cost.resize(row);
  const std::vector<PolicyTarget> targets = {{2.0, 0.03}, {1.0, 0.08}};
  const PolicyUnits weighted{columns, features.view(), world.revenue.view(), world.cost.view(), weight};
  const PolicyUnits doubled{columns, twice.view(), revenue.view(), cost.view()};
  const std::vector<PolicyTree> one = fit_policy_trees(weighted, {}, targets, context);
  const std::vector<PolicyTree> other = fit_policy_trees(doubled, {}, targets, context);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    EXPECT_EQ(one[i].words.leaves, other[i].words.leaves);
    EXPECT_EQ(one[i].arm, other[i].arm);
  }
}

TEST(PolicyTree, SegmentsPartWherePredictedEffectsDiffer) {
  core::RunContext context(2);
  const World world = make_world(11, 4000, 0.2);
  const SegmentTree found = fit_segment_tree(world.units(), 0, context);
  EXPECT_GE(found.tree.num_leaves(), 4u);
  EXPECT_LE(found.tree.num_leaves(), kMostSegments);
  std::vector<std::size_t> units(found.tree.num_leaves());
  for (std::size_t unit = 0; unit < 4000; ++unit) ++units[found.tree.leaf_of(world.features.view().row(unit))];
  for (const std::size_t count : units) EXPECT_GE(count, 200u);
}

TEST(LeafArms, EarnMostWithinTheBudget) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    core::RandomStream stream(seed, core::stream_purpose("leaf arms"), 0);
    std::vector<std::vector<LeafOption>> options(5);
    for (std::vector<LeafOption>& leaf : options) {
      leaf.push_back({});
      for (int arm = 0; arm < 3; ++arm) leaf.push_back({stream.normal(), stream.uniform() - 0.1});
    }
    const double budget = stream.uniform();
    const LeafArms found = choose_leaf_arms(options, budget);
    double best = -kNoLimit;
    for (std::size_t code = 0; code < 1024; ++code) {
      double value = 0.0;
      double cost = 0.0;
      for (std::size_t leaf = 0, rest = code; leaf < 5; ++leaf, rest /= 4) {
        value += options[leaf][rest % 4].value;
        cost += options[leaf][rest % 4].cost;
      }
      if (cost <= budget) best = std::max(best, value);
    }
    EXPECT_NEAR(found.value, best, 1e-12);
    EXPECT_LE(found.cost, budget);
    double value = 0.0;
    for (std::size_t leaf = 0; leaf < 5; ++leaf) value += options[leaf][found.option[leaf]].value;
    EXPECT_NEAR(value, found.value, 1e-12);
  }
}

TEST(LeafArms, SayWhereEvenTheCheapestIsTooMuch) {
  const LeafArms found = choose_leaf_arms({{{1.0, 0.5}, {3.0, 0.9}}, {{0.0, 0.2}}}, 0.1);
  EXPECT_FALSE(found.within);
  EXPECT_NEAR(found.cost, 0.7, 1e-12);
}

}  // namespace
}  // namespace dfcl::policy
