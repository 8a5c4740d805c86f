// SPDX-License-Identifier: Apache-2.0
#include "dfcl/boost/leaf_masks.h"

#include <algorithm>
#include <bit>

#include "dfcl/core/for_each_processor.h"

namespace dfcl::boost {
namespace {

constexpr std::uint32_t kAll = (std::uint32_t{1} << kWordLeaves) - 1;

// Leaves of the left side, as bits that are 0.
std::array<std::uint32_t, kMostWords> without(std::size_t begin, std::size_t end) {
  std::array<std::uint32_t, kMostWords> keep;
  keep.fill(kAll);
  for (std::size_t leaf = begin; leaf < end; ++leaf) keep[leaf / kWordLeaves] &= ~(1u << (leaf % kWordLeaves));
  return keep;
}

DFCL_FOR_EACH_PROCESSOR
void keep_by_number(const std::uint8_t* bins, std::uint8_t shift, std::uint8_t limit, std::uint32_t keep,
                    std::uint32_t* words) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) {
    const bool left = static_cast<std::uint8_t>(bins[i] - shift) <= limit;
    words[i] &= left ? kAll : keep;
  }
}

DFCL_FOR_EACH_PROCESSOR
void keep_by_set(const std::uint8_t* bins, const std::uint8_t* goes_left, std::uint32_t keep, std::uint32_t* words) {
  std::uint32_t by_bin[256];
  for (std::size_t bin = 0; bin < 256; ++bin) by_bin[bin] = goes_left[bin] != 0 ? kAll : keep;
  for (std::size_t i = 0; i < kBlockUnits; ++i) words[i] &= by_bin[bins[i]];
}

// The number of the lowest bit by way of a float's exponent, which compilers turn into vectors.
DFCL_INLINE std::int32_t lowest_bit(std::uint32_t word) {
  const auto alone = static_cast<std::int32_t>(word & (0u - word));
  return (std::bit_cast<std::int32_t>(static_cast<float>(alone)) >> 23) - 127;
}

DFCL_FOR_EACH_PROCESSOR
void find_leaves(const std::uint32_t* words, std::uint32_t keep, std::int32_t* leaves) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) leaves[i] = lowest_bit(words[i] & keep);
}

DFCL_FOR_EACH_PROCESSOR
void find_earlier_leaves(const std::uint32_t* words, std::uint32_t keep, std::int32_t first, std::int32_t* leaves) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) {
    const std::uint32_t word = words[i] & keep;
    const std::int32_t found = first + lowest_bit(word);
    leaves[i] = word != 0 ? found : leaves[i];
  }
}

DFCL_FOR_EACH_PROCESSOR
void add_found(const std::int32_t* leaves, const float* values, float* to) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) to[i] += values[leaves[i]];
}

DFCL_FOR_EACH_PROCESSOR
void look_up(const std::int32_t* leaves, const float* values, float* found) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) found[i] = values[leaves[i]];
}

DFCL_FOR_EACH_PROCESSOR
void add(const float* values, float* to) {
  for (std::size_t i = 0; i < kBlockUnits; ++i) to[i] += values[i];
}

}  // namespace

LeafMasks::LeafMasks(const Tree& tree, std::size_t arm_column, std::size_t num_arms)
    : num_words_((tree.values.size() + kWordLeaves - 1) / kWordLeaves), values_(tree.values) {
  for (std::size_t leaf = 0; leaf < values_.size(); ++leaf) start_[leaf / kWordLeaves] |= 1u << (leaf % kWordLeaves);
  build(tree, arm_column, num_arms);
}

