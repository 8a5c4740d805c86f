// SPDX-License-Identifier: Apache-2.0
//
// Grows one tree best first: of all leaves the one whose split gains most is split next, until there are enough leaves
// or none gains. Only the smaller child's histograms are summed; the other's are what is left of the parent's.
// Time: some two additions a unit and column (histogram.h); memory: 2 kB a column for each leaf, 16 bytes a unit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/boost/binned_units.h"
#include "dfcl/boost/split_search.h"
#include "dfcl/core/run_context.h"
#include "dfcl/trees/tree.h"

namespace dfcl::boost {

// Nodes as in trees/tree.h: node 0 is the root, children side by side behind their parent; the sets begin at 1, the
// leaves are numbered from the left to the right.
struct Tree {
  std::vector<trees::Node> nodes;
  std::vector<trees::BinSet> sets;  // the first is not used
  std::vector<float> values;        // of the leaves
  bool operator==(const Tree&) const = default;
};

struct GrownTree {
  Tree tree;                      // values: -G / (H + ridge), within bounds
  std::vector<double> gains;      // by column
  std::vector<double> arm_gains;  // of splits with a split by arm above or below them
};

struct GrowOptions {
  std::size_t leaves = 31;
  bool in_parallel = true;  // by all threads of the context; never changes the tree
};

class TreeGrower {
 public:
  // kinds: of the columns of the units. Both must outlive the grower.
  TreeGrower(const BinnedUnits& units, std::vector<ColumnKind> kinds) : units_(units), kinds_(std::move(kinds)) {}

  // Categories of many levels need the sums of one half of the units too.
  bool needs_halves() const;

  // rows: the units to grow on, which are put in another order. sums: one for each unit of the fit; half_sums: the same
  // for one half of the units and 0 for the others, empty where no halves are needed. columns: those to split by,
  // rising.
  GrownTree grow(std::span<std::uint32_t> rows, std::span<const Sum> sums, std::span<const Sum> half_sums,
                 std::span<const std::uint32_t> columns, const SplitRules& rules, const GrowOptions& options,
                 core::RunContext& context);

 private:
  struct Leaf {
    std::size_t begin = 0;  // of its rows
    std::size_t size = 0;
    std::size_t histogram = 0;
    std::uint32_t node = 0;
    SearchedNode sums;
    Split best;
  };

  std::span<Sum> histogram(std::size_t place) { return {histograms_.data() + place * width_, width_}; }
  bool has_many_levels(std::size_t column) const;
  bool can_split(const Leaf& leaf) const;
  Sum total_of(std::span<const std::uint32_t> rows, core::RunContext& context) const;
  void sum_up(const Leaf& leaf, core::RunContext& context);
  void search(Leaf& leaf, core::RunContext& context);
  void search_children(Leaf& left, Leaf& right, core::RunContext& context);
  std::size_t partition(const Leaf& leaf, core::RunContext& context);
  void part_arms(const Split& split, SearchedNode& left, SearchedNode& right) const;
  void split(std::size_t place, bool is_last, core::RunContext& context);
  void finish(GrownTree& grown) const;

  const BinnedUnits& units_;
  std::vector<ColumnKind> kinds_;
  // Of the tree at hand.
  std::span<std::uint32_t> rows_;
  std::span<const Sum> sums_;
  std::span<const Sum> half_sums_;
  std::span<const std::uint32_t> columns_;
  std::vector<std::uint32_t> half_columns_;  // of many levels; their histograms of halves follow the others
  std::vector<std::size_t> half_place_;      // of each of the columns among them
  SplitRules rules_;
  bool in_parallel_ = true;
  std::size_t width_ = 0;  // sums of all histograms of a leaf
  std::vector<Sum> histograms_;
  std::vector<Sum> spare_;  // of add_units
  std::vector<std::uint32_t> left_rows_, right_rows_;
  std::vector<Split> found_;
  std::vector<Leaf> leaves_;
  struct SplitNode {
    std::uint32_t children = 0;  // 0: a leaf
    Split split;
    double value = 0.0;
  };
  std::vector<SplitNode> nodes_;
};

}  // namespace dfcl::boost
