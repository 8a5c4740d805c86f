// SPDX-License-Identifier: Apache-2.0
#include "dfcl/forest/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "dfcl/core/error.h"
#include "tests/forest/made_trial.h"

namespace dfcl::forest {
namespace {

double step_effect(std::span<const float> x, std::size_t arm) { return x[0] > 0.0f ? static_cast<double>(arm) : 0.0; }

ForestOptions small_options(std::uint64_t seed = 1) {
  return {.trees = 40, .min_leaf = 40, .min_leaf_per_arm = 4, .seed = seed};
}

double error_of_effects(const Predicted& found, const MadeTrial& trial,
                        double (*effect)(std::span<const float>, std::size_t)) {
  double squares = 0.0;
  for (std::size_t unit = 0; unit < trial.arm.size(); ++unit)
    for (std::size_t arm = 1; arm < trial.num_arms; ++arm)
      squares += std::pow(found.effect(unit, arm) - effect(trial.features.row(unit), arm), 2);
  return std::sqrt(squares / static_cast<double>(trial.arm.size() * (trial.num_arms - 1)));
}

TEST(Forest, FindsEffectsThatDifferBetweenUnits) {
  const MadeTrial trial = made_trial(6000, 6, 3, 1, step_effect);
  const MadeTrial fresh = made_trial(1000, 6, 3, 2, step_effect);
  core::RunContext context(2);
  const Forest forest = grow_forest(trial.data(), small_options(), context);
  EXPECT_LT(error_of_effects(predicted(forest, fresh.units(), context), fresh, step_effect), 0.25);
  EXPECT_GT(forest.importance[0], 0.9f);
  EXPECT_NEAR(std::accumulate(forest.importance.begin(), forest.importance.end(), 0.0f), 1.0f, 1e-4f);
  EXPECT_NO_THROW(require_consistent(forest, "forest"));
}

// Many levels that mean nothing beside one number that matters.
TEST(Forest, IsNotLedAstrayByACategoryOfManyLevels) {
  const auto with_groups = [](MadeTrial trial) {
    trial.columns[1] = {.name = "group", .categorical = true, .levels = {}};
    for (std::size_t level = 0; level < 150; ++level) trial.columns[1].levels.push_back(fmt::format("g{}", level));
    for (std::size_t unit = 0; unit < trial.arm.size(); ++unit)
      trial.features(unit, 1) = static_cast<float>(unit * 31 % 150);
    return trial;
  };
  const MadeTrial trial = with_groups(made_trial(6000, 6, 3, 1, step_effect, 3.0));
  const MadeTrial fresh = with_groups(made_trial(1000, 6, 3, 2, step_effect));
  core::RunContext context(2);
  const ForestOptions options{.trees = 40, .min_leaf = 300, .min_leaf_per_arm = 20, .seed = 1};
  const Forest forest = grow_forest(trial.data(), options, context);
  EXPECT_LT(error_of_effects(predicted(forest, fresh.units(), context), fresh, step_effect), 0.5);
  std::size_t by_group = 0, by_number = 0;
  for (const std::uint32_t root : forest.roots) {
    by_group += forest.nodes[root].feature == 1 ? 1 : 0;
    by_number += forest.nodes[root].feature == 0 ? 1 : 0;
  }
  EXPECT_EQ(by_group, 0u);
  EXPECT_GT(by_number, 30u);
}

// Without honesty every unit of a tree counts in a leaf: leaves are as large as asked for, and hold what split them.
TEST(Forest, WithoutHonestyUnitsSplitAndFill) {
  const MadeTrial trial = made_trial(4000, 4, 3, 7, step_effect);
  core::RunContext context(2);
  ForestOptions options{.trees = 10, .min_leaf = 200, .min_leaf_per_arm = 50, .honest = false, .seed = 9};
  const Forest forest = grow_forest(trial.data(), options, context);
  options.honest = true;
  EXPECT_NE(forest.leaves, grow_forest(trial.data(), options, context).leaves);
  for (std::size_t tree = 0; tree < options.trees; ++tree) {
    std::map<std::size_t, std::vector<std::size_t>> counts;
    std::map<std::size_t, double> revenue;  // of control's units, by leaf
    for (std::size_t unit = 0; unit < 4000; ++unit) {
      if (part_of(forest.seed, forest.subsample, tree, unit) == Part::out) continue;
      std::size_t node = forest.roots[tree];
      while (forest.nodes[node].feature != kLeaf) {
        const Node& at = forest.nodes[node];
        const bool left = forest.bins[at.feature].bin_of(trial.features(unit, at.feature)) <= at.last_left;
        node = at.next + (left ? 0 : 1);
      }
      counts[forest.nodes[node].next].resize(3);
      ++counts[forest.nodes[node].next][trial.arm[unit]];
      if (trial.arm[unit] == 0) revenue[forest.nodes[node].next] += static_cast<double>(trial.revenue[unit]);
    }
    for (const auto& [leaf, arms] : counts) {
      for (const std::size_t count : arms) EXPECT_GE(count, 50u);
      EXPECT_GE(arms[0] + arms[1] + arms[2], 200u);
      const LeafArm& control = forest.leaves[leaf * 3];
      EXPECT_NEAR(static_cast<double>(control.revenue / control.weight), revenue[leaf] / static_cast<double>(arms[0]),
                  1e-3);
    }
  }
}

TEST(Forest, IsTheSameForAnyNumberOfThreads) {
  MadeTrial trial = made_trial(3000, 8, 4, 3, step_effect);
  trial.columns[3] = {.name = "city", .categorical = true, .levels = {"(other)", "a", "b", "c"}};
  for (std::size_t unit = 0; unit < 3000; ++unit) trial.features(unit, 3) = static_cast<float>(unit * 7 % 4);
  core::RunContext one(1), two(2), eight(8);
  for (const std::size_t mtry : {3u, 8u}) {
    ForestOptions options = small_options();
    options.mtry = mtry;
    const Forest forest = grow_forest(trial.data(), options, one);
    EXPECT_EQ(forest, grow_forest(trial.data(), options, two));
    EXPECT_EQ(forest, grow_forest(trial.data(), options, eight));
    const Predicted a = predicted(forest, trial.units(), one);
    const Predicted b = predicted(forest, trial.units(), eight);
    EXPECT_TRUE(std::equal(a.revenue.data(), a.revenue.data() + 12000, b.revenue.data()));
  }
}

TEST(Forest, OfAllFeaturesIsTheSameWithSubtractedAndWithCountedHistograms) {
  // Every feature twice and all but one of the copies tried: each feature is, and every histogram is counted.
  constexpr std::size_t kFeatures = 3;
  const MadeTrial plain = made_trial(3000, kFeatures, 3, 5, step_effect);
  MadeTrial twice(3000, 2 * kFeatures, 3);
  for (std::size_t unit = 0; unit < 3000; ++unit) {
    for (const std::size_t copy : {std::size_t{0}, kFeatures})
      std::copy_n(plain.features.row(unit).data(), kFeatures, twice.features.row(unit).data() + copy);
  }
  twice.arm = plain.arm;
  twice.revenue = plain.revenue;
  twice.cost = plain.cost;
  core::RunContext context(1);
  ForestOptions options = small_options();
  options.depth = 6;
  const Forest subtracted = grow_forest(plain.data(), options, context);
  options.mtry = 2 * kFeatures - 1;
  Forest counted = grow_forest(twice.data(), options, context);
  for (Node& node : counted.nodes) {
    if (node.feature != kLeaf) node.feature = static_cast<std::uint16_t>(node.feature % kFeatures);
  }
  EXPECT_GT(subtracted.nodes.size(), 10 * options.trees) << "trees are deep enough to subtract";
  EXPECT_EQ(subtracted.nodes, counted.nodes);
  EXPECT_EQ(subtracted.leaves, counted.leaves);
}

TEST(Forest, LeavesRespectTheirLeastSizeAndEveryArm) {
  const MadeTrial trial = made_trial(4000, 4, 3, 7, step_effect);
  core::RunContext context(2);
  ForestOptions options{.trees = 10, .min_leaf = 200, .min_leaf_per_arm = 50, .seed = 9};
  const Forest forest = grow_forest(trial.data(), options, context);
  // Splitting units and filling units per leaf and arm, counted by walking down.
  for (std::size_t tree = 0; tree < options.trees; ++tree) {
    std::map<std::size_t, std::vector<std::size_t>> splits, fills;
    for (std::size_t unit = 0; unit < 4000; ++unit) {
      const Part part = part_of(forest.seed, forest.subsample, tree, unit);
      if (part == Part::out) continue;
      std::size_t node = forest.roots[tree];
      while (forest.nodes[node].feature != kLeaf) {
        const Node& at = forest.nodes[node];
        const bool left = forest.bins[at.feature].bin_of(trial.features(unit, at.feature)) <= at.last_left;
        node = at.next + (left ? 0 : 1);
      }
      auto& counts = (part == Part::splits ? splits : fills)[node];
      counts.resize(3);
      ++counts[trial.arm[unit]];
    }
    for (const auto* halves : {&splits, &fills})
      for (const auto& [node, counts] : *halves)
        for (const std::size_t count : counts) EXPECT_GE(count, 25u);
    for (const auto& [node, counts] : splits) EXPECT_GE(counts[0] + counts[1] + counts[2], 100u);
  }
}

TEST(Forest, UnitsCountByTheNoiseOfRevenueAloneWhereCostsAreKnown) {
  MadeTrial trial = made_trial(500, 2, 2, 17, step_effect);
  trial.revenue_link = Link::ratio;
  for (std::size_t unit = 0; unit < 500; ++unit) {
    trial.base_revenue[unit] = 1.0f + static_cast<float>(unit % 50);
    trial.revenue[unit] = trial.base_revenue[unit] * std::abs(trial.revenue[unit]);
    trial.cost[unit] = 0.0f;
  }
  core::RunContext context(1);
  SeenOutcomes seen = trial.seen();
  seen.cost_is_known = true;
  const WorkingUnits known = make_working_units(seen, context);
  seen = trial.seen();
  seen.cost = trial.revenue;  // the harmonic mean of equal weights
  seen.base_cost = trial.base_revenue;
  seen.cost_link = Link::ratio;
  const WorkingUnits alike = make_working_units(seen, context);
  for (std::size_t unit = 0; unit < 500; ++unit)
    EXPECT_NEAR(known.sums[unit].weight * known.weight_step, alike.sums[unit].weight * alike.weight_step, 1e-6);
}

TEST(Forest, OutOfBagPredictionsKnowNothingOfTheirCluster) {
  // Units 2 k and 2 k + 1 are a cluster, of one arm. They exchange their outcomes, which changes no total.
  MadeTrial trial = made_trial(2000, 3, 2, 13, step_effect);
  for (std::uint32_t unit = 0; unit < 2000; ++unit) {
    trial.arm[unit] = trial.arm[unit - unit % 2];
    trial.revenue[unit] = std::round(trial.revenue[unit]) + (unit % 2 == 0 ? 100.0f : 0.0f);
    trial.cost[unit] = 0.0f;
  }
  core::RunContext context(2);
  const auto out_of_bag = [&](bool by_cluster) {
    std::vector<std::uint64_t> keys;
    trial.key.clear();
    for (std::uint32_t unit = 0; unit < 2000; ++unit) {
      trial.key.push_back(by_cluster ? unit / 2 : unit);
      keys.push_back(trial.key.back());
    }
    ForestUnits units = trial.units();
    units.seen_key = keys;
    return predicted(grow_forest(trial.data(), small_options(), context), units, context);
  };
  for (const bool by_cluster : {true, false}) {
    std::size_t same = 0;
    const Predicted before = out_of_bag(by_cluster);
    for (std::size_t unit = 0; unit < 20; unit += 2) {
      std::swap(trial.revenue[unit], trial.revenue[unit + 1]);
      const Predicted after = out_of_bag(by_cluster);
      std::swap(trial.revenue[unit], trial.revenue[unit + 1]);
      same +=
          before.revenue(unit, 1) == after.revenue(unit, 1) && before.revenue(unit + 1, 1) == after.revenue(unit + 1, 1)
              ? 1
              : 0;
    }
    if (by_cluster) {
      EXPECT_EQ(same, 10u);
    } else {
      EXPECT_LT(same, 5u) << "the other unit was seen";
    }
  }
}

TEST(Forest, TreesSeeTheShareThatWasAskedForAndGroupsShareAHalf) {
  std::size_t splits = 0, fills = 0;
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    const Part part = part_of(1, 0.3, 5, key);
    splits += part == Part::splits ? 1 : 0;
    fills += part == Part::fills ? 1 : 0;
    std::size_t in_group = 0;
    for (std::size_t tree = 0; tree < kGroupTrees; ++tree) in_group += part_of(1, 0.5, tree, key) != Part::out ? 1 : 0;
    EXPECT_TRUE(in_group == 0 || in_group == kGroupTrees);
  }
  EXPECT_NEAR(static_cast<double>(splits), 15'000.0, 500.0);
  EXPECT_NEAR(static_cast<double>(fills), 15'000.0, 500.0);
}

TEST(Forest, DoesNotDependOnTheCurrency) {
  const MadeTrial trial = made_trial(3000, 4, 3, 15, step_effect);
  MadeTrial other = made_trial(3000, 4, 3, 15, step_effect);
  for (float& value : other.revenue) value *= 128.0f;
  core::RunContext context(2);
  const Forest forest = grow_forest(trial.data(), small_options(), context);
  const Forest scaled = grow_forest(other.data(), small_options(), context);
  EXPECT_EQ(forest.nodes, scaled.nodes);
  const Predicted a = predicted(forest, trial.units(), context);
  const Predicted b = predicted(scaled, trial.units(), context);
  for (std::size_t unit = 0; unit < 100; ++unit) EXPECT_FLOAT_EQ(128.0f * a.revenue(unit, 1), b.revenue(unit, 1));
}

TEST(Forest, UnderTheRatioLinkLargeUnitsDoNotDecideEverySplit) {
  // Effects are ratios that depend on x0; the base depends on x1, over four orders of magnitude.
  const auto make = [](Link link) {
    MadeTrial trial(8000, 5, 2);
    trial.revenue_link = trial.cost_link = link;
    for (std::size_t unit = 0; unit < 8000; ++unit) {
      core::RandomStream random(21, core::stream_purpose("heavy tails"), unit);
      for (float& value : trial.features.row(unit)) value = static_cast<float>(random.uniform(-1.0, 1.0));
      trial.arm[unit] = static_cast<std::uint8_t>(random.below(2));
      const double base = std::exp(4.5 * static_cast<double>(trial.features(unit, 1)) + 2.0);
      const double lift = trial.features(unit, 0) > 0.0f ? 0.5 : 0.0;
      const double mean = base * (1.0 + (trial.arm[unit] == 1 ? lift : 0.0));
      trial.revenue[unit] = static_cast<float>(random.poisson(mean * random.gamma(10.0) / 10.0));
      trial.cost[unit] = trial.arm[unit] == 1 ? 0.1f * trial.revenue[unit] : 0.0f;
      trial.base_revenue[unit] = static_cast<float>(base * (1.0 + lift / 2.0));
      trial.base_cost[unit] = static_cast<float>(base * (1.0 + lift) * 0.05);
    }
    return trial;
  };
  core::RunContext context(2);
  ForestOptions options = small_options();
  options.min_leaf = 200;
  const MadeTrial ratio_trial = make(Link::ratio);
  const MadeTrial difference_trial = make(Link::difference);
  const Forest ratio = grow_forest(ratio_trial.data(), options, context);
  const Forest difference = grow_forest(difference_trial.data(), options, context);
  EXPECT_GT(ratio.importance[0], 0.9f);
  EXPECT_LT(difference.importance[0], 0.5f) << "else the case shows nothing";
  const auto relative_error = [&](const Forest& forest, const MadeTrial& trial) {
    const Predicted found = predicted(forest, trial.units(), context);
    double total = 0.0;
    for (std::size_t unit = 0; unit < 8000; ++unit) {
      const double base = std::exp(4.5 * static_cast<double>(trial.features(unit, 1)) + 2.0);
      total += std::abs(found.effect(unit, 1) / base - (trial.features(unit, 0) > 0.0f ? 0.5 : 0.0));
    }
    return total / 8000.0;
  };
  EXPECT_LT(relative_error(ratio, ratio_trial), 0.5 * relative_error(difference, difference_trial));
}

TEST(Forest, WeighsUnitsByTheirInversePropensity) {
  // Units with x0 > 0 get arm 1 four times as often, and both revenue and effect depend on x0, which is hidden from
  // the forest: only weights give the mean effect, 1.
  MadeTrial trial(20'000, 2, 2);
  for (std::size_t unit = 0; unit < 20'000; ++unit) {
    core::RandomStream random(23, core::stream_purpose("propensity"), unit);
    const bool high = random.bernoulli(0.5);
    for (float& value : trial.features.row(unit)) value = static_cast<float>(random.uniform());
    const double probability = high ? 0.8 : 0.2;
    trial.arm[unit] = random.bernoulli(probability) ? 1 : 0;
    trial.inverse_propensity.push_back(
        static_cast<float>(1.0 / (trial.arm[unit] == 1 ? probability : 1.0 - probability)));
    trial.revenue[unit] = static_cast<float>((high ? 5.0 : 0.0) + (trial.arm[unit] == 1 ? (high ? 2.0 : 0.0) : 0.0) +
                                             0.1 * random.normal());
  }
  core::RunContext context(2);
  ForestOptions options = small_options();
  options.min_leaf = 4000;
  const Predicted found = predicted(grow_forest(trial.data(), options, context), trial.units(), context);
  double mean = 0.0;
  for (std::size_t unit = 0; unit < 20'000; ++unit) mean += found.effect(unit, 1) / 20'000.0;
  EXPECT_NEAR(mean, 1.0, 0.15);
}

void expect_error(const MadeTrial& trial, const ForestOptions& options, core::ErrorKind kind, const char* part) {
  core::RunContext context(1);
  try {
    (void)grow_forest(trial.data(), options, context);
    FAIL() << "no error about " << part;
  } catch (const core::Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Forest, RefusesWrongOptionsInWordsThatHelp) {
  MadeTrial trial = made_trial(500, 3, 3, 1, step_effect);
  const ForestOptions good = small_options();
  const auto with = [&](auto change) {
    ForestOptions options = good;
    change(options);
    return options;
  };
  using core::ErrorKind;
  expect_error(trial, with([](ForestOptions& o) { o.trees = 0; }), ErrorKind::usage, "trees");
  expect_error(trial, with([](ForestOptions& o) { o.depth = 0; }), ErrorKind::usage, "depth");
  expect_error(trial, with([](ForestOptions& o) { o.min_leaf = 300; }), ErrorKind::usage, "250 units that a tree sees");
  expect_error(trial, with([](ForestOptions& o) { o.min_leaf = 1; }), ErrorKind::usage, "leaf");
  expect_error(trial, with([](ForestOptions& o) { o.min_leaf_per_arm = 0; }), ErrorKind::usage, "min_leaf_per_arm");
  expect_error(trial, with([](ForestOptions& o) { o.subsample = 0.6; }), ErrorKind::usage, "subsample");
  expect_error(trial, with([](ForestOptions& o) { o.subsample = std::nan(""); }), ErrorKind::usage, "subsample");
  expect_error(trial, with([](ForestOptions& o) { o.bins = 256; }), ErrorKind::usage, "bins");
  std::replace(trial.arm.begin(), trial.arm.end(), std::uint8_t{2}, std::uint8_t{1});
  expect_error(trial, good, ErrorKind::data, "arm 2");
  trial.num_arms = 1;
  expect_error(trial, good, ErrorKind::data, "two arms");
}

TEST(Forest, ThatWasTamperedWithIsRefused) {
  const MadeTrial trial = made_trial(2000, 3, 2, 1, step_effect);
  core::RunContext context(1);
  const Forest good = grow_forest(trial.data(), small_options(), context);
  ASSERT_GT(good.nodes.size(), good.roots.size());
  const auto refused = [&](auto change) {
    Forest forest = good;
    change(forest);
    EXPECT_THROW(require_consistent(forest, "model"), core::Error);
  };
  refused([](Forest& f) { f.roots[1] = f.roots[2]; });
  refused([](Forest& f) { f.roots.clear(); });
  refused([](Forest& f) { f.nodes[0].next = 0; });  // a walk would never end
  refused([](Forest& f) { f.nodes[0].next = 4'000'000'000u; });
  refused([](Forest& f) { f.nodes[0].feature = 3; });
  refused([](Forest& f) { f.nodes[0].set = 1; });
  refused([](Forest& f) { f.nodes[0].last_left = 255; });
  refused([](Forest& f) { f.nodes.pop_back(); });
  refused([](Forest& f) { f.leaves.pop_back(); });
  refused([](Forest& f) { f.leaves[0].weight = -1.0f; });
  refused([](Forest& f) { f.leaves[0].cost = std::nanf(""); });
  refused([](Forest& f) { f.bins[0].cuts[0] = 1e9f; });
  refused([](Forest& f) { f.control = 2; });
  refused([](Forest& f) { f.importance.pop_back(); });
}

}  // namespace
}  // namespace dfcl::forest