void LeafMasks::build(const Tree& tree, std::size_t arm_column, std::size_t num_arms) {
  // The leaves below a node are neighbours; children come after their parents, so ranges grow from the last node.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Range> ranges(tree.nodes.size());
  std::vector<std::array<std::uint32_t, kMostWords>> arm_keep(num_arms);
  for (auto& keep : arm_keep) keep = start_;
  sets_.emplace_back();
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const trees::Node& node = tree.nodes[i];
    if (node.feature == trees::kLeaf) {
      ranges[i] = {node.next, node.next + std::size_t{1}};
      continue;
    }
    const Range left = ranges[node.next];
    ranges[i] = {left.begin, ranges[node.next + 1].end};
    const auto keep = without(left.begin, left.end);
    const auto goes_left = [&](std::size_t bin) {
      return trees::goes_left(node, tree.sets, static_cast<std::uint8_t>(bin));
    };
    if (node.feature == arm_column && num_arms > 0) {
      for (std::size_t arm = 0; arm < num_arms; ++arm) {
        if (goes_left(arm_bin(arm))) continue;
        for (std::size_t word = 0; word < kMostWords; ++word) arm_keep[arm][word] &= keep[word];
      }
      continue;
    }
    Test test{.column = node.feature};
    if (node.set != 0) {
      test.set = static_cast<std::uint32_t>(sets_.size());
      auto& table = sets_.emplace_back();
      for (std::size_t bin = 0; bin < table.size(); ++bin) table[bin] = goes_left(bin) ? 1 : 0;
    } else {
      // Without missing values on the left, bins 1 to last_left: a byte less 1 is 255 for bin 0.
      test.shift = node.missing_left != 0 ? 0 : 1;
      test.limit = static_cast<std::uint8_t>(node.last_left - test.shift);
    }
    test.first_word = static_cast<std::uint16_t>(left.begin / kWordLeaves);
    test.num_words = static_cast<std::uint16_t>((left.end - 1) / kWordLeaves - test.first_word + 1);
    test.first_keep = static_cast<std::uint32_t>(keep_.size());
    for (std::size_t word = 0; word < test.num_words; ++word) keep_.push_back(keep[test.first_word + word]);
    tests_.push_back(test);
  }
  std::stable_sort(tests_.begin(), tests_.end(), [](const Test& a, const Test& b) { return a.column < b.column; });
  for (std::uint32_t arm = 0; arm < num_arms; ++arm) {
    const auto same = std::find_if(classes_.begin(), classes_.end(),
                                   [&](const ArmClass& known) { return known.keep == arm_keep[arm]; });
    if (same != classes_.end()) {
      same->arms.push_back(arm);
    } else {
      classes_.push_back({arm_keep[arm], {arm}});
    }
  }
}

void LeafMasks::apply_tests(const BlockColumns& columns, Words& words) const {
  for (std::size_t word = 0; word < num_words_; ++word) words[word].fill(start_[word]);
  for (const Test& test : tests_) {
    const std::uint8_t* bins = columns.at(test.column);
    for (std::size_t word = 0; word < test.num_words; ++word) {
      std::uint32_t* to = words[test.first_word + word].data();
      const std::uint32_t keep = keep_[test.first_keep + word];
      if (test.set != 0) {
        keep_by_set(bins, sets_[test.set].data(), keep, to);
      } else {
        keep_by_number(bins, test.shift, test.limit, keep, to);
      }
    }
  }
}

void LeafMasks::add_values(const BlockColumns& columns, float* to) const {
  Words words;
  apply_tests(columns, words);
  std::array<std::int32_t, kBlockUnits> leaves;
  const std::size_t last = num_words_ - 1;
  find_leaves(words[last].data(), kAll, leaves.data());
  if (last > 0) {
    for (std::int32_t& leaf : leaves) leaf += static_cast<std::int32_t>(last * kWordLeaves);
  }
  for (std::size_t word = last; word-- > 0;)
    find_earlier_leaves(words[word].data(), kAll, static_cast<std::int32_t>(word * kWordLeaves), leaves.data());
  add_found(leaves.data(), values_.data(), to);
}

void LeafMasks::add_arm_values(const BlockColumns& columns, float* to) const {
  Words words;
  apply_tests(columns, words);
  std::array<std::int32_t, kBlockUnits> leaves;
  std::array<float, kBlockUnits> found;
  const std::size_t last = num_words_ - 1;
  for (const ArmClass& own : classes_) {
    find_leaves(words[last].data(), own.keep[last], leaves.data());
    if (last > 0) {
      for (std::int32_t& leaf : leaves) leaf += static_cast<std::int32_t>(last * kWordLeaves);
    }
    for (std::size_t word = last; word-- > 0;)
      find_earlier_leaves(words[word].data(), own.keep[word], static_cast<std::int32_t>(word * kWordLeaves),
                          leaves.data());
    look_up(leaves.data(), values_.data(), found.data());
    for (const std::uint32_t arm : own.arms) add(found.data(), to + arm * kBlockUnits);
  }
}

}  // namespace dfcl::boost
