// SPDX-License-Identifier: Apache-2.0
//
// A small tree of yes-or-no questions about the features of a unit, in words: what a policy tree or a segmentation
// looks like to people, files and pages. Who fits one keeps its numbers elsewhere (dfcl/policy). A few kilobytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dfcl::data {

// A question, or a leaf.
struct QuestionNode {
  std::string question = {};             // "orders more than 2"; "": a leaf
  std::optional<std::size_t> yes = {};   // place of the node where it holds; questions only
  std::optional<std::size_t> no = {};    // likewise where it does not
  std::optional<std::size_t> leaf = {};  // place among the leaves; leaves only
};

struct QuestionTree {
  std::vector<QuestionNode> nodes = {};  // the root first; empty: no tree
  std::vector<std::string> leaves = {};  // which units each holds: "region is north and orders more than 2"
};

}  // namespace dfcl::data
