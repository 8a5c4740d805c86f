// SPDX-License-Identifier: Apache-2.0
//
// One tree of a forest. Internal to forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfcl/forest/forest.h"
#include "dfcl/forest/histogram.h"
#include "dfcl/forest/unit_records.h"

namespace dfcl::forest {

// What all trees share.
struct TreeData {
  const ForestOptions& options;
  const std::vector<FeatureBins>& bins;
  const std::vector<std::size_t>& bins_of_feature;
  const UnitRecords& records;
  const WorkingUnits& working;
  std::span<const std::uint32_t> key;  // empty: each unit its own
};

struct Tree {
  std::vector<Node> nodes;  // the root first; next and set count from the tree's own first
  std::vector<BinSet> sets;
  std::vector<LeafArm> leaves;
  std::vector<double> gains;  // by feature: of its splits beyond chance, by the units that fill the leaves
};

// The mean sums of a leaf, by arm, of these units.
void append_leaf(const WorkingUnits& working, std::span<const std::uint32_t> units, std::vector<LeafArm>& leaves);

// Grows trees one after the other in the same memory.
class TreeGrower {
 public:
  explicit TreeGrower(const TreeData& data);
  Tree grow(std::size_t tree_number);

 private:
  struct Pending {
    std::size_t node = 0;
    std::size_t split_begin = 0, split_end = 0;  // among splitting_
    std::size_t fill_begin = 0, fill_end = 0;    // among filling_
    std::size_t depth = 0;
    bool has_histogram = false;
    std::size_t histogram = 0;
    std::size_t num_units() const { return split_end - split_begin; }
  };

  void choose_units(std::size_t tree_number);
  std::span<const std::uint32_t> draw_features(std::size_t tree_number, std::size_t node);
  bool may_split(const Pending& node) const;
  Split find_split(std::size_t tree_number, Pending& node);
  bool divide(const Pending& node, const Split& split, Pending& left, Pending& right);
  double worth_of_division();
  void make_histograms(const Pending& node, Pending& left, Pending& right);
  void fill_histogram(std::size_t histogram, const Pending& node, std::span<const std::uint32_t> features);
  void give_back(const Pending& node);
  std::size_t lend_histogram();
  std::size_t partition(std::vector<std::uint32_t>& units, std::size_t begin, std::size_t end, const Split& split);
  void sum_filling(std::size_t begin, std::size_t end, std::vector<Sums>& arms) const;
  bool reaches_all_arms(const std::vector<Sums>& arms) const;

  const TreeData& data_;
  bool all_features_;  // are tried at every node
  SplitSearch search_;
  std::vector<std::uint32_t> splitting_;
  std::vector<std::uint32_t> filling_;
  std::vector<std::uint32_t> moved_;     // room for a partition
  std::vector<std::uint32_t> features_;  // in a random order
  std::vector<Sums> filled_left_;        // of the split at hand, by arm
  std::vector<Sums> filled_right_;
  std::vector<Histogram> histograms_;
  std::vector<std::size_t> free_histograms_;
};

}  // namespace dfcl::forest
