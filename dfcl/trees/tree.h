// SPDX-License-Identifier: Apache-2.0
//
// Trees over binned features (feature_bins.h), as every learner of trees keeps and walks them: nodes of 12 bytes in one
// array, children side by side, the sets of bins of splits by category in another. What a leaf means is the learner's
// business. A walk costs about 10 nanoseconds for a level that is not in the cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace dfcl::trees {

using BinSet = std::array<std::uint64_t, 4>;  // a bit for each bin

inline constexpr std::uint16_t kLeaf = 0xffff;

struct Node {
  std::uint32_t next = 0;  // the left child, the right one follows; of a leaf, its place among the leaves
  std::uint32_t set = 0;   // the place of the bins that go left among the sets; 0 for a split at a bin
  std::uint16_t feature = kLeaf;
  std::uint8_t last_left = 0;  // without a set: bins 1 to this one go left
  std::uint8_t missing_left = 0;
  bool operator==(const Node&) const = default;
};

// Whether a unit in this bin of the split's feature goes left.
inline bool goes_left(const Node& split, std::span<const BinSet> sets, std::uint8_t bin) {
  if (split.set != 0) return ((sets[split.set][bin >> 6] >> (bin & 63)) & 1) != 0;
  return bin == 0 ? split.missing_left != 0 : bin <= split.last_left;
}

// The leaf of a unit: from the root down. bins: one for each feature of the unit.
inline std::uint32_t leaf_of(std::span<const Node> nodes, std::span<const BinSet> sets, std::uint32_t root,
                             const std::uint8_t* bins) {
  const Node* node = &nodes[root];
  while (node->feature != kLeaf) {
    node = &nodes[node->next + (goes_left(*node, sets, bins[node->feature]) ? 0 : 1)];
  }
  return node->next;
}

}  // namespace dfcl::trees
