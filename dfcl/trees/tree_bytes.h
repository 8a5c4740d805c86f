// SPDX-License-Identifier: Apache-2.0
//
// Nodes, sets and bins as the flat tensors that model files keep: 12 bytes a node, 32 bytes a set. Reading trusts
// nothing: sizes are held against what is there before anything is made of them, everything must be used up, and what
// does not fit gives nothing back; callers say which file is to blame. What the numbers mean is for the learners to
// check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dfcl/trees/feature_bins.h"
#include "dfcl/trees/tree.h"

namespace dfcl::trees {

inline constexpr std::size_t kNodeBytes = 12;  // next (4), set (4), feature (2), last_left, missing_left; lowest first
inline constexpr std::size_t kSetBytes = 32;   // four words, lowest byte first

// Each adds to the end.
void append_nodes(std::span<const Node> nodes, std::vector<std::uint8_t>& bytes);
void append_sets(std::span<const BinSet> sets, std::vector<std::uint8_t>& bytes);

// Nothing where the bytes are no whole number of them.
std::optional<std::vector<Node>> nodes_of(std::span<const std::uint8_t> bytes);
std::optional<std::vector<BinSet>> sets_of(std::span<const std::uint8_t> bytes);

// The bins of all features side by side.
struct FlatBins {
  std::vector<std::int64_t> sizes;  // of each feature: categorical, cuts, levels
  std::vector<float> cuts;
  std::vector<std::uint8_t> levels;
};
FlatBins flat_bins(std::span<const FeatureBins> features);
// Nothing where a size is negative, is more than is left, or leaves something over.
std::optional<std::vector<FeatureBins>> bins_of(std::span<const std::int64_t> sizes, std::span<const float> cuts,
                                                std::span<const std::uint8_t> levels);

// A size that a file names: nothing where it is negative or above the most.
std::optional<std::size_t> count_of(std::int64_t number, std::size_t most);

}  // namespace dfcl::trees
