// SPDX-License-Identifier: Apache-2.0
//
// The exact search of depth two against one that tries every tree by walking over the units.
#include "dfcl/policy/depth_two.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfcl/core/random.h"

namespace dfcl::policy {
namespace {

constexpr std::size_t kTreated = 2;

struct Sample {
  core::Matrix<float> features;  // three numbers, one with holes, and a category of four levels
  core::Matrix<double> stats;
  std::vector<data::FeatureColumn> columns = {
      {"a", false, {}}, {"b", false, {}}, {"c", false, {}}, {"city", true, {"(other)", "A", "B", "C"}}};
};

Sample sample_of(std::uint64_t seed, std::size_t num_units) {
  Sample sample{core::Matrix<float>(num_units, 4), core::Matrix<double>(num_units, ArmSums(kTreated).width())};
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    core::RandomStream stream(seed, core::stream_purpose("depth two"), unit);
    for (std::size_t feature = 0; feature < 3; ++feature)
      sample.features(unit, feature) = static_cast<float>(stream.below(6));
    if (stream.bernoulli(0.2)) sample.features(unit, 2) = std::numeric_limits<float>::quiet_NaN();
    sample.features(unit, 3) = static_cast<float>(stream.below(4));
    for (std::size_t i = 0; i < 2 * kTreated; ++i) {
      sample.stats(unit, i) = stream.normal() + (i < kTreated ? 0.0 : 0.5);
      if (sample.features(unit, i % 2) > 3.0f && sample.features(unit, 3) == 1.0f) sample.stats(unit, i) += 1.0;
    }
    sample.stats(unit, 2 * kTreated) = 1.0;
  }
  return sample;
}

SplitColumns columns_of(const Sample& sample, core::RunContext& context) {
  std::vector<double> target;
  for (std::size_t unit = 0; unit < sample.stats.rows(); ++unit)
    target.push_back(sample.stats(unit, 0) + sample.stats(unit, 1));
  return split_columns(sample.columns, sample.features.view(), target, context);
}

// All questions that the search may ask.
std::vector<Question> questions_of(const SplitColumns& columns) {
  std::vector<Question> questions;
  for (const SplitColumn& column : columns.columns) {
    for (std::size_t order = 0; order < column.orders.size(); ++order) {
      for (std::size_t length = 1; length <= column.orders[order].most_taken; ++length)
        questions.push_back(column.question(order, length));
    }
  }
  return questions;
}

// What the best arm earns those units for whom `in` is set.
double leaf_value(const Sample& sample, const std::vector<bool>& in, double multiplier, std::size_t& units) {
  double arm[kTreated] = {0.0, 0.0};
  units = 0;
  for (std::size_t unit = 0; unit < in.size(); ++unit) {
    if (!in[unit]) continue;
    ++units;
    for (std::size_t i = 0; i < kTreated; ++i)
      arm[i] += sample.stats(unit, i) - multiplier * sample.stats(unit, kTreated + i);
  }
  return std::max({0.0, arm[0], arm[1]});
}

double brute_force(const Sample& sample, const std::vector<Question>& questions, double multiplier,
                   std::size_t least_units) {
  const std::size_t num_units = sample.stats.rows();
  const auto answers = [&](const Question& question, const std::vector<bool>& in, bool yes) {
    std::vector<bool> kept(num_units);
    for (std::size_t unit = 0; unit < num_units; ++unit)
      kept[unit] = in[unit] && question.holds(sample.features(unit, question.feature)) == yes;
    return kept;
  };
  std::size_t units = 0;
  const std::vector<bool> all(num_units, true);
  double best = leaf_value(sample, all, multiplier, units);
  for (const Question& root : questions) {
    double value = 0.0;
    bool has_units = true;
    for (const bool yes : {true, false}) {
      const std::vector<bool> side = answers(root, all, yes);
      double best_side = leaf_value(sample, side, multiplier, units);
      has_units = has_units && units >= least_units;
      for (const Question& below : questions) {
        std::size_t in = 0;
        std::size_t out = 0;
        const double both = leaf_value(sample, answers(below, side, true), multiplier, in) +
                            leaf_value(sample, answers(below, side, false), multiplier, out);
        if (in >= least_units && out >= least_units) best_side = std::max(best_side, both);
      }
      value += best_side;
    }
    if (has_units) best = std::max(best, value);
  }
  return best;
}

TEST(DepthTwo, IsTheBestOfAllTrees) {
  core::RunContext context(2);
  const std::vector<double> multipliers = {0.0, 0.4, 1.5};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const Sample sample = sample_of(seed, 150);
    const SplitColumns columns = columns_of(sample, context);
    const std::size_t least = 1 + 5 * (seed % 3);
    const std::vector<DepthTwo> found =
        best_of_depth_two(columns, sample.stats.view(), ArmSums(kTreated), multipliers, least, context);
    const std::vector<Question> questions = questions_of(columns);
    for (std::size_t i = 0; i < multipliers.size(); ++i)
      EXPECT_NEAR(found[i].value, brute_force(sample, questions, multipliers[i], least), 1e-9);
  }
}

TEST(DepthTwo, ItsSplitsAreWorthWhatItSays) {
  core::RunContext context(2);
  const Sample sample = sample_of(21, 400);
  const SplitColumns columns = columns_of(sample, context);
  const ArmSums sums(kTreated);
  const std::vector<double> multipliers = {0.3};
  const DepthTwo found = best_of_depth_two(columns, sample.stats.view(), sums, multipliers, 4, context)[0];
  ASSERT_TRUE(found.root && found.yes && found.no);
  GrowingTree tree(columns, sample.stats.view());
  tree.split(0, *found.root);
  const std::size_t yes = tree.child(0, true);
  const std::size_t no = tree.child(0, false);
  tree.split(yes, *found.yes);
  tree.split(no, *found.no);
  double value = 0.0;
  for (std::size_t node = 0; node < tree.tree().nodes.size(); ++node) {
    if (!tree.tree().nodes[node].is_leaf()) continue;
    EXPECT_GE(tree.units(node).size(), 4u);
    value += sums.best(tree.sums(node).data(), 0.3);
    // The questions lead every unit to the leaf that the groups put it in.
    for (const std::uint32_t unit : tree.units(node))
      EXPECT_EQ(tree.tree().leaf_of(sample.features.view().row(unit)), tree.tree().nodes[node].leaf);
  }
  EXPECT_NEAR(value, found.value, 1e-9);
}

TEST(DepthTwo, IsTheSameForAnyNumberOfThreads) {
  const Sample sample = sample_of(5, 500);
  std::vector<double> values;
  for (const int threads : {1, 2, 8}) {
    core::RunContext context(threads);
    const std::vector<double> multipliers = {0.2, 0.9};
    for (const DepthTwo& one : best_of_depth_two(columns_of(sample, context), sample.stats.view(), ArmSums(kTreated),
                                                 multipliers, 5, context)) {
      values.push_back(one.value);
      values.push_back(static_cast<double>(one.root->column * 1000 + one.root->length));
    }
  }
  for (std::size_t i = 4; i < values.size(); ++i) EXPECT_EQ(values[i], values[i - 4]);
}

}  // namespace
}  // namespace dfcl::policy
