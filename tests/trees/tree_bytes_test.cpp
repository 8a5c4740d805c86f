// SPDX-License-Identifier: Apache-2.0
#include "dfcl/trees/tree_bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace dfcl::trees {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(TreeBytes, OfANodeLieLowestFirst) {
  Bytes bytes;
  append_nodes(std::vector<Node>{{0x04030201, 0x08070605, 0x0a09, 0x0b, 0x0c}}, bytes);
  EXPECT_EQ(bytes, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(TreeBytes, OfASetLieLowestFirst) {
  Bytes bytes;
  append_sets(std::vector<BinSet>{{0x0807060504030201, 0, std::uint64_t{1} << 63, 255}}, bytes);
  ASSERT_EQ(bytes.size(), kSetBytes);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 8), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(bytes[23], 0x80);
  EXPECT_EQ(bytes[24], 255);
}

TEST(TreeBytes, AreReadAsTheyWereWritten) {
  const std::vector<Node> nodes = {{1, 2, 3, 4, 1}, {0xffffffff, 0xfffffffe, kLeaf, 255, 0}, {}};
  const std::vector<BinSet> sets = {{1, 2, 3, 4}, {~std::uint64_t{0}, 0, 5, ~std::uint64_t{0}}};
  Bytes node_bytes, set_bytes;
  append_nodes(std::span(nodes).first(1), node_bytes);
  append_nodes(std::span(nodes).subspan(1), node_bytes);
  append_sets(sets, set_bytes);
  EXPECT_EQ(nodes_of(node_bytes), nodes);
  EXPECT_EQ(sets_of(set_bytes), sets);
  EXPECT_EQ(nodes_of({}), std::vector<Node>{});
  EXPECT_EQ(sets_of({}), std::vector<BinSet>{});
}

TEST(TreeBytes, ThatAreNoWholeNumberOfThemAreRefused) {
  const Bytes bytes(2 * kSetBytes + 1);
  for (const std::size_t size : {std::size_t{1}, kNodeBytes - 1, kNodeBytes + 1})
    EXPECT_EQ(nodes_of(std::span(bytes).first(size)), std::nullopt) << size;
  for (const std::size_t size : {std::size_t{8}, kSetBytes - 1, kSetBytes + 1})
    EXPECT_EQ(sets_of(std::span(bytes).first(size)), std::nullopt) << size;
}

struct FlatBinsTest : testing::Test {
  std::vector<FeatureBins> features = {{false, {0.5f, 1.5f}, {}}, {true, {}, {1, 2, 2}}, {false, {}, {}}};
  FlatBins flat = flat_bins(features);
  auto read() const { return bins_of(flat.sizes, flat.cuts, flat.levels); }
};

TEST_F(FlatBinsTest, AreReadAsTheyWereWritten) {
  EXPECT_EQ(flat.sizes, (std::vector<std::int64_t>{0, 2, 0, 1, 0, 3, 0, 0, 0}));
  EXPECT_EQ(read(), features);
  EXPECT_EQ(bins_of({}, {}, {}), std::vector<FeatureBins>{});
}

TEST_F(FlatBinsTest, AreRefusedWhereASizeDoesNotFit) {
  const std::vector<std::int64_t> sizes = flat.sizes;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    for (const std::int64_t size : {std::int64_t{-1}, std::int64_t{4}, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
      flat.sizes = sizes;
      flat.sizes[place] = size;
      EXPECT_EQ(read(), std::nullopt) << place << " " << size;
    }
  }
  flat.sizes = sizes;
  flat.sizes.pop_back();
  EXPECT_EQ(read(), std::nullopt) << "no whole number of features";
}

TEST_F(FlatBinsTest, AreRefusedWhereSomethingIsLeftOver) {
  flat.cuts.push_back(2.5f);
  EXPECT_EQ(read(), std::nullopt);
  flat.cuts.pop_back();
  flat.levels.push_back(3);
  EXPECT_EQ(read(), std::nullopt);
}

TEST(Count, IsWithinItsBounds) {
  EXPECT_EQ(count_of(0, 0), 0u);
  EXPECT_EQ(count_of(7, 7), 7u);
  EXPECT_EQ(count_of(8, 7), std::nullopt);
  EXPECT_EQ(count_of(-1, 7), std::nullopt);
  EXPECT_EQ(count_of(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::size_t>::max()), std::nullopt);
}

}  // namespace
}  // namespace dfcl::trees
