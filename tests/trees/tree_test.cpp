// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace dfcl::trees {
namespace {

// Feature 0 splits at bin 3 with missing values to the right, its left child by a set of the bins of feature 1.
TEST(Tree, WalksByBinsSetsAndMissingValues) {
  BinSet set{};
  set[0] = 1;                                // missing
  set[3] = std::uint64_t{1} << (200 - 192);  // bin 200
  const std::vector<BinSet> sets = {{}, set};
  const std::vector<Node> nodes = {{.next = 1, .feature = 0, .last_left = 3},
                                   {.next = 3, .set = 1, .feature = 1},
                                   {.next = 2},
                                   {.next = 0},
                                   {.next = 1}};
  const auto leaf = [&](std::uint8_t first, std::uint8_t second) {
    const std::uint8_t bins[] = {first, second};
    return leaf_of(nodes, sets, 0, bins);
  };
  EXPECT_EQ(leaf(4, 0), 2u);
  EXPECT_EQ(leaf(0, 0), 2u) << "missing goes right";
  EXPECT_EQ(leaf(3, 0), 0u) << "missing is in the set";
  EXPECT_EQ(leaf(1, 200), 0u);
  EXPECT_EQ(leaf(1, 199), 1u);
  EXPECT_EQ(leaf_of(nodes, sets, 2, nullptr), 2u) << "a tree of one leaf";
}

}  // namespace
}  // namespace dfcl::trees
